import { dirname } from "node:path";
import type { Answer, Backend, Batch, Capabilities, Key, Read, Sizes } from "../../backend.ts";
import { withDoubtfulCheck } from "../shared/doubtful-batches.ts";
import { Hearers } from "../shared/hearers.ts";
import type { FileSystem } from "./disk/file-system.ts";
import { backendFault, doneInPart, movedFiles, readOnlyStore } from "./faults.ts";
import { journalPath } from "./format/file-names.ts";
import { directoryLineage } from "./format/operation.ts";
import { lineagesOfBatches } from "./format/touched-lineages.ts";
import { append } from "./journal/append.ts";
import type { JournalFile } from "./journal/journal.ts";
import { Journals, release } from "./journal/journals.ts";
import { WriterLock } from "./lock/writer-lock.ts";
import { hearJournals } from "./reading/hear-journals.ts";
import type { HeldJournals } from "./reading/snapshots.ts";
import { Snapshots } from "./reading/snapshots.ts";
import { Compaction } from "./upkeep/compaction.ts";
import { measure, measureTotal } from "./upkeep/measure.ts";
import { verifyJournals } from "./upkeep/verification.ts";
import { ActionQueue } from "./writing/action-queue.ts";
import { admitBatches } from "./writing/admit-batches.ts";
import type { CommitPart } from "./writing/commit-parts.ts";
import { commitPartsOf } from "./writing/commit-parts.ts";

/**
 * Implements the contract on a directory of journals: takes the writer's lock, keeps journals in memory, orders all
 * calls.
 */
export class FileBackend implements Backend {
  readonly name = "file";
  readonly capabilities: Capabilities = { durable: true, processes: false };
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  readonly #durable: boolean;
  readonly #readOnly: boolean;
  readonly #journals: Journals;
  readonly #snapshots: Snapshots;
  readonly #lock: WriterLock;
  readonly #compaction: Compaction;
  readonly #hearers = new Hearers((tell) => hearJournals(this.#fileSystem, this.#directory, tell));
  /** Commits, compactions and verifications run one at a time. */
  readonly #queue = new ActionQueue();

  constructor(fileSystem: FileSystem, directory: string, durable: boolean, readOnly: boolean) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
    this.#durable = durable;
    this.#readOnly = readOnly;
    this.#journals = new Journals(fileSystem, directory);
    this.#lock = new WriterLock(fileSystem, directory);
    this.#snapshots = new Snapshots(fileSystem, directory, this.#journals);
    this.#compaction = new Compaction(fileSystem, directory, this.#journals, this.#snapshots);
  }

  get interruptions(): number {
    return this.#snapshots.interruptions;
  }

  read(reads: readonly Read[]): Promise<readonly Answer[]> {
    return this.#translating("reading", () => this.#snapshots.read(reads));
  }

  async commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    if (this.#readOnly) throw readOnlyStore(this.#directory);
    const lineages = lineagesOfBatches(batches);
    if (lineages.size === 0) return batches.map(() => true);
    const applied = await this.#exclusively("writing to", () => this.#applyAll(commitPartsOf(batches)));
    // Not awaited: the commit is done, and the next one queues behind the compaction.
    void this.#queue.run(() => this.#compaction.afterCommit(lineages));
    this.#hearers.tell();
    return applied;
  }

  hear(callback: () => void): () => void {
    return this.#hearers.hear(callback);
  }

  size(): Promise<Sizes> {
    return this.#translating("measuring", () => measure(this.#fileSystem, this.#directory, this.#snapshots));
  }

  total(): Promise<Pick<Sizes, "total">> {
    return this.#translating("measuring", () => measureTotal(this.#fileSystem, this.#directory));
  }

  async compact(): Promise<void> {
    if (this.#readOnly) throw readOnlyStore(this.#directory);
    await this.#exclusively("compacting", async () => {
      if ((await this.#fileSystem.stat(this.#directory)) === undefined) return;
      await this.#becomeWriter();
      await this.#compaction.all();
    });
  }

  async reclaim(lineages: readonly number[]): Promise<boolean> {
    if (this.#readOnly) throw readOnlyStore(this.#directory);
    await this.#exclusively("compacting", async () => {
      await this.#becomeWriter();
      if (lineages.length > 0) await this.#compaction.some(lineages);
      else await this.#compaction.removeEmptied();
    });
    return false;
  }

  verify(): Promise<readonly string[]> {
    return this.#exclusively("verifying", async () => {
      const mayBeWriting = !this.#lock.isHeld && (await this.#lock.isHeldElsewhere());
      return verifyJournals(this.#fileSystem, this.#directory, mayBeWriting);
    });
  }

  async close(): Promise<void> {
    this.#hearers.stop();
    await this.#exclusively("closing", async () => {
      try {
        // The directory comes first: as long as a failed batch of its own may survive, the joint batches it names may
        // count.
        await this.#journals.peek(directoryLineage)?.finish();
        for (const journal of this.#journals) await journal.finish();
        await this.#snapshots.setWriter(false);
      } finally {
        await this.#lock.release();
      }
    });
  }

  async #applyAll(parts: readonly CommitPart[]): Promise<readonly boolean[]> {
    const applied: boolean[] = [];
    for (const part of parts) {
      try {
        applied.push(...(await this.#apply(part)));
      } catch (error) {
        throw applied.includes(true) ? doneInPart(`writing to ${this.#directory}`, error) : error;
      }
    }
    return applied;
  }

  async #apply({ batches, lineages }: CommitPart): Promise<readonly boolean[]> {
    await this.#becomeWriter();
    const held = await this.#snapshots.hold(lineages);
    try {
      await this.#holdDirectoryIfNeeded(held);
      const journals = new Map([...held].map(([lineage, { journal }]) => [lineage, journal]));
      const asked = batches.map((batch) => withDoubtfulCheck(batch, this.interruptions));
      const admission = await admitBatches(
        asked,
        (lineage) => journals.get(lineage) as JournalFile,
        (meta) => this.#isTaken(meta),
      );
      await append(this.#fileSystem, this.#directory, admission, journals, this.#durable);
      await this.#checkInPlace([...admission.entries.keys()].map((lineage) => journals.get(lineage) as JournalFile));
      return admission.applied;
    } finally {
      release(held);
      await this.#journals.trim();
    }
  }

  /**
   * Returns whether another lineage is known to have a tape of this number: by the name of a journal, or by a journal
   * in memory. Journals keep lineages apart anyway, so reading all of them for every new tape is not worth its cost.
   */
  async #isTaken({ lineage, item }: Key): Promise<boolean> {
    for (const journal of this.#journals) {
      if (journal.lineage !== lineage && journal.index.hasTape(item)) return true;
    }
    return item !== lineage && (await this.#fileSystem.stat(journalPath(this.#directory, item))) !== undefined;
  }

  /**
   * Fails with MOVED unless the appended batches are in the files at the journals' paths. Everything in memory is then
   * forgotten.
   */
  async #checkInPlace(journals: readonly JournalFile[]): Promise<void> {
    let inPlace: readonly boolean[];
    try {
      inPlace = await Promise.all(journals.map((journal) => journal.isInPlace()));
    } catch (error) {
      throw backendFault(`looking at ${this.#directory}`, error, "unknown");
    }
    const moved = journals[inPlace.indexOf(false)];
    if (moved === undefined) return;
    await this.#snapshots.setWriter(false);
    throw movedFiles(moved.path, "unknown");
  }

  /**
   * Holds the directory's journal too where it decides whether a joint batch counts, or where a held journal depends on
   * its last batch.
   */
  async #holdDirectoryIfNeeded(held: HeldJournals): Promise<void> {
    if (held.has(directoryLineage)) return;
    const depends = [...held.values()].some(({ journal }) => journal.dependsOnDirectory);
    if (held.size === 1 && !depends && !this.#journals.peek(directoryLineage)?.isUnfinished) return;
    for (const [lineage, directory] of await this.#snapshots.hold([directoryLineage])) held.set(lineage, directory);
  }

  async #becomeWriter(): Promise<void> {
    try {
      await this.#lock.check();
    } finally {
      // Without the lock another process may write, so journals in memory may be outdated.
      if (!this.#lock.isHeld && this.#snapshots.isWriter) await this.#snapshots.setWriter(false);
    }
    if (!this.#lock.isHeld) {
      await makeDirectories(this.#fileSystem, this.#directory);
      await this.#lock.take();
    }
    if (!this.#snapshots.isWriter) await this.#snapshots.setWriter(true);
  }

  #exclusively<Result>(action: string, work: () => Promise<Result>): Promise<Result> {
    return this.#queue.run(() => this.#translating(action, work));
  }

  async #translating<Result>(action: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw backendFault(`${action} ${this.#directory}`, error, false);
    }
  }
}

/** Makes a directory and its parents, and makes each name durable in the directory above. */
async function makeDirectories(fileSystem: FileSystem, path: string): Promise<void> {
  if ((await fileSystem.stat(path)) !== undefined) return;
  if (dirname(path) !== path) await makeDirectories(fileSystem, dirname(path));
  await fileSystem.makeDirectory(path);
}

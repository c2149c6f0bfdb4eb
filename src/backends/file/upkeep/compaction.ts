import { join } from "node:path";
import type { FileSystem } from "../disk/file-system.ts";
import { isUnfinishedJournal, journalPath, lineageOfName } from "../format/file-names.ts";
import { directoryLineage } from "../format/operation.ts";
import { settleDirectory } from "../journal/append.ts";
import type { JournalFile } from "../journal/journal.ts";
import type { Held, Journals } from "../journal/journals.ts";
import { release } from "../journal/journals.ts";
import { rewrite } from "../journal/rewrite.ts";
import { isUnfinishedClaim } from "../lock/writer-lock.ts";
import type { Snapshots } from "../reading/snapshots.ts";

/** A journal with less garbage is rewritten only by `compact`. */
const leastGarbage = 1 << 20;

/** Rewrites journals to reclaim space. Only the writing process may use it. */
export class Compaction {
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  readonly #journals: Journals;
  readonly #snapshots: Snapshots;
  /** A journal's garbage when rewriting it failed. It is tried again when that has doubled. */
  readonly #failed = new Map<number, number>();
  /** Journals that `some` found empty. */
  readonly #emptied = new Set<number>();

  constructor(fileSystem: FileSystem, directory: string, journals: Journals, snapshots: Snapshots) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
    this.#journals = journals;
    this.#snapshots = snapshots;
  }

  /** Rewrites every journal that holds garbage and removes empty ones. */
  async all(): Promise<void> {
    const names = (await this.#fileSystem.list(this.#directory)) ?? [];
    // A crash during a rewrite or a claim leaves a file that nothing reads.
    for (const name of names) {
      if (isUnfinishedJournal(name) || isUnfinishedClaim(name))
        await this.#fileSystem.remove(join(this.#directory, name));
    }
    const lineages = names
      .map(lineageOfName)
      .filter((lineage) => lineage !== undefined && lineage !== directoryLineage);
    const damaged: unknown[] = [];
    const joint = new Set<number>();
    const empty: number[] = [];
    for (const lineage of lineages as number[]) {
      try {
        const { hasJoint, isEmpty } = await this.#journal(lineage, () => true);
        if (hasJoint) joint.add(lineage);
        if (isEmpty) empty.push(lineage);
      } catch (error) {
        // A damaged journal stays unchanged so that it can be repaired; the others are compacted.
        if ((error as { readonly code?: unknown }).code !== "CORRUPT") throw error;
        damaged.push(error);
        joint.add(lineage);
      }
    }
    // A journal without joint batches does not need the directory's confirmations, so they are dropped here. Only then
    // may an empty journal be removed: a new one of its name numbers batches from 1 again, and an old confirmation must
    // not match them.
    await this.#journal(directoryLineage, (lineage) => joint.has(lineage));
    await this.#remove(empty);
    if (damaged.length > 0) throw damaged[0];
  }

  /** Rewrites journals of which much is garbage, and remembers those that are empty for {@link removeEmptied}. */
  async some(lineages: readonly number[]): Promise<void> {
    for (const lineage of lineages) {
      const held = await this.#snapshots.hold([lineage]);
      const { journal } = held.get(lineage) as Held;
      const isMuch = journal.garbageBytes > journal.index.live.bytes / 4;
      release(held);
      if (isMuch && (await this.#journal(lineage, () => true)).isEmpty) this.#emptied.add(lineage);
    }
  }

  /** Removes journals that were found empty and still are, after the directory has dropped its confirmations of them. */
  async removeEmptied(): Promise<void> {
    const empty: number[] = [];
    for (const lineage of this.#emptied) {
      if ((await this.#journal(lineage, () => true)).isEmpty) empty.push(lineage);
    }
    this.#emptied.clear();
    if (empty.length === 0) return;
    await this.#journal(directoryLineage, (lineage) => !empty.includes(lineage));
    await this.#remove(empty);
  }

  /** Rewrites the journals that are mostly garbage by now. */
  async afterCommit(lineages: Iterable<number>): Promise<void> {
    for (const lineage of lineages) {
      const journal = this.#journals.peek(lineage);
      if (journal === undefined) continue;
      const { garbageBytes } = journal;
      const least = Math.max(leastGarbage, journal.index.live.bytes, 2 * (this.#failed.get(lineage) ?? 0));
      if (garbageBytes <= least) continue;
      try {
        await this.#journal(lineage, () => true);
        this.#failed.delete(lineage);
      } catch {
        // Not an error of the commit: the old journal is still valid, and a full disk is reported when a commit fails.
        this.#failed.set(lineage, garbageBytes);
      }
    }
  }

  async #journal(
    lineage: number,
    keeps: (lineage: number) => boolean,
  ): Promise<{ readonly hasJoint: boolean; readonly isEmpty: boolean }> {
    const held = await this.#snapshots.hold(new Set([lineage, directoryLineage]));
    const journalOf = (lineage: number): JournalFile => (held.get(lineage) as Held).journal;
    try {
      const journal = journalOf(lineage);
      const directory = journalOf(directoryLineage);
      if (journal.dependsOnDirectory || directory.isUnfinished) {
        await settleDirectory(this.#fileSystem, this.#directory, directory);
      }
      const { index } = journal;
      index.cutLog(true);
      const isLean = journal.garbageBytes === 0 && [...index.commits()].every((commits) => keeps(commits.lineage));
      if (isLean) return { hasJoint: index.hasJoint, isEmpty: index.isEmpty };
      await journal.finish();
      try {
        await rewrite(this.#fileSystem, this.#directory, journal, keeps);
      } finally {
        // Even after a failure the journal in memory may differ from the file.
        await this.#journals.forget(lineage);
      }
      return { hasJoint: false, isEmpty: index.live.count === 0 };
    } finally {
      release(held);
      await this.#journals.trim();
    }
  }

  async #remove(lineages: readonly number[]): Promise<void> {
    if (lineages.length === 0) return;
    for (const lineage of lineages) {
      await this.#journals.forget(lineage);
      await this.#fileSystem.remove(journalPath(this.#directory, lineage));
    }
    await this.#fileSystem.syncDirectory(this.#directory);
  }
}

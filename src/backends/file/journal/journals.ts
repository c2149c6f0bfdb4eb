import type { FileSystem } from "../disk/file-system.ts";
import { journalPath } from "../format/file-names.ts";
import { directoryLineage } from "../format/operation.ts";
import { JournalFile } from "./journal.ts";

/** The limits above which the least recently used journals are forgotten. The directory, which most calls need, stays. */
const mostJournals = 256;
const mostRecords = 300_000;

/** A journal that stays open and in memory until `done` is called. */
export interface Held {
  readonly journal: JournalFile;
  readonly done: () => void;
}

/** Keeps the journals whose indexes are in memory. */
export class Journals {
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  /** Ordered by last use. */
  readonly #entries = new Map<number, { readonly journal: JournalFile; readonly loaded: Promise<void> }>();

  constructor(fileSystem: FileSystem, directory: string) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
  }

  [Symbol.iterator](): Iterator<JournalFile> {
    return [...this.#entries.values()].map(({ journal }) => journal)[Symbol.iterator]();
  }

  /** Returns a journal in memory; it may be forgotten at any time. */
  peek(lineage: number): JournalFile | undefined {
    return this.#entries.get(lineage)?.journal;
  }

  async hold(lineage: number): Promise<Held> {
    let entry = this.#entries.get(lineage);
    if (entry === undefined) {
      const journal = new JournalFile(this.#fileSystem, journalPath(this.#directory, lineage), lineage);
      entry = { journal, loaded: journal.load() };
    }
    this.#entries.delete(lineage);
    this.#entries.set(lineage, entry);
    const { journal, loaded } = entry;
    // Held before anything is awaited, so that it cannot be forgotten meanwhile.
    const done = journal.use();
    try {
      await loaded;
      return { journal, done };
    } catch (error) {
      done();
      if (this.#entries.get(lineage)?.journal === journal) await this.forget(lineage);
      throw error;
    }
  }

  /** Holds several journals, or none if one fails. */
  async holdAll(lineages: Iterable<number>): Promise<Map<number, Held>> {
    const wanted = [...lineages];
    const results = await Promise.allSettled(wanted.map((lineage) => this.hold(lineage)));
    const held = new Map<number, Held>();
    for (const [index, result] of results.entries()) {
      if (result.status === "fulfilled") held.set(wanted[index] as number, result.value);
    }
    const failure = results.find((result) => result.status === "rejected");
    if (failure === undefined) return held;
    release(held);
    throw failure.reason;
  }

  /** Forgets a journal, so that the next use loads it again. Its current users keep it as it is. */
  async forget(lineage: number): Promise<void> {
    const entry = this.#entries.get(lineage);
    this.#entries.delete(lineage);
    if (entry === undefined) return;
    // Not awaited while in use: a user may never let go before this returns.
    const closed = entry.journal.close();
    if (!entry.journal.isInUse) await closed;
    else closed.catch(() => undefined);
  }

  /** Forgets all journals before anything is awaited, and then closes them. */
  async forgetAll(): Promise<void> {
    const results = await Promise.allSettled([...this.#entries.keys()].map((lineage) => this.forget(lineage)));
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  /** Forgets the least recently used journals until the rest fits the limits. */
  async trim(): Promise<void> {
    let records = 0;
    for (const { journal } of this.#entries.values()) {
      if (journal.lineage !== directoryLineage) records += journal.index.live.count;
    }
    for (const [lineage, { journal }] of [...this.#entries]) {
      if (this.#entries.size <= mostJournals && records <= mostRecords) return;
      if (journal.isInUse || journal.isUnfinished || lineage === directoryLineage) continue;
      records -= journal.index.live.count;
      await this.forget(lineage);
    }
  }
}

export function release(held: ReadonlyMap<number, Held>): void {
  for (const { done } of held.values()) done();
}

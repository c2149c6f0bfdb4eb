import type { Answer, Read } from "../../../backend.ts";
import { Attempts } from "../../../platform/attempts.ts";
import type { FileState, FileSystem } from "../disk/file-system.ts";
import { journalPath } from "../format/file-names.ts";
import { directoryLineage } from "../format/operation.ts";
import { lineagesOfReads } from "../format/touched-lineages.ts";
import type { JournalFile } from "../journal/journal.ts";
import type { Held, Journals } from "../journal/journals.ts";
import { release } from "../journal/journals.ts";
import type { Slot } from "../journal/record-index.ts";
import { ActionQueue } from "../writing/action-queue.ts";
import type { Wanted } from "./fetch-values.ts";
import { damageOf, fetchValues } from "./fetch-values.ts";
import { locate } from "./locate-reads.ts";

export type HeldJournals = Map<number, Held>;

/**
 * Provides journals as they are at one moment. The writing process has that state in memory. Any other process first
 * looks at the files: journals only grow, so their sizes at one moment describe the state.
 */
export class Snapshots {
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  readonly #journals: Journals;
  /** Readers run one at a time, since a look at a journal updates it in memory. */
  readonly #queue = new ActionQueue();
  #isWriter = false;
  /** Counts how often a journal was replaced, or another process may have written, since it was read. */
  interruptions = 0;

  constructor(fileSystem: FileSystem, directory: string, journals: Journals) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
    this.#journals = journals;
  }

  get isWriter(): boolean {
    return this.#isWriter;
  }

  /** Starts or ends the time in which no other process writes. Journals in memory are forgotten. */
  setWriter(isWriter: boolean): Promise<void> {
    return this.#queue.run(async () => {
      this.#isWriter = isWriter;
      this.interruptions += 1;
      await this.#journals.forgetAll();
    });
  }

  async read(reads: readonly Read[]): Promise<readonly Answer[]> {
    const attempts = new Attempts();
    for (;;) {
      const { held, result: located } = await this.#look(lineagesOfReads(reads), (journalOf) =>
        reads.map((read) => locate(read, journalOf)),
      );
      try {
        const { values, damaged } = await fetchValues(located.flatMap(({ wanted }) => wanted));
        // A journal that another process truncated and appended to may look damaged by the index in memory.
        const mayBeStale = damaged.length > 0 && !this.#isWriter;
        if (mayBeStale && (await this.#haveChanged(held)) && (await attempts.again())) continue;
        const strict = new Set(located.flatMap(({ wanted, isTolerant }) => (isTolerant ? [] : wanted.map(slotOf))));
        const fault = damaged.find(({ slot }) => strict.has(slot));
        if (fault !== undefined) throw damageOf(fault);
        return located.map(({ answer }) => answer(values));
      } finally {
        release(held);
        await this.#journals.trim();
      }
    }
  }

  /** Calls `look` with a journal. */
  async visit<Result>(lineage: number, look: (journal: JournalFile) => Result): Promise<Result> {
    const { held, result } = await this.#look(new Set([lineage]), (journalOf) => look(journalOf(lineage)));
    release(held);
    await this.#journals.trim();
    return result;
  }

  /** Returns the journals as the writing process has them. */
  async hold(lineages: Iterable<number>): Promise<HeldJournals> {
    const held = await this.#journals.holdAll(lineages);
    try {
      await this.#decide(held);
      return held;
    } catch (error) {
      release(held);
      throw error;
    }
  }

  /**
   * Calls `look` without awaiting, once the journals are in the state of one moment. They stay open until they are
   * released.
   */
  async #look<Result>(
    lineages: ReadonlySet<number>,
    look: (journalOf: (lineage: number) => JournalFile) => Result,
  ): Promise<{ readonly held: HeldJournals; readonly result: Result }> {
    const settle = (held: HeldJournals): { readonly held: HeldJournals; readonly result: Result } => {
      try {
        return { held, result: look((lineage) => (held.get(lineage) as Held).journal) };
      } catch (error) {
        release(held);
        throw error;
      }
    };
    if (this.#isWriter) return settle(await this.hold(lineages));
    return this.#queue.run(async () => settle(await (this.#isWriter ? this.hold(lineages) : this.#observe(lineages))));
  }

  /** Asks the directory whether the last batches count that are joint. Only the writing process may keep the answer. */
  async #decide(held: HeldJournals): Promise<void> {
    const open = [...held.values()].filter(({ journal }) => journal.undecided !== undefined);
    if (open.length === 0) return;
    const own = held.get(directoryLineage);
    const directory = own ?? (await this.#journals.hold(directoryLineage));
    try {
      for (const { journal } of open)
        if (journal.undecided !== undefined) journal.decide(counts(journal, directory.journal));
    } finally {
      if (own === undefined) directory.done();
    }
  }

  /** Returns the journals in the state that the files had at one moment. */
  async #observe(wanted: ReadonlySet<number>): Promise<HeldJournals> {
    const lineages = new Set(wanted);
    const attempts = new Attempts();
    do {
      const states = await this.#statesOf(lineages);
      // Two equal looks at all files mean that all were in this state at the moment in between.
      if (lineages.size > 1 && !areSame(states, await this.#statesOf(lineages))) continue;
      const held: HeldJournals = new Map();
      try {
        let isCurrent = true;
        for (const [lineage, state] of states) {
          held.set(lineage, await this.#refreshed(lineage, state));
          isCurrent &&= sameState((held.get(lineage) as Held).journal.state, state);
        }
        const open = [...held.values()].filter(({ journal }) => journal.undecided !== undefined);
        const directory = held.get(directoryLineage)?.journal;
        if (open.length > 0 && directory === undefined) lineages.add(directoryLineage);
        else if (isCurrent || lineages.size === 1) {
          for (const { journal } of open) if (counts(journal, directory as JournalFile)) journal.decide(true);
          return held;
        }
      } catch (error) {
        release(held);
        throw error;
      }
      release(held);
    } while (await attempts.again());
    throw Object.assign(new Error("the journals change faster than they can be read"), { code: "EAGAIN" });
  }

  async #statesOf(lineages: Iterable<number>): Promise<Map<number, FileState | undefined>> {
    const states = new Map<number, FileState | undefined>();
    for (const lineage of lineages)
      states.set(lineage, await this.#fileSystem.stat(journalPath(this.#directory, lineage)));
    return states;
  }

  async #refreshed(lineage: number, state: FileState | undefined): Promise<Held> {
    const held = await this.#journals.hold(lineage);
    try {
      if (await held.journal.refresh(state)) return held;
    } catch (error) {
      held.done();
      throw error;
    }
    held.done();
    this.interruptions += 1;
    await this.#journals.forget(lineage);
    return this.#journals.hold(lineage);
  }

  async #haveChanged(held: HeldJournals): Promise<boolean> {
    for (const [lineage, { journal }] of held) {
      const state = await this.#fileSystem.stat(journalPath(this.#directory, lineage));
      if (!sameState(journal.state, state)) return true;
    }
    return false;
  }
}

function slotOf({ slot }: Wanted): Slot {
  return slot;
}

function counts(journal: JournalFile, directory: JournalFile): boolean {
  const last = journal.undecided?.lines.at(-1);
  return last !== undefined && directory.index.hasCommitted(journal.lineage, last.batch, last.crc);
}

function areSame(
  one: ReadonlyMap<number, FileState | undefined>,
  other: ReadonlyMap<number, FileState | undefined>,
): boolean {
  for (const [lineage, state] of one) if (!sameState(state, other.get(lineage))) return false;
  return true;
}

function sameState(one: FileState | undefined, other: FileState | undefined): boolean {
  return one?.inode === other?.inode && one?.size === other?.size && one?.changed === other?.changed;
}

import { readTogether, recentHistory } from "../api/adapter.ts";
import type { Thread } from "../api/thread.ts";
import type { Checkpoint, CheckpointInfo, Write } from "../model/checkpoint.ts";
import { type Bookkeeping, isSnapshot, keyOf, notesOf, reserved, type StoredHistory } from "./mapping/bookkeeping.ts";

/**
 * Channels that keep only their writes (LangGraph's `DeltaChannel`) are rebuilt from the value at the nearest ancestor that
 * has one, the seed, and the writes since. The notes in the checkpoints' metadata tell which ancestor that is. So seed and
 * writes are a single read, however long the history is, after one more for the metadata where it is not in memory.
 */

type LangGraphThread = Thread<Record<string, unknown>>;

/** The part of the history that a channel is rebuilt from. */
interface Extent {
  /** The number of ancestors whose writes belong to the channel, from the nearest on. */
  readonly length: number;
  /** The ancestor whose state holds the seed. */
  readonly seed?: CheckpointInfo;
  /** The ancestor that holds a copy of the history of its own, removed ancestors. */
  readonly kept?: CheckpointInfo;
}

/** Returns the histories of channels at a checkpoint, as stored; undefined if there is no such checkpoint. */
export async function historiesAt(
  thread: LangGraphThread,
  id: string | undefined,
  channels: readonly string[],
): Promise<ReadonlyMap<string, StoredHistory> | undefined> {
  const recent = recentHistory(thread);
  const remembered = recent && new Ancestry(id, channels);
  if (recent && remembered) {
    for (const row of recent.rows) if (remembered.meet(row)) break;
    const histories = remembered.complete ? await historiesOf(thread, remembered) : undefined;
    // If the remembered rows have proved stale, everything is read anew.
    if (histories !== undefined && recent.holds()) return histories;
  }
  const ancestry = new Ancestry(id, channels);
  for await (const row of rowsOf(thread)) if (ancestry.meet(row)) break;
  return ancestry.found ? historiesOf(thread, ancestry) : undefined;
}

async function historiesOf(
  thread: LangGraphThread,
  { rows: ancestors, searches }: Ancestry,
): Promise<ReadonlyMap<string, StoredHistory>> {
  const guesses = [...searches.values()].map((search) => search.guess(ancestors.length));
  const sought = Math.max(0, ...guesses.map((guess) => guess.length));
  const holders = new Set(guesses.flatMap((guess) => guess.seed ?? guess.kept ?? []));
  const { writes, checkpoints } = await readTogether(thread, ancestors.slice(0, sought), [...holders]);
  const states = new States(thread, checkpoints);
  const extents = new Map<string, Extent>();
  for (const [channel, search] of searches) extents.set(channel, await search.extent(states, ancestors.length));
  const length = Math.max(0, ...[...extents.values()].map((extent) => extent.length));
  const further = length > sought ? await thread.writesOf(ancestors.slice(sought, length)) : undefined;
  const histories = new Map<string, StoredHistory>();
  for (const [channel, extent] of extents) {
    const own = ancestors
      .slice(0, extent.length)
      .reverse()
      .flatMap((row): readonly Write[] => writes.get(row.id) ?? further?.get(row.id) ?? [])
      .filter((write) => write.channel === channel)
      .map((write) => [write.task, write.value] as const);
    const before = extent.kept && (await states.history(extent.kept, channel));
    histories.set(channel, {
      writes: [...(before?.writes ?? []), ...own],
      ...(before !== undefined && Object.hasOwn(before, "seed") && { seed: before.seed }),
      ...(extent.seed !== undefined && { seed: await states.value(extent.seed, channel) }),
    });
  }
  return histories;
}

/** Reads the states of checkpoints, each at most once. */
class States {
  readonly #thread: LangGraphThread;
  readonly #states = new Map<string, Readonly<Record<string, unknown>>>();

  constructor(thread: LangGraphThread, known: ReadonlyMap<string, Checkpoint<unknown>>) {
    this.#thread = thread;
    for (const [id, { state }] of known) this.#states.set(id, state as Record<string, unknown>);
  }

  async #at(row: CheckpointInfo): Promise<Readonly<Record<string, unknown>>> {
    const known = this.#states.get(row.id) ?? (await this.#thread.get(row.id))?.state ?? {};
    this.#states.set(row.id, known);
    return known;
  }

  async value(row: CheckpointInfo, channel: string): Promise<unknown> {
    return (await this.#at(row))[keyOf(channel)];
  }

  async has(row: CheckpointInfo, channel: string): Promise<boolean> {
    const state = await this.#at(row);
    const { versions, unlisted = [] } = (state[reserved] ?? { versions: {} }) as Bookkeeping;
    const { set = [] } = notesOf(row);
    const held = !isSnapshot(state[keyOf(channel)]) || set.includes(channel);
    return (
      held && Object.hasOwn(state, keyOf(channel)) && (Object.hasOwn(versions, channel) || unlisted.includes(channel))
    );
  }

  async history(row: CheckpointInfo, channel: string): Promise<StoredHistory | undefined> {
    return ((await this.#at(row))[reserved] as Bookkeeping | undefined)?.history?.[channel];
  }
}

/** Follows the rows from the newest to the wanted checkpoint, then its ancestors until every channel's extent is known. */
class Ancestry {
  /** The ancestors of the wanted checkpoint, nearest first. */
  readonly rows: CheckpointInfo[] = [];
  readonly searches: ReadonlyMap<string, ExtentSearch>;
  found = false;
  /** True if no further row is needed. */
  complete = false;
  #wanted: string | undefined;

  constructor(id: string | undefined, channels: readonly string[]) {
    this.searches = new Map(channels.map((channel) => [channel, new ExtentSearch(channel)]));
    this.#wanted = id;
  }

  /** Takes the next older row. Returns true if no further row is needed. */
  meet(row: CheckpointInfo): boolean {
    if (this.#wanted !== undefined && row.id !== this.#wanted) return false;
    if (this.found) this.rows.push(row);
    for (const search of this.searches.values()) search.meet(row, this.rows.length);
    this.found = true;
    this.complete = row.parent === null || [...this.searches.values()].every((search) => search.done);
    if (row.parent !== null) this.#wanted = row.parent;
    return this.complete;
  }
}

/** Rows per read: first as many as LangGraph by default lets a channel go without a snapshot, then more. */
const portions = [1024, 4096];

/** Yields the rows of a thread, newest first, and reads them in portions, as needed. */
async function* rowsOf(thread: LangGraphThread): AsyncGenerator<CheckpointInfo> {
  let before: number | undefined;
  for (let turn = 0; ; turn++) {
    const limit = portions[Math.min(turn, portions.length - 1)] as number;
    let count = 0;
    for await (const row of thread.history({ limit, ...(before !== undefined && { before }) })) {
      count += 1;
      before = row.seq;
      yield row;
    }
    if (count < limit) return;
  }
}

/** The search for a channel's extent, from a checkpoint up its ancestors. */
class ExtentSearch {
  /** True if no older row matters. */
  done = false;
  readonly #channel: string;
  /** The ancestors that may hold a value, nearest first. The last of them got it, if `done`. */
  #holders: { readonly row: CheckpointInfo; readonly position: number }[] = [];
  #kept: Extent | undefined;

  constructor(channel: string) {
    this.#channel = channel;
  }

  /** Takes the next row into account. The position of the wanted checkpoint is 0, that of its parent 1, and so on. */
  meet(row: CheckpointInfo, position: number): void {
    if (this.done) return;
    const { set = [], unset = [], history = [] } = notesOf(row);
    if (history.includes(this.#channel)) {
      this.#kept = { length: position, kept: row };
      this.done = true;
    } else if (position === 0) return;
    else if (unset.includes(this.#channel)) this.#holders = [];
    else {
      this.#holders.push({ row, position });
      this.done = set.includes(this.#channel);
    }
  }

  /** Returns the extent that {@link extent} nearly always finds, without reading states. */
  guess(count: number): Extent {
    if (this.#kept !== undefined) return this.#kept;
    const holder = this.#holders.at(this.done ? -1 : 0);
    const length = this.done && holder !== undefined ? holder.position : count;
    return { length, ...(holder !== undefined && { seed: holder.row }) };
  }

  /**
   * Returns the extent. Notes alone do not suffice: the checkpoint that set the value may have been removed, or a checkpoint
   * may have left the channel out. So the states of holders are read, nearly always only one.
   */
  async extent(states: States, count: number): Promise<Extent> {
    if (this.#kept !== undefined) return this.#kept;
    const last = this.#holders.at(-1);
    if (this.done && last !== undefined && isSnapshot(await states.value(last.row, this.#channel))) {
      return { length: last.position, seed: last.row };
    }
    // If no row is known to have set a value, all holders have the value of a removed checkpoint, or none has a value.
    for (const { row, position } of this.done ? this.#holders : this.#holders.slice(0, 1)) {
      if (await states.has(row, this.#channel)) return { length: position, seed: row };
    }
    return { length: count };
  }
}

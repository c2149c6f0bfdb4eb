import type { Thread } from "../api/thread.ts";
import type { Checkpoint, CheckpointInfo, Write } from "../model/checkpoint.ts";
import { type Bookkeeping, isSnapshot, keyOf, notesOf, reserved, type StoredHistory } from "./mapping/bookkeeping.ts";

/**
 * What channels that keep only their writes (LangGraph's `DeltaChannel`) are made of: the value at the nearest ancestor that
 * has one, and the writes since. Which ancestor that is stands in the notes of the checkpoints' metadata. So the writes and
 * the value are one read, however long the history is; where the metadata is not in memory, it takes one before that.
 */

type LangGraphThread = Thread<Record<string, unknown>>;

/** How far back a channel has to be read. */
interface Extent {
  /** How many ancestors' writes belong to it, from the nearest on. */
  readonly length: number;
  /** The ancestor whose state holds the value it starts from. */
  readonly seed?: CheckpointInfo;
  /** The ancestor that keeps what went with its own ancestors. */
  readonly kept?: CheckpointInfo;
}

/** The histories of channels at a checkpoint, as stored. Undefined: there is no such checkpoint. */
export async function historiesAt(
  thread: LangGraphThread,
  id: string | undefined,
  channels: readonly string[],
): Promise<ReadonlyMap<string, StoredHistory> | undefined> {
  const recent = thread.recent();
  const remembered = recent && new Ancestry(id, channels);
  if (recent && remembered) {
    for (const row of recent.rows) if (remembered.meet(row)) break;
    const histories = remembered.complete ? await historiesOf(thread, remembered) : undefined;
    // If what is remembered proved stale, all of it is asked for anew.
    if (histories !== undefined && recent.holds()) return histories;
  }
  const ancestry = new Ancestry(id, channels);
  for await (const row of rowsOf(thread)) if (ancestry.meet(row)) break;
  return ancestry.found ? historiesOf(thread, ancestry) : undefined;
}

async function historiesOf(
  thread: LangGraphThread,
  { rows: ancestors, walks }: Ancestry,
): Promise<ReadonlyMap<string, StoredHistory>> {
  const guesses = [...walks.values()].map((walk) => walk.guess(ancestors.length));
  const sought = Math.max(0, ...guesses.map((guess) => guess.length));
  const holders = new Set(guesses.flatMap((guess) => guess.seed ?? guess.kept ?? []));
  const { writes, checkpoints } = await thread.gather(ancestors.slice(0, sought), [...holders]);
  const states = new States(thread, checkpoints);
  const extents = new Map<string, Extent>();
  for (const [channel, walk] of walks) extents.set(channel, await walk.extent(states, ancestors.length));
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

/** The states of some checkpoints, each read once. */
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

/** The way from the newest checkpoint to the one that is asked for, and up until enough is known of every channel. */
class Ancestry {
  /** The ancestors of the one that is asked for, nearest first. */
  readonly rows: CheckpointInfo[] = [];
  readonly walks: ReadonlyMap<string, Walk>;
  found = false;
  /** Nothing more is needed. */
  complete = false;
  #wanted: string | undefined;

  constructor(id: string | undefined, channels: readonly string[]) {
    this.walks = new Map(channels.map((channel) => [channel, new Walk(channel)]));
    this.#wanted = id;
  }

  /** Takes the next older row. True: the last that is needed. */
  meet(row: CheckpointInfo): boolean {
    if (this.#wanted !== undefined && row.id !== this.#wanted) return false;
    if (this.found) this.rows.push(row);
    for (const walk of this.walks.values()) walk.meet(row, this.rows.length);
    this.found = true;
    this.complete = row.parent === null || [...this.walks.values()].every((walk) => walk.done);
    if (row.parent !== null) this.#wanted = row.parent;
    return this.complete;
  }
}

/** As many as LangGraph lets a channel go without a snapshot, unless it is told otherwise; then more at a time. */
const portions = [1024, 4096];

/** The rows of a thread, newest first, a portion in one read: rows that nobody asks for are not read. */
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

/** One channel, followed from a checkpoint up its ancestors. */
class Walk {
  /** Nothing further up matters. */
  done = false;
  readonly #channel: string;
  /** The ancestors, nearest first, that have a value: the one that got it, and those above which nothing was noted since. */
  #holders: { readonly row: CheckpointInfo; readonly position: number }[] = [];
  #kept: Extent | undefined;

  constructor(channel: string) {
    this.#channel = channel;
  }

  /** Takes the next row into account: the target itself at position 0, its parent at 1, and so on. */
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

  /** What {@link extent} will find nearly always, and the state it will look at. */
  guess(count: number): Extent {
    if (this.#kept !== undefined) return this.#kept;
    const holder = this.#holders.at(this.done ? -1 : 0);
    const length = this.done && holder !== undefined ? holder.position : count;
    return { length, ...(holder !== undefined && { seed: holder.row }) };
  }

  /**
   * The holder's own state has the last word: what gave it its value may have been removed, and a checkpoint may have left
   * the channel out. Nearly always one is looked at.
   */
  async extent(states: States, count: number): Promise<Extent> {
    if (this.#kept !== undefined) return this.#kept;
    const last = this.#holders.at(-1);
    if (this.done && last !== undefined && isSnapshot(await states.value(last.row, this.#channel))) {
      return { length: last.position, seed: last.row };
    }
    // If none is known to have got a value, they have all the same: one that was set by a removed checkpoint, or none.
    for (const { row, position } of this.done ? this.#holders : this.#holders.slice(0, 1)) {
      if (await states.has(row, this.#channel)) return { length: position, seed: row };
    }
    return { length: count };
  }
}

import type { Entry, Key, Value } from "../../../backend.ts";
import type { Delta } from "../../../codec/delta/index.ts";
import { refers } from "../../../codec/envelope.ts";
import { isObject, type Json } from "../../../codec/json.ts";
import { jsonText } from "../../../codec/json-text.ts";
import { placesOf, referToState } from "../../../codec/state-references.ts";
import type { DraftValues } from "../../bodies/values/draft-values.ts";
import { storedSize } from "../../bodies/values/large-parts.ts";
import type { Tape } from "../../memory/tape.ts";
import type { Row } from "../../records/row.ts";
import { type CarriedTask, isFor, type LooseWrites, type StoredWrite, type TaskWrites } from "../../records/writes.ts";
import type { BatchBuilder } from "../batch/batch.ts";
import { referValue } from "./refer-values.ts";

/** Writes of more characters than this, apart from large values, stay records of their own. */
const MOST = 256 * 1024;

/** The most bytes of JSON that a unit of a string's length takes, escaped. */
const BYTES_OF_ESCAPE = 6;

/** Writes of one task that are planned: the record of their own that they get unless a row carries them. */
export interface PlannedWrites {
  readonly key: Key;
  readonly entry: TaskWrites;
  /** Encodes the record. Its large values become the draft's. */
  encode(): Value;
}

/** The draft, as far as carrying needs it. */
interface Draft {
  readonly context: { readonly largeFrom: number; readonly checkpointBytes: number };
  readonly batch: BatchBuilder;
  readonly existing: Tape | undefined;
  readonly target: Tape | undefined;
  readonly planned: readonly unknown[];
  readonly retried: boolean;
  /** The row that comes before the next one on the tape itself. */
  readonly previous: Row | undefined;
  readonly values: DraftValues;
  weigh(record: { readonly length: number }): void;
}

/** Lists of the row's state by their keys, which are put together only where a write may equal one of them. */
export type LongLists = readonly (readonly [key: string, list: { readonly length: number; whole(): Json }])[];

/** A record of writes that a row takes in: `before` is its value in the store, undefined if it was never there. */
interface TakenIn {
  readonly key: Key;
  readonly before: Value | undefined;
  readonly namespace: string;
  readonly checkpoint: string;
  readonly carries: "told" | "untold";
}

/** The writes that a row carries, as its record has them. */
interface RowWrites {
  readonly seq: number;
  readonly tasks: readonly CarriedTask[];
  readonly text: string;
  readonly carries: "told" | "untold";
}

/**
 * The writes of a draft that the next row may carry. The results of a task are usually followed by the checkpoint that they
 * lead to, which holds their values again: the row's record then holds both, and the writes refer to the values.
 *
 * Invariant: a row carries only writes against its parent, which is the row before it on the same tape. The commit checks that no
 * record of these writes is there, or that the record which it deletes is as it was.
 */
export class DraftWrites {
  #loose: readonly PlannedWrites[] = [];
  /** The writes that got records of their own, once the batch was built. */
  #left: readonly LooseWrites[] = [];
  #taken: readonly TakenIn[] = [];
  /** The row encoded last: its record may be made again, as a full frame of the state. */
  #last: RowWrites | undefined;

  /** Returns true if no writes wait for a row, or for the batch. */
  get empty(): boolean {
    return this.#loose.length === 0;
  }

  /**
   * Adds writes of about `size` characters, if a row may carry them. Control writes stay apart: others may replace them. So do
   * writes that may be too large for a record, which only the record tells.
   */
  add({ largeFrom, checkpointBytes }: Draft["context"], writes: PlannedWrites, size: number): boolean {
    const { writes: all } = writes.entry;
    if (!all.every(([index]) => index >= 0) || size * BYTES_OF_ESCAPE > checkpointBytes) return false;
    if (size > MOST && storedSize(all as unknown as Json, largeFrom, () => true) > MOST) return false;
    this.#loose = [...this.#loose, writes];
    return true;
  }

  /** Gives writes a record of their own at once: another call adds to it. */
  release(batch: BatchBuilder, key: Key): void {
    const writes = this.#loose.find((one) => isSame(one.key, key));
    if (!writes) return;
    this.#loose = this.#loose.filter((one) => one !== writes);
    batch.insert(key, writes.encode());
  }

  /** Returns the writes that no row of the draft carries, once the batch was built. */
  get left(): readonly LooseWrites[] {
    return this.#left;
  }

  /** Takes in the writes against a row's parent. Returns undefined if there are none. */
  carriedBy(
    draft: Draft,
    row: Row,
    change: Delta,
    after: Json | undefined,
    lists: LongLists = [],
  ): RowWrites | undefined {
    if (this.#last?.seq === row.seq) return this.#last;
    const { previous } = draft;
    if (previous === undefined || previous.seq !== row.parent || row.seq !== row.parent + 1) return undefined;
    const address = { namespace: previous.namespace, checkpoint: previous.id };
    const planned = this.#loose.filter(({ entry }) => isFor(entry, address));
    const stored = this.#stored(draft).filter(({ entry, value }) => isFor(entry, address) && !refers(value));
    if (planned.length + stored.length === 0) return undefined;
    const places = placesOf(change.d?.["s"], after);
    const refer = (value: Json, channel: string): Json => {
      const field = isObject(after) && Object.hasOwn(after, channel) ? after[channel] : listAt(lists, channel, value);
      return referToState(value, places, field === undefined ? undefined : { path: [channel], value: field });
    };
    let tasks = [...stored, ...planned].map(({ entry }) => carried(entry.task, entry, refer));
    let text = jsonText(tasks as unknown as Json);
    if (text.length >= draft.context.largeFrom) {
      const { lineage } = draft.target as Tape;
      tasks = tasks.map((task) => carried(task.task, task, (value) => referValue(draft, lineage, value)));
      text = jsonText(tasks as unknown as Json);
    }
    const carries = stored.length > 0 || hasOthers(draft.batch, planned[0]) ? "told" : "untold";
    const taken = (key: Key, before: Value | undefined): TakenIn => ({ key, before, ...address, carries });
    this.#taken = [
      ...this.#taken,
      ...planned.map(({ key }) => taken(key, undefined)),
      ...stored.map(({ key, value }) => taken(key, value)),
    ];
    this.#last = { seq: row.seq, tasks, text, carries };
    return this.#last;
  }

  /**
   * Returns the records that this process has committed for the last row, as it remembers them. Records with large values stay: the
   * state need not refer to the values, and then they would have to be collected.
   */
  #stored({ existing, planned, retried }: Draft): readonly LooseWrites[] {
    return retried || planned.length > 0 ? [] : (existing?.loose ?? []);
  }

  /** Lets the commit check that no other writes are in place of carried ones, and gives the rest records of their own. */
  settle(batch: BatchBuilder): void {
    for (const { key, before } of this.#taken) {
      batch.check(key, before);
      if (before !== undefined) batch.delete(key);
    }
    const left: LooseWrites[] = [];
    for (const { key, entry, encode } of this.#loose) {
      if (this.#taken.some((taken) => isSame(taken.key, key))) continue;
      const value = encode();
      batch.insert(key, value);
      left.push({ key, value, entry });
    }
    this.#left = left;
  }

  /** Tells whether watchers learn of all writes against a checkpoint from the row that carries them. */
  tells(namespace: string, checkpoint: string | null): boolean {
    return this.#taken.some(
      (one) => one.carries === "untold" && one.namespace === namespace && one.checkpoint === checkpoint,
    );
  }

  /** Returns a function that takes back everything noted after this call. */
  mark(): () => void {
    const [loose, taken, last] = [this.#loose, this.#taken, this.#last];
    return () => {
      this.#loose = loose;
      this.#taken = taken;
      this.#last = last;
    };
  }
}

/** Returns the list under a key, if the value of a write may be the same. */
function listAt(lists: LongLists, key: string, value: Json): Json | undefined {
  for (const [other, list] of lists) {
    if (other === key && Array.isArray(value) && value.length === list.length) return list.whole();
  }
  return undefined;
}

function carried(
  task: string,
  { node, generation, writes }: Omit<CarriedTask, "task">,
  refer: (value: Json, channel: string) => Json,
): CarriedTask {
  return {
    task,
    ...(node !== undefined && { node }),
    ...(generation !== undefined && { generation }),
    writes: writes.map(([index, channel, value]): StoredWrite => [index, channel, refer(value, channel)]),
  };
}

/** Returns true if a batch has other writes against the checkpoint, of which the log tells watchers. */
function hasOthers({ inserts, puts }: BatchBuilder, writes: PlannedWrites | undefined): boolean {
  if (!writes) return false;
  const isOther = ({ key }: Entry): boolean => key.table === "write" && (key as Key).item === writes.key.item;
  return inserts.some(isOther) || puts.some(isOther);
}

function isSame(left: Key, right: Key): boolean {
  return left.group === right.group && left.item === right.item && left.part === right.part;
}

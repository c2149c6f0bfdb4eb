import type { Found, Key, Value } from "../../backend.ts";
import type { Json } from "../../codec/json.ts";

/** A write as it is stored: index, channel, encoded value. */
export type StoredWrite = readonly [index: number, channel: string, value: Json];

/** The writes of one task against one checkpoint, made in one generation. Hashes may collide; a record holds several. */
export interface TaskWrites {
  readonly checkpoint: string;
  readonly namespace?: string;
  readonly task: string;
  readonly node?: string;
  readonly at: number;
  readonly generation?: number;
  readonly writes: readonly StoredWrite[];
  /** The checkpoint was deleted in this generation: what was written before is not shown. */
  readonly cut?: true;
}

/**
 * The writes of one task that a row carries: they were made against its parent. A value may hold references into the
 * state of the row itself, see {@link StateReference}.
 */
export interface CarriedTask {
  readonly task: string;
  readonly node?: string;
  readonly generation?: number;
  readonly writes: readonly StoredWrite[];
}

/** A record of the write table that holds nothing but the writes of one task, as one call has made them. */
export interface LooseWrites {
  readonly key: Key;
  readonly value: Value;
  readonly entry: TaskWrites;
}

/** A record of the write table, decoded. */
export interface WriteRecord extends Omit<Found, "value"> {
  /** Undefined if the record is not there yet. */
  readonly value: Value | undefined;
  readonly tasks: readonly TaskWrites[];
  /** True if the entries are not those that are stored. */
  readonly changed?: true;
}

/** Groups entries by the checkpoint they are for. */
export function byCheckpoint(records: readonly WriteRecord[]): ReadonlyMap<string, readonly TaskWrites[]> {
  const byName = new Map<string, TaskWrites[]>();
  for (const entry of records.flatMap(({ tasks }) => tasks)) {
    const all = byName.get(nameOf(entry));
    if (all) all.push(entry);
    else byName.set(nameOf(entry), [entry]);
  }
  return byName;
}

/** Tells whether an entry is for this checkpoint: hashes may collide. */
export function isFor(
  entry: TaskWrites,
  address: { readonly namespace: string; readonly checkpoint: string },
): boolean {
  return entry.checkpoint === address.checkpoint && (entry.namespace ?? "") === address.namespace;
}

/** Returns a name that all entries of a checkpoint share, and no others. */
export function nameOf(entry: Pick<TaskWrites, "namespace" | "checkpoint">): string {
  return `${entry.namespace ?? ""}\0${entry.checkpoint}`;
}

/** Tells the writes for one checkpoint on one tape apart. */
export function writeName({ generation = 0, task }: TaskWrites, index: number): string {
  return `${generation}:${index}:${task}`;
}

/**
 * Returns the entries for a checkpoint that a view of this generation sees, oldest first, and none from before they
 * were last cut off.
 */
export function visibleTasks(
  tasks: readonly TaskWrites[],
  address: { readonly namespace: string; readonly checkpoint: string },
  generation: number,
): TaskWrites[] {
  const seen = tasks.filter((entry) => isFor(entry, address) && (entry.generation ?? 0) <= generation);
  const cut = Math.max(-1, ...seen.filter((entry) => entry.cut).map((entry) => entry.generation ?? 0));
  return seen.filter((entry) => !entry.cut && (entry.generation ?? 0) >= cut);
}

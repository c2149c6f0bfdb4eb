import type { Entry, Key, Value } from "../../backend.ts";
import { unwrapJson, wrapJson } from "../../codec/envelope.ts";
import { CUT_TASK, cutKey } from "../changes/writes.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { byCheckpoint, nameOf, type TaskWrites, type WriteRecord, writeName } from "../records/writes.ts";
import { NOW, type Shown } from "../view/row-at.ts";
import { writesOfRows } from "../view/shown-writes.ts";
import { writeRecords } from "../view/write-records.ts";
import type { SeenWrites } from "./visible-writes.ts";

export interface FreedWrites {
  readonly deletes: readonly Key[];
  readonly puts: readonly Entry[];
  /** What these records were: a write leaves the meta record alone, so that one that came since would be lost. */
  readonly checks: readonly { readonly key: Key; readonly value: Value }[];
  readonly reclaimed: number;
}

/**
 * Keeps of a tape's writes what `keep` returns for an entry: the entry itself, a part of it, or nothing. `keep` also gets
 * all entries of the tape for the same checkpoint. Records hold the writes of several checkpoints when hashes collide.
 */
function withoutTasks(
  tape: Tape,
  records: readonly WriteRecord[],
  keep: (entry: TaskWrites, all: readonly TaskWrites[]) => TaskWrites | undefined,
): FreedWrites {
  const deletes: Key[] = [];
  const puts: Entry[] = [];
  const checks: { readonly key: Key; readonly value: Value }[] = [];
  let reclaimed = 0;
  const byName = byCheckpoint(records);
  for (const { item, part, value, tasks } of records) {
    const kept = tasks.flatMap((entry) => keep(entry, byName.get(nameOf(entry)) ?? []) ?? []);
    if (kept.length === tasks.length && kept.every((entry, index) => entry === tasks[index])) continue;
    const key = tape.key("write", item, part);
    checks.push({ key, value });
    reclaimed += value.length;
    if (kept.length === 0) deletes.push(key);
    else {
      const smaller = wrapJson(kept);
      reclaimed -= smaller.length;
      puts.push({ key, value: smaller });
    }
  }
  return { deletes, puts, checks, reclaimed };
}

/** The generation in which a checkpoint of this id was last deleted, for a view that sees so much; 0: never. */
function cutUpTo(all: readonly TaskWrites[], generation: number): number {
  const cuts = all.filter((entry) => entry.cut && (entry.generation ?? 0) <= generation);
  return Math.max(0, ...cuts.map((entry) => entry.generation ?? 0));
}

/** Writes go with their checkpoint; but those of an earlier one under its id, which was cut, may be a fork's. */
export async function withoutWrites(context: Context, tape: Tape, rows: readonly Shown[]): Promise<FreedWrites> {
  const records = await writeRecords(context, tape);
  const gone = new Set(records.length === 0 ? [] : rows.map((row) => nameOf({ ...row, checkpoint: row.id })));
  return withoutTasks(tape, records, (entry, all) => {
    const goes = gone.has(nameOf(entry)) && !entry.cut && (entry.generation ?? 0) >= cutUpTo(all, NOW);
    return goes ? undefined : entry;
  });
}

/**
 * Drops the writes that no thread shows any more, and writes of no checkpoint for which `isOld` holds. Writes from before
 * the deletion of their checkpoint are kept for threads that still see them; a cut is kept to hide them from others.
 *
 * Invariant: `records` are the ones that `seen` was found with. A write that arrived between two reads of the table would
 * be taken for one that nobody shows.
 */
export function withoutUnseen(
  tape: Tape,
  records: readonly WriteRecord[],
  seen: SeenWrites,
  isOld: (entry: TaskWrites) => boolean,
): FreedWrites {
  const keep = (entry: TaskWrites, all: readonly TaskWrites[]): TaskWrites | undefined => {
    const { generation = 0 } = entry;
    if (entry.cut) {
      const hides = (other: TaskWrites): boolean => !other.cut && (other.generation ?? 0) < generation;
      return all.some((other) => hides(other) && keep(other, all) !== undefined) ? entry : undefined;
    }
    const there = seen.get(tape.number)?.get(nameOf(entry));
    if (there?.views.some((view) => generation <= view && generation >= cutUpTo(all, view))) {
      const writes = entry.writes.filter(([index]) => there.shown.has(writeName(entry, index)));
      if (writes.length === entry.writes.length) return entry;
      return writes.length === 0 ? undefined : { ...entry, writes };
    }
    return tape.meta.dead || generation < cutUpTo(all, NOW) || isOld(entry) ? undefined : entry;
  };
  return withoutTasks(tape, records, keep);
}

/** Records to write, each with the value that it must still have. */
export interface CutWrites {
  readonly puts: readonly Entry[];
  readonly checks: readonly { readonly key: Key; readonly value: Value | undefined }[];
}

/** Hides the writes of checkpoints that a fork still shows: for this thread they end with this generation. */
export async function cutWrites(
  context: Context,
  tape: Tape,
  rows: readonly Shown[],
  generation: number,
): Promise<CutWrites> {
  const writes = await writesOfRows(context, tape, rows);
  const marked = rows.filter((row) => (writes.get(row.seq)?.length ?? 0) > 0);
  if (marked.length === 0) return { puts: [], checks: [] };
  const keys = marked.map((row) => cutKey(tape, { namespace: row.namespace, checkpoint: row.id }));
  const before = (await context.read(keys.map((key) => ({ get: key })))) as readonly (Value | undefined)[];
  const puts = marked.map((row, index) => {
    const cut: TaskWrites = {
      checkpoint: row.id,
      ...(row.namespace !== "" && { namespace: row.namespace }),
      task: CUT_TASK,
      at: context.clock(),
      generation,
      writes: [],
      cut: true,
    };
    // Earlier cuts stay: a fork made since goes by the last one it knows.
    const value = before[index];
    const earlier = value === undefined ? [] : (unwrapJson(value) as readonly TaskWrites[]);
    return { key: keys[index] as Key, value: wrapJson([...earlier, cut]) };
  });
  // A task whose name has the same hash shares the record, and its writes leave the meta record alone.
  return { puts, checks: keys.map((key, index) => ({ key, value: before[index] })) };
}

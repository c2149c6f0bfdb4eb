import type { Key, Value } from "../../backend.ts";
import { unwrapJson, wrapJson } from "../../codec/envelope.ts";
import { CUT_TASK, cutKey, placeOf } from "../changes/writes.ts";
import type { BatchBuilder } from "../commits/batch/batch.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { wrapReferring } from "../records/values.ts";
import { byCheckpoint, nameOf, type TaskWrites, type WriteRecord, writeName } from "../records/writes.ts";
import { writeRecords } from "../view/lineage/write-records.ts";
import { NOW, type Shown } from "../view/row-at.ts";
import { writesOfRows } from "../view/shown-writes.ts";
import type { SeenWrites } from "./visible-writes.ts";

/**
 * Rewrites the records of a tape's writes so that only the entries that `keep` returns are left: an entry itself, a part of
 * it, or nothing. `keep` also gets all entries of the tape for the same checkpoint. Records hold the writes of several
 * checkpoints when hashes collide. Returns how many bytes that frees.
 */
function keepTasks(
  batch: BatchBuilder,
  tape: Tape,
  records: readonly WriteRecord[],
  keep: (entry: TaskWrites, all: readonly TaskWrites[]) => TaskWrites | undefined,
): number {
  let reclaimed = 0;
  const byName = byCheckpoint(records);
  for (const { item, part, value, tasks, changed } of records) {
    const kept = tasks.flatMap((entry) => keep(entry, byName.get(nameOf(entry)) ?? []) ?? []);
    if (!changed && kept.length === tasks.length && kept.every((entry, index) => entry === tasks[index])) continue;
    if (value === undefined && kept.length === 0) continue;
    const key = tape.key("write", item, part);
    // A concurrent putWrites does not change the meta record, so the commit must check the record itself.
    batch.check(key, value);
    reclaimed += value?.length ?? 0;
    if (kept.length === 0) batch.delete(key);
    else {
      const smaller = wrapReferring(kept);
      reclaimed -= smaller.length;
      batch.put(key, smaller);
    }
  }
  return reclaimed;
}

/** Returns records with more entries, each in the record of its task. */
export function withEntries(records: readonly WriteRecord[], added: readonly TaskWrites[]): readonly WriteRecord[] {
  if (added.length === 0) return records;
  const all = [...records];
  for (const entry of added) {
    const { item, part } = placeOf(entry.namespace ?? "", entry.checkpoint, entry.task);
    const index = all.findIndex((record) => record.item === item && record.part === part);
    const { value, tasks } = all[index] ?? { value: undefined, tasks: [] };
    const record = { item, part, value, tasks: [...tasks, entry], changed: true } as const;
    if (index < 0) all.push(record);
    else all[index] = record;
  }
  return all;
}

/** Returns the last generation, up to `generation`, in which a checkpoint of this id was deleted; 0: never. */
function cutUpTo(all: readonly TaskWrites[], generation: number): number {
  const cuts = all.filter((entry) => entry.cut && (entry.generation ?? 0) <= generation);
  return Math.max(0, ...cuts.map((entry) => entry.generation ?? 0));
}

/**
 * Drops the writes of removed rows, adds those that the rows carried for others (`putBack`), and returns how many bytes that frees. Writes of an earlier checkpoint under the same
 * id, which a cut separates, may be shown by a fork and stay.
 */
export async function dropWritesOf(
  batch: BatchBuilder,
  context: EngineContext,
  tape: Tape,
  removed: readonly Shown[],
  putBack: readonly TaskWrites[],
): Promise<number> {
  const records = withEntries(await writeRecords(context, tape), putBack);
  const gone = new Set(records.length === 0 ? [] : removed.map((row) => nameOf({ ...row, checkpoint: row.id })));
  return keepTasks(batch, tape, records, (entry, all) => {
    const goes = gone.has(nameOf(entry)) && !entry.cut && (entry.generation ?? 0) >= cutUpTo(all, NOW);
    return goes ? undefined : entry;
  });
}

/**
 * Drops the writes that no thread shows any more, and writes without a checkpoint for which `isOld` holds. Writes from before
 * the deletion of their checkpoint are kept for threads that still see them; a cut is kept to hide them from others.
 *
 * Invariant: `records` are the ones that `seen` was found with. A write that arrived between two reads of the table would
 * be taken for one that nobody shows.
 */
export function dropUnseenWrites(
  batch: BatchBuilder,
  tape: Tape,
  records: readonly WriteRecord[],
  seen: SeenWrites,
  isOld: (entry: TaskWrites) => boolean,
): void {
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
  keepTasks(batch, tape, records, keep);
}

/** Hides the writes of rows that a fork still shows: for this thread they end with this generation. */
export async function cutWrites(
  batch: BatchBuilder,
  context: EngineContext,
  tape: Tape,
  hidden: readonly Shown[],
  generation: number,
): Promise<void> {
  const writes = await writesOfRows(context, tape, hidden);
  const written = hidden.filter((row) => (writes.get(row.seq)?.length ?? 0) > 0);
  if (written.length === 0) return;
  const keys = written.map((row) => cutKey(tape, { namespace: row.namespace, checkpoint: row.id }));
  const before = (await context.read(keys.map((key) => ({ get: key })))) as readonly (Value | undefined)[];
  for (const [index, row] of written.entries()) {
    const cut: TaskWrites = {
      checkpoint: row.id,
      ...(row.namespace !== "" && { namespace: row.namespace }),
      task: CUT_TASK,
      at: context.clock(),
      generation,
      writes: [],
      cut: true,
    };
    const key = keys[index] as Key;
    const value = before[index];
    // A task whose name has the same hash shares the record, and its writes leave the meta record alone.
    batch.check(key, value);
    // Earlier cuts stay: a fork made since goes by the last one it knows.
    const earlier = value === undefined ? [] : (unwrapJson(value) as readonly TaskWrites[]);
    batch.put(key, wrapJson([...earlier, cut]));
  }
}

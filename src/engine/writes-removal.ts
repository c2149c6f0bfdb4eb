import type { Entry, Found, Key, Value } from "../backend.ts";
import { unwrapJson, wrap } from "../codec/envelope.ts";
import type { Engine } from "./engine.ts";
import type { SeenWrites } from "./seen-writes.ts";
import { writesOfRows } from "./shown-writes.ts";
import type { Tape } from "./tape.ts";
import { nameOf, type TaskWrites, writeName } from "./task-writes.ts";
import { NOW, type Shown } from "./view.ts";
import { CUT_TASK, cutKey } from "./writes.ts";

export interface FreedWrites {
  readonly deletes: readonly Key[];
  readonly puts: readonly Entry[];
  /** What these records were: a write leaves the meta record alone, so that one that came since would be lost. */
  readonly checks: readonly { readonly key: Key; readonly value: Value }[];
  readonly reclaimed: number;
}

/**
 * Keeps of a tape's writes what `keep` gives back of an entry: itself, less, or undefined; it is told all that the tape has
 * for the same checkpoint. Records may hold several checkpoints' writes, when hashes collide.
 */
async function withoutTasks(
  engine: Engine,
  tape: Tape,
  keep: (entry: TaskWrites, all: readonly TaskWrites[]) => TaskWrites | undefined,
): Promise<FreedWrites> {
  const [found] = (await engine.read([
    { scan: { table: "write", lineage: tape.lineage, group: tape.number } },
  ])) as readonly [readonly Found[]];
  if (found.length === 0) return { deletes: [], puts: [], checks: [], reclaimed: 0 };
  const deletes: Key[] = [];
  const puts: Entry[] = [];
  const checks: { readonly key: Key; readonly value: Value }[] = [];
  let reclaimed = 0;
  const records = found.map((record) => ({ ...record, tasks: unwrapJson(record.value) as readonly TaskWrites[] }));
  const byName = new Map<string, TaskWrites[]>();
  for (const entry of records.flatMap(({ tasks }) => tasks)) {
    const all = byName.get(nameOf(entry));
    if (all) all.push(entry);
    else byName.set(nameOf(entry), [entry]);
  }
  for (const { item, part, value, tasks } of records) {
    const kept = tasks.flatMap((entry) => keep(entry, byName.get(nameOf(entry)) ?? []) ?? []);
    if (kept.length === tasks.length && kept.every((entry, index) => entry === tasks[index])) continue;
    const key = tape.key("write", item, part);
    checks.push({ key, value });
    reclaimed += value.length;
    if (kept.length === 0) deletes.push(key);
    else {
      const smaller = wrap(JSON.stringify(kept));
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
export function withoutWrites(engine: Engine, tape: Tape, rows: readonly Shown[]): Promise<FreedWrites> {
  // Most threads have no writes left: then nobody asks.
  let gone: Set<string> | undefined;
  return withoutTasks(engine, tape, (entry, all) => {
    gone ??= new Set(rows.map((row) => nameOf({ namespace: row.namespace, checkpoint: row.id })));
    const goes = gone.has(nameOf(entry)) && !entry.cut && (entry.generation ?? 0) >= cutUpTo(all, NOW);
    return goes ? undefined : entry;
  });
}

/**
 * Drops the writes that no thread shows any more, and those of no checkpoint that `isOld` says it of. What was written for a
 * checkpoint before its deletion is only still there for threads that see it; a cut, only to hide that from others.
 */
export function withoutUnseen(
  engine: Engine,
  tape: Tape,
  seen: SeenWrites,
  isOld: (entry: TaskWrites) => boolean,
): Promise<FreedWrites> {
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
  return withoutTasks(engine, tape, keep);
}

/** Hides the writes of checkpoints that a fork still shows: for this thread they end with this generation. */
export async function cutWrites(
  engine: Engine,
  tape: Tape,
  rows: readonly Shown[],
  generation: number,
): Promise<Entry[]> {
  const writes = await writesOfRows(engine, tape, rows);
  const marked = rows.filter((row) => (writes.get(row.seq)?.length ?? 0) > 0);
  if (marked.length === 0) return [];
  const keys = marked.map((row) => cutKey(tape, { namespace: row.namespace, checkpoint: row.id }));
  const before = (await engine.read(keys.map((key) => ({ get: key })))) as readonly (Value | undefined)[];
  return marked.map((row, index) => {
    const cut: TaskWrites = {
      checkpoint: row.id,
      ...(row.namespace !== "" && { namespace: row.namespace }),
      task: CUT_TASK,
      at: engine.clock(),
      generation,
      writes: [],
      cut: true,
    };
    // Earlier cuts stay: a fork made since goes by the last one it knows.
    const value = before[index];
    const earlier = value === undefined ? [] : (unwrapJson(value) as readonly TaskWrites[]);
    return { key: keys[index] as Key, value: wrap(JSON.stringify([...earlier, cut])) };
  });
}

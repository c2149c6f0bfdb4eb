import type { Entry, Found, Key, Value } from "../backend.ts";
import { unwrapJson, wrap } from "../codec/envelope.ts";
import type { Engine } from "./engine.ts";
import { writesOfRows } from "./shown-writes.ts";
import type { Tape } from "./tape.ts";
import type { TaskWrites } from "./task-writes.ts";
import type { Shown } from "./view.ts";
import { CUT_TASK, cutKey } from "./writes.ts";

export interface FreedWrites {
  readonly deletes: readonly Key[];
  readonly puts: readonly Entry[];
  readonly reclaimed: number;
}

/** Drops the writes that `goes` picks from a tape. Records may hold several checkpoints' writes, when hashes collide. */
export async function withoutTasks(
  engine: Engine,
  tape: Tape,
  goes: (entry: TaskWrites, cut: number) => boolean,
): Promise<FreedWrites> {
  const [found] = (await engine.read([
    { scan: { table: "write", lineage: tape.lineage, group: tape.number } },
  ])) as readonly [readonly Found[]];
  if (found.length === 0) return { deletes: [], puts: [], reclaimed: 0 };
  const deletes: Key[] = [];
  const puts: Entry[] = [];
  let reclaimed = 0;
  const records = found.map((record) => ({ ...record, tasks: unwrapJson(record.value) as readonly TaskWrites[] }));
  const cuts = new Map<string, number>();
  for (const entry of records.flatMap(({ tasks }) => tasks)) {
    if (entry.cut) cuts.set(nameOf(entry), Math.max(cuts.get(nameOf(entry)) ?? 0, entry.generation ?? 0));
  }
  for (const { item, part, value, tasks } of records) {
    const kept = tasks.filter((entry) => !goes(entry, cuts.get(nameOf(entry)) ?? 0));
    if (kept.length === tasks.length) continue;
    const key = tape.key("write", item, part);
    reclaimed += value.length;
    if (kept.length === 0) deletes.push(key);
    else {
      const smaller = wrap(JSON.stringify(kept));
      reclaimed -= smaller.length;
      puts.push({ key, value: smaller });
    }
  }
  return { deletes, puts, reclaimed };
}

function nameOf(entry: TaskWrites): string {
  return `${entry.namespace ?? ""}\0${entry.checkpoint}`;
}

/** Writes go with their checkpoint; but those of an earlier one under its id, which was cut, may be a fork's. */
export function withoutWrites(engine: Engine, tape: Tape, rows: readonly Shown[]): Promise<FreedWrites> {
  // Most threads have no writes left: then nobody asks.
  let gone: Set<string> | undefined;
  return withoutTasks(engine, tape, (entry, cut) => {
    gone ??= new Set(rows.map((row) => `${row.namespace}\0${row.id}`));
    return gone.has(nameOf(entry)) && !entry.cut && (entry.generation ?? 0) >= cut;
  });
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

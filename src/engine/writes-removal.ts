import type { Entry, Found, Key } from "../backend.ts";
import { unwrapJson, wrap } from "../codec/envelope.ts";
import type { Engine } from "./engine.ts";
import { hashStrings } from "./hash.ts";
import type { Tape } from "./tape.ts";
import type { Shown } from "./view.ts";
import { shownWrites, type TaskWrites } from "./writes.ts";

/** The part under which the cut of a checkpoint's writes is kept, apart from every task's. */
const CUT_TASK = "\0cut";

export interface FreedWrites {
  readonly deletes: readonly Key[];
  readonly puts: readonly Entry[];
  readonly reclaimed: number;
}

/** Drops the writes that `goes` picks from a tape. Records may hold several checkpoints' writes, when hashes collide. */
export async function withoutTasks(
  engine: Engine,
  tape: Tape,
  goes: (entry: TaskWrites) => boolean,
): Promise<FreedWrites> {
  const [found] = (await engine.read([
    { scan: { table: "write", lineage: tape.lineage, group: tape.number } },
  ])) as readonly [readonly Found[]];
  const deletes: Key[] = [];
  const puts: Entry[] = [];
  let reclaimed = 0;
  for (const { item, part, value } of found) {
    const tasks = unwrapJson(value) as readonly TaskWrites[];
    const kept = tasks.filter((entry) => !goes(entry));
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

/** Writes go with their checkpoint. */
export function withoutWrites(engine: Engine, tape: Tape, rows: readonly Shown[]): Promise<FreedWrites> {
  const gone = new Set(rows.map((row) => `${row.namespace}\0${row.id}`));
  return withoutTasks(engine, tape, (entry) => gone.has(`${entry.namespace ?? ""}\0${entry.checkpoint}`));
}

/** Hides the writes of checkpoints that a fork still shows: for this thread they end with this generation. */
export async function cutWrites(
  engine: Engine,
  tape: Tape,
  rows: readonly Shown[],
  generation: number,
): Promise<Entry[]> {
  const puts: Entry[] = [];
  for (const row of rows) {
    if ((await shownWrites(engine, tape, row.namespace, row.id)).length === 0) continue;
    const [item] = hashStrings(row.namespace, row.id);
    const [part] = hashStrings(CUT_TASK);
    const cut: TaskWrites = {
      checkpoint: row.id,
      ...(row.namespace !== "" && { namespace: row.namespace }),
      task: CUT_TASK,
      at: engine.clock(),
      generation,
      writes: [],
      cut: true,
    };
    puts.push({ key: tape.key("write", item, part), value: wrap(JSON.stringify([cut])) });
  }
  return puts;
}

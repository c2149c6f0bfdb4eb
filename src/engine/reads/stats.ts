import type { Stats } from "../../model/arguments.ts";
import type { Engine } from "../engine.ts";
import { byId } from "./list-threads.ts";

export async function storeStats(engine: Engine): Promise<Stats> {
  let threads = 0;
  let checkpoints = 0;
  for await (const thread of byId(engine, {})) {
    threads += 1;
    checkpoints += thread.checkpoints;
  }
  const { tables, total } = await engine.backend.size();
  const bytes = {
    directory: tables.directory.bytes,
    metadata: tables.meta.bytes + tables.mark.bytes,
    tail: tables.tail.bytes,
    packs: tables.rows.bytes + tables.net.bytes + tables.steps.bytes,
    index: tables.id.bytes + tables.head.bytes,
    writes: tables.write.bytes,
  };
  const sum = Object.values(bytes).reduce((left, right) => left + right, 0);
  return { threads, checkpoints, bytes: { ...bytes, total: total ?? sum } };
}

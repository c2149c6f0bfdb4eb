import type { Stats } from "../../model/arguments.ts";
import type { Context } from "../memory/context.ts";
import { byId } from "./list-threads.ts";

export async function storeStats(context: Context): Promise<Stats> {
  let threads = 0;
  let checkpoints = 0;
  for await (const thread of byId(context, {})) {
    threads += 1;
    checkpoints += thread.checkpoints;
  }
  const { tables, total } = await context.backend.size();
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

import type { Stats } from "../model/arguments.ts";
import { countOf } from "./count.ts";
import type { Engine } from "./engine.ts";
import { allThreads, ifDamaged } from "./threads.ts";

export async function storeStats(engine: Engine): Promise<Stats> {
  let threads = 0;
  let checkpoints = 0;
  for await (const tape of allThreads(engine, { onFault: () => {} })) {
    const count = (await countOf(engine, tape, undefined).catch(ifDamaged)) ?? 0;
    if (count > 0) threads += 1;
    checkpoints += count;
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

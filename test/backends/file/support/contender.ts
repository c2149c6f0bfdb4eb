import { closeSync, openSync, rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { file } from "../../../../src/backends/file/index.ts";
import { recordText } from "../../../support/texts.ts";
import { get, put } from "../../support/tail-records.ts";

/**
 * A process that writes to a store as often as it is told to, opening and closing it each time, so that it has to take the
 * lock each time. While it holds the lock it keeps a file that only one process can create: two holders at once would show.
 */
const [directory = "", inside = "", times = "1"] = process.argv.slice(2);

for (let time = 0; time < Number(times); ) {
  const backend = await file(directory, { fsync: "normal" });
  try {
    await backend.commit([
      { puts: [{ key: { table: "mark", lineage: 9, group: 9, item: process.pid, part: 0 }, value: recordText(time) }] },
    ]);
    closeSync(openSync(inside, "wx"));
    const seen = await get(backend, 1);
    const count = seen === undefined ? 0 : (JSON.parse((seen as string).slice(10)) as number);
    await put(backend, 1, recordText(count + 1));
    rmSync(inside);
    time++;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "BUSY") throw error;
    await delay(10);
  } finally {
    await backend.close();
  }
}

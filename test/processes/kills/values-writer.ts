/**
 * Run by the crash tests as a process of its own, to be killed: writes and gives up large values of one lineage as fast as it
 * can, beside others that do likewise with the same documents.
 */
import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { open } from "../../../src/api/open.ts";
import { directory } from "../../../src/large-values/index.ts";

const [url = "", options = "{}", name = "", folder = ""] = process.argv.slice(2);
const largeValues = { from: 1_000, ...(folder !== "" && { driver: directory(folder) }) };
const store = await open<Record<string, unknown>>(url, { ...JSON.parse(options), packRows: 8, largeValues });

/** A few documents, so that all writers come to the same ones again and again. */
const documents = Array.from({ length: 6 }, (_, n) => `document ${n} `.repeat(150));
const any = (): string => documents[Math.floor(Math.random() * documents.length)] as string;

async function advance(): Promise<never> {
  for (let n = 0; ; n++) {
    const id = `${name}-${n % 4}`;
    const thread = store.thread(id);
    await thread.delete();
    await store.thread("root").fork({ into: id, ...(n % 2 === 0 && { edits: { first: any() } }) });
    for (let step = 0; step < 12; step++) {
      const { id: checkpoint } = await thread.put({ id: `c${step % 9}`, update: { set: { [`f${step % 5}`]: any() } } });
      if (step % 3 === 0) {
        await thread.putWrites(checkpoint, { task: "t", writes: [{ channel: "c", index: -1, value: any() }] });
      }
      if (step % 6 === 5) await thread.prune({ keepLast: 2 });
      writeSync(1, "done\n");
    }
    if (n % 5 === 4) await store.compact();
  }
}

// Usually kept at the end of a process, which this one will not see.
flushCompileCache();
writeSync(1, "ready\n");
await advance();

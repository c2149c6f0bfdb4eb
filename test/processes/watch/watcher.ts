/** Run as a process of its own, to be killed: watches a store and prints every change, from a cursor or from the start on. */
import { writeSync } from "node:fs";
import { open } from "../../../src/api/open.ts";

const [url = "", options = "{}", after] = process.argv.slice(2);
const store = await open(url, JSON.parse(options));
const watch = store.watch(after ? { after } : {});
writeSync(1, `${JSON.stringify({ kind: "start", cursor: await watch.cursor() })}\n`);
for await (const change of watch) writeSync(1, `${JSON.stringify({ ...change, heard: Date.now() })}\n`);

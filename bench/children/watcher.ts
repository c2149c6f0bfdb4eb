/** A process that watches a store, and prints the id of every checkpoint with the time at which it was told: `watcher.ts url`. */
import { open } from "../../src/index.ts";

const store = await open(process.argv[2] as string);
const watch = store.watch({ kinds: ["put"] });
await watch.cursor();
process.stdout.write("ready\n");
for await (const { id } of watch) process.stdout.write(`${id} ${Date.now()}\n`);

import type { Driver } from "../../src/backends/sqlite/driver.ts";
import { sqlite } from "../../src/backends/sqlite/index.ts";
import { nodeDriver } from "../../src/backends/sqlite/node-driver.ts";
import { open } from "../../src/index.ts";
import { StoredTalk } from "../talk.ts";
import type { State } from "../workloads/workload.ts";

/**
 * One of several processes that put into one file as fast as they can, each into a thread of its own: `writer.ts path
 * number seconds mode`. Says "ready", waits for a line on its standard input, and prints what it did.
 */
const [path = "", number = "1", seconds = "1", mode = "turns"] = process.argv.slice(2);

const node = nodeDriver();
if (node === undefined) throw new Error("this Node has no node:sqlite");

/** The same commits, left to SQLite's own way of waiting. */
const busyHandler: Driver = {
  ...node,
  open(file, options) {
    const connection = node.open(file, options);
    connection.exec("PRAGMA busy_timeout = 60000");
    return connection;
  },
};

const store = await open<State>(await sqlite(path, { driver: mode === "turns" ? node : busyHandler, fsync: "full" }));
const talk = await StoredTalk.begin(store, `writer-${number}`, 5);
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));

const begun = talk.steps;
const end = performance.now() + Number(seconds) * 1_000;
let longest = 0;
while (performance.now() < end) {
  talk.prepare();
  const start = performance.now();
  await talk.putUpdate();
  longest = Math.max(longest, performance.now() - start);
}
await talk.check();
process.stdout.write(`${JSON.stringify({ puts: talk.steps - begun, longest })}\n`);
await store.close();
process.exit();

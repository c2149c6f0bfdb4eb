import type { Batch } from "../src/backend.ts";
import type { Driver } from "../src/backends/sqlite/driver.ts";
import { sqlite } from "../src/backends/sqlite/index.ts";
import { nodeDriver } from "../src/backends/sqlite/node-driver.ts";

/**
 * One of several processes that commit to one file as fast as they can: `sqlite-writer.ts path group seconds mode`.
 * Says "ready", waits for a line on its standard input, and prints what it did.
 */
const [path = "", group = "1", seconds = "1", mode = "turns"] = process.argv.slice(2);

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

const backend = await sqlite(path, { driver: mode === "turns" ? node : busyHandler });
const meta = `t1........${"m".repeat(150)}`;
const value = `t1........${"x".repeat(900)}`;
const key = { table: "meta", lineage: Number(group), group: Number(group), item: 1, part: 0 } as const;
await backend.commit([{ puts: [{ key, value: meta }] }]);
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));

const end = performance.now() + Number(seconds) * 1000;
let commits = 0;
let longest = 0;
while (performance.now() < end) {
  const batch: Batch = {
    checks: [{ key, value: meta }],
    inserts: [{ key: { ...key, table: "tail", item: commits }, value }],
  };
  const start = performance.now();
  const [applied] = await backend.commit([batch]);
  longest = Math.max(longest, performance.now() - start);
  if (applied !== true) throw new Error("a commit of this process's own thread was refused");
  commits++;
}
process.stdout.write(`${JSON.stringify({ commits, longest })}\n`);
await backend.close();
process.exit();

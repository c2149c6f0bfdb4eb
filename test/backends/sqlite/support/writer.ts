import { sqlite } from "../../../../src/backends/sqlite/index.ts";

/**
 * Opens a file that may not exist yet and commits to a thread of its own: `writer.ts path group commits`. Says "ready",
 * waits for its input, and prints how many commits were applied.
 */
const [path = "", group = "1", commits = "1"] = process.argv.slice(2);
const lineage = Number(group);
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));

const backend = await sqlite(path);
const meta = { table: "meta", lineage, group: lineage, item: lineage, part: 0 } as const;
await backend.commit([{ inserts: [{ key: meta, value: `t1........${group}` }] }]);
let applied = 0;
for (let item = 0; item < Number(commits); item++) {
  const [one] = await backend.commit([
    {
      checks: [{ key: meta, value: `t1........${group}` }],
      inserts: [{ key: { ...meta, table: "tail", item }, value: `t1........${item}` }],
    },
  ]);
  if (one) applied++;
}
await backend.close();
process.stdout.write(`${applied}\n`, () => process.exit());

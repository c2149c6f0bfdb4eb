import { expect, it } from "vitest";
import type { Key, Range } from "../../../src/backend.ts";
import { sqlite } from "../../../src/backends/sqlite/index.ts";

const meta = (item: number): Key => ({ table: "meta", lineage: 7, group: 7, item, part: 0 });
const tail = (group: number, item: number): Key => ({ table: "tail", lineage: 7, group, item, part: 0 });
const since = (group: number, from: number): Range => ({ table: "tail", lineage: 7, group, from });

it("a record and all that follows it, read in one statement, are what they are when read one by one", async () => {
  const backend = await sqlite(":memory:");
  const inserts = [3, 1, 2, 0xffff_ffff].map((item) => ({ key: tail(11, item), value: `text ${item}` }));
  await backend.commit([
    {
      inserts: [
        { key: meta(11), value: Uint8Array.of(0, 255) },
        { key: meta(12), value: "null" },
        { key: tail(12, 5), value: Uint8Array.of(1) },
        ...inserts,
      ],
    },
  ]);
  for (const group of [10, 11, 12]) {
    for (const from of [0, 2, 6, 0xffff_ffff]) {
      const [get, scan] = [{ get: meta(group) }, { scan: since(group, from) }];
      const apart = [...(await backend.read([get])), ...(await backend.read([scan]))];
      expect(await backend.read([get, scan])).toEqual(apart);
    }
  }
  const [, all] = await backend.read([{ get: meta(11) }, { scan: since(11, 0) }]);
  expect(all).toMatchObject([{ item: 1 }, { item: 2 }, { item: 3 }, { item: 0xffff_ffff }]);
  await backend.close();
});

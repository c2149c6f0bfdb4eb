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

it("the newest records of many tapes, read in one statement, are what they are when read one by one", async () => {
  const backend = await sqlite(":memory:");
  const tapes = Array.from({ length: 40 }, (_, number) => 100 + number);
  const rowsOf = (tape: number): number[] => [1, 2, 3, 0xffff_ffff].slice(0, tape % 5);
  await backend.commit([
    {
      inserts: tapes.flatMap((tape) => [
        ...(tape % 7 === 0 ? [] : [{ key: meta(tape), value: tape % 2 === 0 ? `meta ${tape}` : Uint8Array.of(tape) }]),
        ...rowsOf(tape).map((item) => ({ key: tail(tape, item), value: `row ${tape} ${item}` })),
      ]),
    },
  ]);
  for (const count of [2, 7, 8, 9, 40, 120]) {
    const asked = Array.from({ length: count }, (_, number) => tapes[(number * 3) % 41] ?? 999);
    const reads = asked.flatMap((tape) => [
      { get: meta(tape) },
      { scan: { table: "tail", lineage: 7, group: tape } as const, reverse: true, limit: 2 },
    ]);
    const apart: unknown[] = [];
    for (const read of reads) apart.push(...(await backend.read([read])));
    expect(await backend.read(reads)).toEqual(apart);
  }
  await backend.close();
});

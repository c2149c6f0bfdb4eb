import assert from "node:assert/strict";
import type { Backend, FoundEntry, Key } from "../../backend.ts";
import type { BackendCase } from "./case.ts";
import { at, backendCase, fill, found, tapesOf, text, values } from "./case.ts";

/** Returns numbers up to the declared bound that become one where bits above the 31st or the 32nd are lost. */
function numbersOf(backend: Backend): readonly number[] {
  const beyond = tapesOf(backend);
  const numbers = [5, 2 ** 31 - 2, 2 ** 31 + 5, 2 ** 32 + 5, 2 ** 33 + 2 ** 31 + 5, beyond / 2 + 5, beyond - 1];
  return [...new Set(numbers)].filter((number) => number < beyond).sort((a, b) => a - b);
}

/** Numbers of tapes and lineages up to the bound that a backend declares. */
export const tapeNumberCases: readonly BackendCase[] = [
  backendCase("lineages of all numbers below the declared bound are kept apart", async (backend) => {
    const keys = numbersOf(backend).flatMap((number): readonly Key[] => [
      at("meta", number, number),
      at("tail", number, 7),
      at("write", number, 7, 8),
      at("value", number, 7, 8),
    ]);
    await fill(
      backend,
      keys.map((key) => [key, text(key)] as const),
    );
    assert.deepEqual(await values(backend, ...keys), keys.map(text));
    for (const key of keys) {
      assert.deepEqual(await backend.commit([{ inserts: [{ key, value: text("second") }] }]), [false]);
    }
    const [, ...others] = numbersOf(backend);
    assert.deepEqual(await backend.commit([{ deletes: [at("meta", 5, 5), { table: "tail", lineage: 5, group: 5 }] }]), [
      true,
    ]);
    assert.deepEqual(
      await values(backend, ...others.flatMap((number) => [at("meta", number, number), at("tail", number, 7)])),
      others.flatMap((number) => [text(at("meta", number, number)), text(at("tail", number, 7))]),
    );
  }),

  backendCase("the tapes of a lineage have numbers up to the declared bound, in order", async (backend) => {
    const numbers = numbersOf(backend);
    const lineage = numbers.at(-1) as number;
    const metaOf = (item: number): Key => ({ table: "meta", lineage, group: lineage, item, part: 0 });
    const tailOf = (group: number): Key => ({ table: "tail", lineage, group, item: 1, part: 0 });
    const inserts = numbers.flatMap((number) =>
      [metaOf(number), tailOf(number)].map((key) => ({ key, value: text(number) })),
    );
    assert.deepEqual(await backend.commit([{ inserts }]), [true]);
    const scan = { table: "meta", lineage, group: lineage } as const;
    const items = async (range: object, reverse = false): Promise<readonly number[]> =>
      (await found(backend, { scan: { ...scan, ...range }, reverse })).map(({ item, value }) => {
        assert.equal(value, text(item));
        return item;
      });
    assert.deepEqual(await items({}), numbers);
    assert.deepEqual(await items({}, true), numbers.toReversed());
    for (const [index, number] of numbers.entries()) {
      assert.deepEqual(await items({ from: number }), numbers.slice(index));
      assert.deepEqual(await items({ to: number }), numbers.slice(0, index + 1));
      assert.deepEqual(await items({ from: number, to: number }), [number]);
      assert.deepEqual(await values(backend, metaOf(number), tailOf(number)), [text(number), text(number)]);
    }
    const checks = numbers.map((number) => ({ key: metaOf(number), value: text(number) }));
    assert.deepEqual(await backend.commit([{ checks, deletes: [{ ...scan, to: lineage - 1 }] }]), [true]);
    assert.deepEqual(await items({}), [lineage]);
    const { tables } = await backend.size();
    assert.deepEqual(tables.meta, { records: 1, bytes: text(lineage).length });
  }),

  backendCase("entries name lineages and tapes up to the declared bound, in order", async (backend) => {
    const numbers = numbersOf(backend);
    const entries = numbers.flatMap((lineage) => numbers.map((tape) => ({ text: "same", lineage, tape })));
    for (const lineage of numbers) {
      const add = entries.filter((entry) => entry.lineage === lineage);
      assert.deepEqual(await backend.commit([{ entries: { add: add.toReversed() } }]), [true]);
    }
    const find = { from: "same", to: "samf", limit: 100 };
    const [up, down] = await backend.read([{ find }, { find, reverse: true }]);
    assert.deepEqual((up as readonly FoundEntry[]).map(plain), entries);
    assert.deepEqual((down as readonly FoundEntry[]).map(plain), entries.toReversed());
    for (const [index, after] of entries.entries()) {
      const [rest] = await backend.read([{ find: { ...find, after, limit: 1 } }]);
      assert.deepEqual((rest as readonly FoundEntry[]).map(plain), entries.slice(index + 1, index + 2));
    }
  }),
];

function plain({ text, lineage, tape }: FoundEntry): FoundEntry {
  return { text, lineage, tape };
}

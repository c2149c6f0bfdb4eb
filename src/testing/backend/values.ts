import assert from "node:assert/strict";
import type { Found, Key, Listed, Table } from "../../backend.ts";
import { tables } from "../../backend.ts";
import type { BackendCase } from "./case.ts";
import { at, backendCase, fill, found, listed, tapesOf, text, thread, values } from "./case.ts";

const names = Object.keys(tables) as Table[];

/** Values read back unchanged, under their own key and under no other. */
export const valueCases: readonly BackendCase[] = [
  backendCase("a new store holds nothing", async (backend) => {
    for (const table of names) {
      assert.deepEqual(await values(backend, at(table, 1, 0)), [undefined], table);
      assert.deepEqual(await found(backend, { scan: { table, lineage: 1, group: 1 } }), [], table);
    }
    assert.deepEqual(await values(backend, thread("a")), [undefined]);
    assert.deepEqual(await listed(backend, { limit: 10 }), []);
    assert.deepEqual(await backend.read([]), []);
    assert.deepEqual(await backend.commit([]), []);
    const size = await backend.size();
    for (const table of [...names, "directory"] as const) {
      assert.deepEqual(size.tables[table], { records: 0, bytes: 0 }, table);
    }
    assert.deepEqual(await backend.verify(), []);
  }),

  backendCase("text comes back as text and bytes as bytes, in every table", async (backend) => {
    const bytes = Uint8Array.from([0, 1, 127, 128, 255, 0]);
    for (const table of names) {
      await fill(backend, [
        [at(table, 1, 1), text({ table })],
        [at(table, 1, 2), Uint8Array.from(bytes)],
      ]);
      const [one, two] = await values(backend, at(table, 1, 1), at(table, 1, 2));
      assert.equal(one, text({ table }));
      assert.deepEqual(two, bytes);
    }
    await fill(backend, [
      [thread("text"), text(1)],
      [thread("bytes"), Uint8Array.from(bytes)],
    ]);
    assert.deepEqual(await values(backend, thread("text"), thread("bytes")), [text(1), bytes]);
  }),

  backendCase("bytes that spell text stay bytes", async (backend) => {
    await fill(backend, [[at("net", 1, 1), new TextEncoder().encode(text("é"))]]);
    assert.deepEqual(await values(backend, at("net", 1, 1)), [new TextEncoder().encode(text("é"))]);
  }),

  backendCase("text of any script comes back exactly", async (backend) => {
    const samples = [
      "plain",
      "Grüße",
      "e\u0301 is not é",
      "日本語",
      "😀🏳️‍🌈",
      "\u2028\u2029\ufeff\ufffd\uffff\ue000",
      "\\ \" ' % _ ? $1 :a",
    ];
    samples.push(text("\u0000\u0001\u001f\u007f"), " surrounding spaces ", "\r\n\t", "\u{10ffff}");
    await fill(
      backend,
      samples.map((sample, item) => [at("tail", 1, item), text(sample)] as const),
    );
    const back = await values(backend, ...samples.map((_, item) => at("tail", 1, item)));
    assert.deepEqual(back, samples.map(text));
  }),

  backendCase("a view into a larger buffer stores only its own bytes", async (backend) => {
    const whole = Uint8Array.from({ length: 64 }, (_, index) => index);
    await fill(backend, [[at("write", 1, 1, 1), whole.subarray(10, 20)]]);
    assert.deepEqual(await values(backend, at("write", 1, 1, 1)), [whole.slice(10, 20)]);
  }),

  backendCase("values of megabytes come back exactly", async (backend) => {
    const long = text("0123456789 ünï ".repeat(150_000));
    const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 31) % 251);
    await fill(backend, [
      [at("net", 1, 1), long],
      [at("steps", 1, 1), bytes.slice()],
      [at("write", 1, 1, 1), long],
    ]);
    const back = await values(backend, at("net", 1, 1), at("steps", 1, 1), at("write", 1, 1, 1));
    assert.ok(back[0] === long && back[2] === long, "the text differs");
    assert.deepEqual(back[1], bytes);
  }),

  backendCase("a key names one record: table, group, item and part all count", async (backend) => {
    const keys: Key[] = names.flatMap((table) => [at(table, 1, 1), at(table, 2, 1), at(table, 1, 2)]);
    for (const table of names.filter((name) => tables[name].wide)) keys.push(at(table, 1, 1, 1), at(table, 1, 2, 1));
    await fill(
      backend,
      keys.map((key, index) => [key, text(index)] as const),
    );
    assert.deepEqual(
      await values(backend, ...keys),
      keys.map((_, index) => text(index)),
    );
  }),

  backendCase("keys reach from the least to the greatest integer of their range", async (backend) => {
    const groups = [...new Set([1, 2 ** 21, 2 ** 31 - 1, tapesOf(backend) - 1])];
    const integers = [0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
    const keys = groups.flatMap((group) =>
      integers.flatMap((item) => [at("tail", group, item), ...integers.map((part) => at("write", group, item, part))]),
    );
    await fill(
      backend,
      keys.map((key) => [key, text(key)] as const),
    );
    assert.deepEqual(await values(backend, ...keys), keys.map(text));
    for (const group of groups) {
      const tail = await found(backend, { scan: { table: "tail", lineage: group, group } });
      assert.deepEqual(
        tail.map(({ item }) => item),
        integers,
      );
      const writes = await found(backend, { scan: { table: "write", lineage: group, group } });
      assert.deepEqual(
        writes.map(({ item, part }) => [item, part]),
        integers.flatMap((item) => integers.map((part) => [item, part])),
      );
    }
  }),

  backendCase("several reads are answered in their order", async (backend) => {
    await fill(backend, [
      [thread("a"), text("thread")],
      [at("meta", 1, 1), text("meta")],
      [at("tail", 1, 5), text("tail")],
    ]);
    const answers = await backend.read([
      { scan: { table: "tail", lineage: 1, group: 1 } },
      { get: at("meta", 1, 1) },
      { get: at("meta", 1, 2) },
      { list: { limit: 5 } },
      { get: thread("a") },
    ]);
    const [scanned, present, absent, directory, entry] = answers;
    const [record] = scanned as readonly Found[];
    assert.deepEqual([record?.item, record?.part, record?.value], [5, 0, text("tail")]);
    assert.deepEqual([present, absent, entry], [text("meta"), undefined, text("thread")]);
    const [listing] = directory as readonly Listed[];
    assert.deepEqual([listing?.id, listing?.value], ["a", text("thread")]);
  }),

  backendCase("changing bytes that were read changes nothing stored", async (backend) => {
    await fill(backend, [[at("net", 1, 1), Uint8Array.from([1, 2, 3])]]);
    const [first] = await backend.read([{ get: at("net", 1, 1) }]);
    (first as Uint8Array).fill(9);
    const [rows] = await backend.read([{ scan: { table: "net", lineage: 1, group: 1 } }]);
    (rows as readonly { value: Uint8Array }[])[0]?.value.fill(8);
    assert.deepEqual(await values(backend, at("net", 1, 1)), [Uint8Array.from([1, 2, 3])]);
  }),
];

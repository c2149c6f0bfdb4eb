import assert from "node:assert/strict";
import type { Backend, Entry, Key, Value } from "../../backend.ts";
import type { BackendCase } from "./case.ts";
import { at, backendCase, fill, found, listed, text, thread, values } from "./case.ts";

const meta = at("meta", 1, 1);

async function applies(
  backend: Backend,
  key: Key | ReturnType<typeof thread>,
  value: Value | undefined,
): Promise<boolean> {
  const [applied] = await backend.commit([{ checks: [{ key, value }] }]);
  return applied as boolean;
}

/** Checks, inserts, puts and deletes: the effect of a batch, and the reasons to refuse it. */
export const commitCases: readonly BackendCase[] = [
  backendCase("an insert of a present key refuses the whole batch", async (backend) => {
    await fill(backend, [
      [at("tail", 1, 2), text("old")],
      [at("net", 1, 1), text("kept")],
    ]);
    const batch = {
      deletes: [at("net", 1, 1), { table: "mark", lineage: 1, group: 1 } as const],
      inserts: [1, 2, 3].map((item) => ({ key: at("tail", 1, item), value: text("new") })),
      puts: [{ key: at("meta", 1, 1), value: text("new") }],
    };
    assert.deepEqual(await backend.commit([batch]), [false]);
    assert.deepEqual(await found(backend, { scan: { table: "tail", lineage: 1, group: 1 } }), [
      { item: 2, part: 0, value: text("old") },
    ]);
    assert.deepEqual(await values(backend, at("net", 1, 1), meta), [text("kept"), undefined]);
    assert.deepEqual(await backend.commit([{ ...batch, inserts: [{ key: at("tail", 1, 3), value: text(3) }] }]), [
      true,
    ]);
    assert.deepEqual(await values(backend, at("net", 1, 1), meta, at("tail", 1, 3)), [undefined, text("new"), text(3)]);
  }),

  backendCase("inserts are refused by key in wide tables and the directory too", async (backend) => {
    const keys = [at("write", 1, 5, 6), at("id", 1, 5, 6), at("head", 1, 5, 6), thread("a")];
    for (const key of keys) {
      assert.deepEqual(await backend.commit([{ inserts: [{ key, value: text("first") }] }]), [true]);
      assert.deepEqual(await backend.commit([{ inserts: [{ key, value: text("second") }] }]), [false]);
      assert.deepEqual(await values(backend, key), [text("first")]);
    }
    assert.deepEqual(await backend.commit([{ inserts: [{ key: at("write", 1, 5, 7), value: text("other part") }] }]), [
      true,
    ]);
  }),

  backendCase("a put writes whether or not the key exists", async (backend) => {
    for (const key of [meta, at("write", 1, 1, 1), thread("a")]) {
      for (const value of [text("one"), Uint8Array.from([1, 2]), text("three")]) {
        assert.deepEqual(await backend.commit([{ puts: [{ key, value }] }]), [true]);
        assert.deepEqual(await values(backend, key), [value]);
      }
    }
  }),

  backendCase("a check holds for exactly the value, and for absence", async (backend) => {
    const bytes = Uint8Array.from([1, 2, 3]);
    for (const key of [meta, at("id", 1, 2, 3), thread("a")]) {
      assert.equal(await applies(backend, key, undefined), true);
      assert.equal(await applies(backend, key, text("a")), false);
      await fill(backend, [[key, text("a")]]);
      assert.equal(await applies(backend, key, undefined), false);
      assert.equal(await applies(backend, key, text("a")), true);
      assert.equal(await applies(backend, key, text("A")), false);
      assert.equal(await applies(backend, key, `${text("a")} `), false);
      assert.equal(await applies(backend, key, new TextEncoder().encode(text("a"))), false);
      await fill(backend, [[key, bytes.slice()]]);
      assert.equal(await applies(backend, key, bytes.slice()), true);
      assert.equal(await applies(backend, key, bytes.slice(0, 2)), false);
      assert.equal(await applies(backend, key, String.fromCharCode(...bytes)), false);
    }
  }),

  backendCase("one failed check of several refuses everything", async (backend) => {
    await fill(backend, [[meta, text("here")]]);
    const checks = [
      { key: meta, value: text("here") },
      { key: thread("a"), value: undefined },
      { key: at("mark", 1, 1), value: text("not there") },
    ];
    const inserts = [{ key: at("tail", 1, 1), value: text(1) }];
    const puts = [{ key: thread("a"), value: text(1) }];
    assert.deepEqual(await backend.commit([{ checks, inserts, puts, deletes: [meta] }]), [false]);
    assert.deepEqual(await values(backend, meta, thread("a"), at("tail", 1, 1)), [text("here"), undefined, undefined]);
    assert.deepEqual(await backend.commit([{ checks: checks.slice(0, 2), inserts, puts, deletes: [meta] }]), [true]);
    assert.deepEqual(await values(backend, meta, thread("a"), at("tail", 1, 1)), [undefined, text(1), text(1)]);
  }),

  backendCase("checks are judged before the batch's own changes", async (backend) => {
    await fill(backend, [[meta, text(1)]]);
    const batch = { checks: [{ key: meta, value: text(1) }], puts: [{ key: meta, value: text(2) }] };
    assert.deepEqual(await backend.commit([batch]), [true]);
    assert.deepEqual(await backend.commit([batch]), [false]);
    assert.deepEqual(await values(backend, meta), [text(2)]);
  }),

  backendCase("a check and an insert, the commit of every step, are applied together", async (backend) => {
    await fill(backend, [[meta, text({ head: 0 })]]);
    const step = (item: number, seen: Value | undefined): Promise<readonly boolean[]> =>
      backend.commit([
        { checks: [{ key: meta, value: seen }], inserts: [{ key: at("tail", 1, item), value: text(item) }] },
      ]);
    assert.deepEqual(await step(1, text({ head: 0 })), [true]);
    assert.deepEqual(await step(1, text({ head: 0 })), [false], "the key is taken");
    assert.deepEqual(await step(2, text({ head: 1 })), [false], "the check fails");
    assert.deepEqual(await step(2, undefined), [false], "the record is there");
    assert.deepEqual(await step(2, text({ head: 0 })), [true]);
    assert.deepEqual(await found(backend, { scan: { table: "tail", lineage: 1, group: 1 } }), [
      { item: 1, part: 0, value: text(1) },
      { item: 2, part: 0, value: text(2) },
    ]);
  }),

  backendCase("deletes accept keys and ranges, and ignore absent records", async (backend) => {
    const all = [0, 1, 2, 3, 4, 5, 2 ** 32 - 1];
    await fill(backend, [
      ...all.map((item) => [at("tail", 1, item), text(item)] as const),
      ...all.flatMap((item) =>
        [at("write", 1, item, 0), at("write", 1, item, 2 ** 32 - 1)].map((key) => [key, text(item)] as const),
      ),
      [at("tail", 2, 1), text("another group")],
      [thread("a"), text(1)],
      [thread("b"), text(1)],
    ]);
    const range = { table: "tail", lineage: 1, group: 1 } as const;
    const rest = async (): Promise<readonly number[]> =>
      (await found(backend, { scan: range })).map(({ item }) => item);
    assert.deepEqual(
      await backend.commit([
        { deletes: [at("tail", 1, 4), at("tail", 1, 99), thread("a")] },
        { deletes: [thread("none")] },
      ]),
      [true, true],
    );
    assert.deepEqual(await rest(), [0, 1, 2, 3, 5, 2 ** 32 - 1]);
    assert.deepEqual(await listed(backend, { limit: 9 }), ["b"]);
    assert.deepEqual(await backend.commit([{ deletes: [{ ...range, from: 1, to: 2 }] }]), [true]);
    assert.deepEqual(await rest(), [0, 3, 5, 2 ** 32 - 1]);
    assert.deepEqual(
      await backend.commit([
        {
          deletes: [
            { ...range, to: 0 },
            { ...range, from: 4 },
          ],
        },
      ]),
      [true],
    );
    assert.deepEqual(await rest(), [3]);
    assert.deepEqual(await backend.commit([{ deletes: [range] }]), [true]);
    assert.deepEqual(await rest(), []);
    assert.deepEqual(await values(backend, at("tail", 2, 1)), [text("another group")]);

    const wide = { table: "write", lineage: 1, group: 1 } as const;
    const parts = async (): Promise<readonly number[][]> =>
      (await found(backend, { scan: wide })).map(({ item, part }) => [item, part]);
    assert.deepEqual(await backend.commit([{ deletes: [{ ...wide, from: 1, to: 5 }, at("write", 1, 0, 0)] }]), [true]);
    assert.deepEqual(await parts(), [
      [0, 2 ** 32 - 1],
      [2 ** 32 - 1, 0],
      [2 ** 32 - 1, 2 ** 32 - 1],
    ]);
    assert.deepEqual(await backend.commit([{ deletes: [wide] }]), [true]);
    assert.deepEqual(await parts(), []);
  }),

  backendCase("deletes come before puts", async (backend) => {
    await fill(
      backend,
      [1, 2, 3].map((item) => [at("net", 1, item), text("old")] as const),
    );
    const deletes = [{ table: "net", lineage: 1, group: 1 } as const, thread("a")];
    const puts = [
      { key: at("net", 1, 2), value: text("new") },
      { key: thread("a"), value: text("new") },
    ];
    assert.deepEqual(await backend.commit([{ deletes, puts }]), [true]);
    assert.deepEqual(await found(backend, { scan: { table: "net", lineage: 1, group: 1 } }), [
      { item: 2, part: 0, value: text("new") },
    ]);
    assert.deepEqual(await values(backend, thread("a")), [text("new")]);
  }),

  backendCase(
    "of a key that a batch writes twice, the last value counts, and a put's before an insert's",
    async (backend) => {
      for (const key of [at("tail", 1, 1), at("write", 1, 1, 1), thread("a")]) {
        const [first, second] = ["first", "second"].map((name) => ({ key, value: text(name) })) as [Entry, Entry];
        assert.deepEqual(await backend.commit([{ inserts: [first, second] }]), [true]);
        assert.deepEqual(await values(backend, key), [second.value]);
        assert.deepEqual(await backend.commit([{ deletes: [key], inserts: [second], puts: [first] }]), [true]);
        assert.deepEqual(await values(backend, key), [first.value]);
        assert.deepEqual(await backend.commit([{ inserts: [second], puts: [second] }]), [false]);
        assert.deepEqual(await backend.commit([{ puts: [first, second] }]), [true]);
        assert.deepEqual(await values(backend, key), [second.value]);
      }
    },
  ),

  backendCase("an empty batch is applied", async (backend) => {
    assert.deepEqual(await backend.commit([{}]), [true]);
    assert.deepEqual(await backend.commit([{ checks: [], inserts: [], puts: [], deletes: [] }, {}]), [true, true]);
  }),
];

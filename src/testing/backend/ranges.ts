import assert from "node:assert/strict";
import type { Backend } from "../../backend.ts";
import type { BackendCase } from "./case.ts";
import { at, backendCase, fill, found, listed, text, thread, values } from "./case.ts";

const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

async function items(backend: Backend, read: Parameters<typeof found>[1]): Promise<readonly number[]> {
  return (await found(backend, read)).map(({ item }) => item);
}

async function threads(backend: Backend, ids: readonly string[]): Promise<void> {
  await fill(
    backend,
    ids.map((id) => [thread(id), text(id)] as const),
  );
}

/** Scans of a group, and lists of the directory: order, bounds, limits. */
export const rangeCases: readonly BackendCase[] = [
  backendCase("a scan is in numeric order of item, with both bounds included", async (backend) => {
    const order = [0, 2, 9, 10, 100, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
    await fill(
      backend,
      order.toReversed().map((item) => [at("tail", 3, item), text(item)] as const),
    );
    const scan = { table: "tail", lineage: 3, group: 3 } as const;
    assert.deepEqual(
      await found(backend, { scan }),
      order.map((item) => ({ item, part: 0, value: text(item) })),
    );
    assert.deepEqual(await items(backend, { scan: { ...scan, from: 9 } }), order.slice(2));
    assert.deepEqual(await items(backend, { scan: { ...scan, to: 100 } }), order.slice(0, 5));
    assert.deepEqual(await items(backend, { scan: { ...scan, from: 2, to: 10 } }), [2, 9, 10]);
    assert.deepEqual(await items(backend, { scan: { ...scan, from: 3, to: 8 } }), []);
    assert.deepEqual(await items(backend, { scan: { ...scan, from: 10, to: 2 } }), []);
    assert.deepEqual(await items(backend, { scan: { ...scan, from: 10, to: 10 } }), [10]);
    assert.deepEqual(await items(backend, { scan, reverse: true }), order.toReversed());
    assert.deepEqual(await items(backend, { scan, limit: 3 }), order.slice(0, 3));
    assert.deepEqual(await items(backend, { scan: { ...scan, to: 100 }, reverse: true, limit: 2 }), [100, 10]);
    assert.deepEqual(await items(backend, { scan: { ...scan, from: 10 }, reverse: true, limit: 100 }), [
      ...order.slice(3).toReversed(),
    ]);
    assert.deepEqual(await items(backend, { scan, limit: 0 }), []);
    assert.deepEqual(await items(backend, { scan, limit: Number.POSITIVE_INFINITY }), order);
  }),

  backendCase("a scan sees its own group only", async (backend) => {
    await fill(backend, [
      [at("rows", 4, 2 ** 32 - 1), text("before")],
      [at("rows", 5, 0), text("first")],
      [at("rows", 5, 2 ** 32 - 1), text("last")],
      [at("rows", 6, 0), text("after")],
      [at("net", 5, 1), text("another table")],
    ]);
    const scan = { table: "rows", lineage: 5, group: 5 } as const;
    assert.deepEqual(await items(backend, { scan }), [0, 2 ** 32 - 1]);
    assert.deepEqual(await items(backend, { scan, reverse: true }), [2 ** 32 - 1, 0]);
    assert.deepEqual(await items(backend, { scan: { ...scan, group: 7, lineage: 7 } }), []);
  }),

  backendCase(
    "bounds outside the range of items take all that is inside, and nothing of other groups",
    async (backend) => {
      for (const table of ["rows", "write"] as const) {
        await fill(
          backend,
          [4, 5, 6].flatMap((group) =>
            [0, 7, 2 ** 32 - 1].map((item) => [at(table, group, item), text(group)] as const),
          ),
        );
        const scan = { table, lineage: 5, group: 5 } as const;
        const infinity = Number.POSITIVE_INFINITY;
        assert.deepEqual(await items(backend, { scan: { ...scan, from: 1, to: infinity } }), [7, 2 ** 32 - 1]);
        assert.deepEqual(await items(backend, { scan: { ...scan, to: 2 ** 33 }, reverse: true, limit: 1 }), [
          2 ** 32 - 1,
        ]);
        assert.deepEqual(await items(backend, { scan: { ...scan, from: -1, to: 7 } }), [0, 7]);
        assert.deepEqual(await items(backend, { scan: { ...scan, to: -1 } }), []);
        assert.deepEqual(await items(backend, { scan: { ...scan, from: 2 ** 32 } }), []);
        assert.deepEqual(
          await backend.commit([
            {
              deletes: [
                { ...scan, from: 1, to: infinity },
                { ...scan, to: -1 },
              ],
            },
          ]),
          [true],
        );
        assert.deepEqual(await items(backend, { scan }), [0]);
        for (const group of [4, 6]) {
          assert.equal((await items(backend, { scan: { table, lineage: group, group } })).length, 3);
        }
      }
    },
  ),

  backendCase("tapes of a lineage are kept apart, and its meta records together", async (backend) => {
    const lineage = 9;
    await fill(backend, [
      [{ table: "tail", lineage, group: 20, item: 1, part: 0 }, text("a")],
      [{ table: "tail", lineage, group: 21, item: 1, part: 0 }, text("b")],
      [{ table: "meta", lineage, group: lineage, item: 20, part: 0 }, text("A")],
      [{ table: "meta", lineage, group: lineage, item: 21, part: 0 }, text("B")],
    ]);
    assert.deepEqual(await found(backend, { scan: { table: "tail", lineage, group: 21 } }), [
      { item: 1, part: 0, value: text("b") },
    ]);
    assert.deepEqual(await items(backend, { scan: { table: "meta", lineage, group: lineage } }), [20, 21]);
  }),

  backendCase(
    "a scan of a wide table is in order of item, then part, and has all parts of an item",
    async (backend) => {
      const places = [0, 7, 2 ** 31, 2 ** 32 - 1].flatMap((item) =>
        [0, 3, 2 ** 31, 2 ** 32 - 1].map((part) => ({ item, part })),
      );
      for (const table of ["id", "head", "write"] as const) {
        await fill(
          backend,
          places.toReversed().map(({ item, part }) => [at(table, 2, item, part), text([item, part])] as const),
        );
        const scan = { table, lineage: 2, group: 2 } as const;
        const all = places.map(({ item, part }) => ({ item, part, value: text([item, part]) }));
        assert.deepEqual(await found(backend, { scan }), all);
        assert.deepEqual(await found(backend, { scan, reverse: true }), all.toReversed());
        assert.deepEqual(await found(backend, { scan: { ...scan, from: 7, to: 7 } }), all.slice(4, 8));
        assert.deepEqual(await found(backend, { scan: { ...scan, from: 1, to: 2 ** 31 }, limit: 6 }), all.slice(4, 10));
        assert.deepEqual(await found(backend, { scan: { ...scan, to: 7 }, reverse: true, limit: 5 }), [
          ...all.slice(3, 8).toReversed(),
        ]);
      }
    },
  ),

  backendCase("the directory is in bytewise order of id, and ids are told apart byte by byte", async (backend) => {
    const ids = [
      "b",
      "a",
      "A",
      "aa",
      "a ",
      " a",
      "é",
      "e\u0301",
      "ß",
      "ss",
      "~",
      "\ue000",
      "\uffff",
      "😀",
      "\u{10ffff}",
      "\u0001",
      "10",
      "9",
    ];
    ids.push("é".repeat(256), "x".repeat(512), "../../etc", "a/b", "a'b", 'a"b', "a\\b", "%", "_", "*", "[a]");
    await threads(backend, ids);
    const sorted = ids.toSorted(bytewise);
    assert.deepEqual(await listed(backend, { limit: 1000 }), sorted);
    assert.deepEqual(await values(backend, ...ids.map(thread)), ids.map(text));
    assert.deepEqual(await listed(backend, { limit: 3 }), sorted.slice(0, 3));
    assert.deepEqual(await listed(backend, { limit: Number.POSITIVE_INFINITY }), sorted);
  }),

  backendCase("a list has all ids that start with the prefix, whatever the prefix ends in", async (backend) => {
    const stems = [
      "a",
      "A",
      "%",
      "_",
      "a_",
      "a%",
      "*",
      "[",
      "\\",
      "'",
      "\u007f",
      "\u07ff",
      "\ud7ff",
      "\ue000",
      "\uffff",
      "😀",
      "\u{10ffff}",
    ];
    const ids = [
      ...new Set(
        stems.flatMap((stem) => [stem, `${stem}z`, `${stem}\u{10ffff}`, `${stem}\u{10ffff}\u{10ffff}z`, `z${stem}`]),
      ),
    ];
    await threads(backend, ids);
    for (const prefix of ["", ...stems, "z", "none", "\u{10ffff}\u{10ffff}"]) {
      const expected = ids.filter((id) => id.startsWith(prefix)).toSorted(bytewise);
      assert.deepEqual(await listed(backend, { prefix, limit: 1000 }), expected, JSON.stringify(prefix));
    }
  }),

  backendCase("a list continues after an id, which need not exist", async (backend) => {
    const ids = ["a", "b/1", "b/2", "b/3", "c", "é", "😀"];
    await threads(backend, ids);
    assert.deepEqual(await listed(backend, { after: "b/1", limit: 2 }), ["b/2", "b/3"]);
    assert.deepEqual(await listed(backend, { after: "b/10", limit: 10 }), ids.slice(2));
    assert.deepEqual(await listed(backend, { prefix: "b/", after: "b/2", limit: 10 }), ["b/3"]);
    assert.deepEqual(await listed(backend, { prefix: "b/", after: "a", limit: 10 }), ["b/1", "b/2", "b/3"]);
    assert.deepEqual(await listed(backend, { prefix: "b/", after: "c", limit: 10 }), []);
    assert.deepEqual(await listed(backend, { prefix: "b/", after: "b/3", limit: 10 }), []);
    assert.deepEqual(await listed(backend, { after: "\u{10ffff}", limit: 10 }), []);
  }),

  backendCase("paging through the directory meets every id once", async (backend) => {
    const ids = Array.from({ length: 100 }, (_, index) => `${["", "é", "😀", "\uffff"][index % 4]}thread-${index}`);
    await threads(backend, ids);
    const seen: string[] = [];
    for (;;) {
      const after = seen.at(-1);
      const page = await listed(backend, { limit: 7, ...(after === undefined ? {} : { after }) });
      if (page.length === 0) break;
      seen.push(...page);
    }
    assert.deepEqual(seen, ids.toSorted(bytewise));
  }),
];

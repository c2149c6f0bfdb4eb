import assert from "node:assert/strict";
import type { Answer, Backend, Found, FoundEntry, IndexEntry, Key, Read } from "../../backend.ts";
import type { BackendCase } from "./case.ts";
import { at, backendCase, fill, text, using, values } from "./case.ts";

type Find = Extract<Read, { find: unknown }>;

function entry(name: string, tape = 1, lineage = tape): IndexEntry {
  return { text: name, lineage, tape };
}

async function add(backend: Backend, ...entries: readonly IndexEntry[]): Promise<void> {
  const batches = entries.map((one) => ({ entries: { add: [one] } }));
  assert.deepEqual(
    await backend.commit(batches),
    batches.map(() => true),
  );
}

async function find(backend: Backend, bounds: Partial<Find["find"]> = {}, reverse = false): Promise<readonly string[]> {
  const [answer] = await backend.read([{ find: { from: "a", to: "z", limit: 100, ...bounds }, reverse }]);
  return (answer as readonly IndexEntry[]).map(({ text, lineage, tape }) => `${text} ${lineage}:${tape}`);
}

/** Returns entries without whatever else a driver's rows have. */
function plain(answer: Answer): readonly IndexEntry[] {
  return (answer as readonly IndexEntry[]).map(({ text, lineage, tape }) => ({ text, lineage, tape }));
}

async function tally(backend: Backend, from = "a", to = "z"): Promise<unknown> {
  return (await backend.read([{ tally: { from, to } }]))[0];
}

/** The ordered set of texts under which tapes are found. */
export const entryCases: readonly BackendCase[] = [
  backendCase("a store without entries finds and counts none", async (backend) => {
    assert.deepEqual(await find(backend), []);
    assert.equal(await tally(backend), 0);
  }),

  backendCase(
    "entries of all lineages are found in bytewise order of text, then by lineage and tape",
    async (backend) => {
      // U+FF5E sorts before the emoji by its bytes, and behind it by its UTF-16 units.
      const names = ["c", "b", "b\u{1f600}", "b\uff5e", "bé", "B"];
      await add(backend, ...names.map((name, index) => entry(name, index + 1)), entry("b", 9, 2), entry("b", 3, 2));
      const order = ["b 2:2", "b 2:3", "b 2:9", "bé 5:5", "b\uff5e 4:4", "b\u{1f600} 3:3", "c 1:1"];
      assert.deepEqual(await find(backend), order);
      assert.deepEqual(await find(backend, {}, true), order.toReversed());
      assert.equal(await tally(backend), order.length);
    },
  ),

  backendCase("a find includes its lower bound, leaves out its upper one, and stops at its limit", async (backend) => {
    await add(backend, ...["b", "ba", "c", "d"].map((name, index) => entry(name, index + 1)));
    assert.deepEqual(await find(backend, { from: "b", to: "d" }), ["b 1:1", "ba 2:2", "c 3:3"]);
    assert.deepEqual(await find(backend, { from: "b", to: "d" }, true), ["c 3:3", "ba 2:2", "b 1:1"]);
    assert.deepEqual(await find(backend, { from: "b", to: "d", limit: 2 }), ["b 1:1", "ba 2:2"]);
    assert.deepEqual(await find(backend, { from: "b", to: "d", limit: 2 }, true), ["c 3:3", "ba 2:2"]);
    assert.deepEqual(await find(backend, { limit: 0 }), []);
    assert.deepEqual(await find(backend, { from: "d", to: "b" }), []);
    assert.equal(await tally(backend, "b", "c"), 2);
    assert.equal(await tally(backend, "d", "b"), 0);
  }),

  backendCase("newest records of tapes that come with entries are those that other reads give", async (backend) => {
    const key = (table: "meta" | "tail", group: number, item: number): Key => ({
      table,
      lineage: 1,
      group,
      item,
      part: 0,
    });
    for (const tape of [2, 3, 4]) {
      const rows = Array.from({ length: tape - 2 + (tape === 4 ? 1 : 0) }, (_, seq) => key("tail", tape, 10 + seq));
      const inserts = [key("meta", 1, tape), ...rows].map((one) => ({
        key: one,
        value: `1j00000000"${tape}:${one.item}"`,
      }));
      // Entries that name no tape are possible for a moment; so are tapes without rows.
      const add = [entry("b", tape, 1), entry("c", tape, 1), entry("d", tape + 10, 1)];
      assert.deepEqual(await backend.commit([{ inserts: inserts.slice(tape === 3 ? 1 : 0), entries: { add } }]), [
        true,
      ]);
    }
    for (const reverse of [true, false]) {
      const [plain] = await backend.read([{ find: { from: "a", to: "z", limit: 100 }, reverse }]);
      const [found] = await backend.read([{ find: { from: "a", to: "z", limit: 100, tapes: 1 }, reverse }]);
      const bare = (found as readonly FoundEntry[]).map(({ text, lineage, tape }) => ({ text, lineage, tape }));
      assert.deepEqual(
        bare,
        (plain as readonly FoundEntry[]).map((one) => ({ ...one })),
      );
      const two = [
        { find: { from: "b", to: "c", limit: 2, tapes: 1 }, reverse },
        { find: { from: "c", to: "e", limit: 2, tapes: 1 }, reverse },
      ] as const;
      const together = (await backend.read(two)) as readonly (readonly FoundEntry[])[];
      for (const [index, { find }] of two.entries()) {
        const { from, to, limit } = find;
        const [alone] = await backend.read([{ find: { from, to, limit }, reverse }]);
        assert.deepEqual(
          (together[index] ?? []).map(({ text, lineage, tape }) => ({ text, lineage, tape })),
          (alone as readonly FoundEntry[]).map((one) => ({ ...one })),
        );
      }
      for (const { tape, records } of [...(found as readonly FoundEntry[]), ...together.flat()]) {
        if (records === undefined) continue;
        const scan = { table: "tail", lineage: 1, group: tape } as const;
        const [meta, tail] = await backend.read([{ get: key("meta", 1, tape) }, { scan, reverse: true, limit: 2 }]);
        assert.equal(records.meta, meta);
        assert.deepEqual(
          [...records.tail],
          (tail as readonly Found[]).map((one) => ({ ...one })),
        );
      }
    }
  }),
  backendCase("a find goes on behind an entry, whether or not that is still there", async (backend) => {
    await add(backend, entry("b", 1, 7), entry("b", 2, 7), entry("b", 3, 8), entry("c", 4));
    assert.deepEqual(await find(backend, { after: entry("b", 2, 7) }), ["b 8:3", "c 4:4"]);
    assert.deepEqual(await find(backend, { after: entry("b", 2, 7) }, true), ["b 7:1"]);
    assert.deepEqual(await find(backend, { after: entry("b", 9, 7) }), ["b 8:3", "c 4:4"]);
    assert.deepEqual(await find(backend, { after: entry("bb", 1) }, true), ["b 8:3", "b 7:2", "b 7:1"]);
    // Behind an entry outside of the bounds, reading begins at the bound.
    assert.deepEqual(await find(backend, { from: "b", after: entry("a", 1), limit: 1 }), ["b 7:1"]);
    assert.deepEqual(await find(backend, { to: "d", after: entry("x", 1), limit: 1 }, true), ["c 4:4"]);
    assert.deepEqual(await find(backend, { to: "c", after: entry("c", 9) }), []);
    assert.deepEqual(await find(backend, { from: "c", after: entry("b", 1) }, true), []);
  }),

  backendCase("a batch removes entries before it adds others, whether or not they are there", async (backend) => {
    await add(backend, entry("b"), entry("c"));
    const batch = {
      entries: { remove: [entry("b"), entry("q"), entry("c")], add: [entry("c"), entry("d"), entry("d")] },
    };
    assert.deepEqual(await backend.commit([batch]), [true]);
    assert.deepEqual(await find(backend), ["c 1:1", "d 1:1"]);
    for (const other of [entry("c", 2, 1), entry("d", 1, 2)]) await backend.commit([{ entries: { remove: [other] } }]);
    assert.deepEqual(await find(backend), ["c 1:1", "d 1:1"]);
  }),

  backendCase("entries are changed together with the records of their batch, or not at all", async (backend) => {
    await fill(backend, [[at("meta", 1, 1), text("now")]]);
    const change = (expected: string, name: string) => ({
      checks: [{ key: at("meta", 1, 1), value: text(expected) }],
      inserts: [{ key: at("tail", 1, 1), value: text("row") }],
      entries: { add: [entry(name)] },
    });
    assert.deepEqual(await backend.commit([change("before", "refused")]), [false]);
    assert.deepEqual(await find(backend), []);
    assert.deepEqual(await backend.commit([change("now", "kept")]), [true]);
    assert.deepEqual(await backend.commit([change("now", "twice")]), [false]);
    assert.deepEqual(await find(backend), ["kept 1:1"]);
    assert.deepEqual(await values(backend, at("tail", 1, 1)), [text("row")]);
  }),

  backendCase("a text of 700 bytes with quotes and controls comes back as it was", async (backend) => {
    const odd = `b"\\\n\t\u0001'%_ü${"😀".repeat(170)}`;
    const long = odd + "x".repeat(700 - Buffer.byteLength(odd));
    await add(backend, entry(long));
    const [answer] = await backend.read([{ find: { from: "b", to: "c", limit: 1 } }]);
    assert.deepEqual(plain(answer), [entry(long)]);
  }),

  backendCase("size counts entries and the bytes of their texts", async (backend) => {
    await add(backend, entry("é"), entry("bc", 2));
    assert.deepEqual((await backend.size()).tables.entry, { records: 2, bytes: 4 });
  }),

  backendCase("reads of records and of entries are answered from one snapshot", async (backend) => {
    const put = async (version: number): Promise<void> => {
      const key = at("meta", 1, 1);
      const remove = [entry(`b${version - 1}`)];
      await backend.commit([
        { puts: [{ key, value: text(version) }], entries: { remove, add: [entry(`b${version}`)] } },
      ]);
    };
    await put(1);
    const writing = (async () => {
      for (let version = 2; version <= 20; version++) await put(version);
    })();
    for (let round = 0; round < 20; round++) {
      const [value, entries, count] = await backend.read([
        { get: at("meta", 1, 1) },
        { find: { from: "b", to: "c", limit: 10 } },
        { tally: { from: "b", to: "c" } },
      ]);
      const version = JSON.parse((value as string).slice(10)) as number;
      assert.deepEqual([plain(entries), count], [[entry(`b${version}`)], 1]);
    }
    await writing;
  }),

  {
    name: "entries are there when the store is opened again, also after compact",
    requires: "durable",
    run: async (open) => {
      await using(open, async (backend) => {
        await add(backend, entry("b"), entry("c", 2), entry("d", 3));
        await backend.commit([{ entries: { remove: [entry("c", 2)] } }]);
      });
      await using(open, async (backend) => {
        assert.deepEqual(await find(backend), ["b 1:1", "d 3:3"]);
        await backend.compact();
        assert.deepEqual(await find(backend), ["b 1:1", "d 3:3"]);
      });
      await using(open, async (backend) => {
        assert.deepEqual(await find(backend), ["b 1:1", "d 3:3"]);
        assert.deepEqual(await backend.verify(), []);
      });
    },
  },
];

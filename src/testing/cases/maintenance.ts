import assert from "node:assert/strict";
import type { Store } from "../../store.ts";
import type { Case, Free } from "../case.ts";
import { converse, readsBack } from "../conversation.ts";
import { exact } from "../exact.ts";
import { failsWith } from "../failures.ts";
import { collect, idsOf, renamed, snapshot } from "../snapshot.ts";

const counts = async (store: Store<Free>): Promise<number[]> => {
  const { threads, checkpoints } = await store.stats();
  return [threads, checkpoints];
};

export const maintenance: readonly Case[] = [
  {
    name: "stats: counts threads and checkpoints as they come, fork and go",
    async run({ open }) {
      const store = await open();
      exact(await counts(store), [0, 0]);
      const thread = store.thread("t");
      const kept = await converse(thread, 100);
      await store.thread("t", { namespace: ["sub"] }).put({ state: {} });
      await thread.putWrites("orphan", { task: "t", writes: [{ channel: "c", value: 1 }] });
      await store.thread("bare").putWrites("orphan", { task: "t", writes: [{ channel: "c", value: 1 }] });
      exact(await counts(store), [1, 101]);
      await thread.fork({ at: kept[9]?.id ?? "", into: "f" });
      exact(await counts(store), [2, 111]);
      await thread.copy("k");
      exact(await counts(store), [3, 212]);
      await thread.prune({ keepLast: 1 });
      exact(await counts(store), [3, 113]);
      await thread.delete();
      exact(await counts(store), [2, 111]);
      exact(await counts(await open()), [2, 111]);
    },
  },
  {
    name: "stats: bytes grow with what is put, and not with forks and copies of it",
    async run({ open }) {
      const store = await open();
      const total = async (): Promise<number> => {
        const { bytes } = await store.stats();
        const kinds = ["directory", "metadata", "tail", "packs", "index", "writes"] as const;
        for (const kind of kinds) assert.ok(Number.isSafeInteger(bytes[kind]) && bytes[kind] >= 0, kind);
        return kinds.reduce((sum, kind) => sum + bytes[kind], 0);
      };
      const empty = await total();
      const thread = store.thread("t");
      await thread.put({ state: { text: "x".repeat(100_000), list: [] } });
      for (let n = 0; n < 100; n++) await thread.put({ update: { append: { list: [n] } } });
      const filled = await total();
      assert.ok(filled - empty >= 100_000 && filled - empty < 300_000, `${filled - empty} bytes for 100 small steps`);
      for (let n = 0; n < 10; n++) {
        await thread.fork({ into: `f${n}` });
        await thread.copy(`k${n}`);
      }
      assert.ok((await total()) - filled < 20_000, `${(await total()) - filled} bytes for 20 forks and copies`);
    },
  },
  {
    name: "verify: is clean after everything that can be done, and an empty store's too",
    async run({ open }) {
      const store = await open();
      exact(await store.verify(), { ok: true, faults: [] });
      const thread = store.thread("t");
      const kept = await converse(thread, 150);
      await thread.fork({ at: kept[70]?.id ?? "", into: "f", edits: { e: 1 } });
      await thread.copy("k");
      await thread.put({ id: kept[10]?.id ?? "", state: { replaced: 1 } });
      await thread.label(kept[20]?.id ?? "", "label");
      await thread.putWrites(kept[30]?.id ?? "", { task: "t", writes: [{ channel: "c", value: 1n }] });
      await thread.deleteCheckpoints([kept[40]?.id ?? ""]);
      await store.thread("k").prune({ keepLast: 5, ancestors: "protect" });
      await store.thread("f").prune({ keepLast: 5 });
      await store.thread("f", { namespace: ["sub"] }).put({ state: {} });
      exact(await store.verify(), { ok: true, faults: [] });
      await store.compact();
      exact(await (await open()).verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "compact: after a source is gone, forks and copies show all they showed, in the store that knew it too",
    async run({ open }) {
      const store = await open();
      const source = store.thread("source");
      const nested = store.thread("source", { namespace: ["a"] });
      await nested.put({ id: "nested", state: { n: 0 } });
      for (let n = 1; n <= 10; n++) await source.put({ state: { n } });
      const others = [await source.fork({ into: "fork" }), await source.copy("copy")];
      for (let n = 11; n <= 75; n++) await source.put({ state: { n } });
      await source.delete();
      await store.compact();
      for (const reader of [store, await open()]) {
        for (const { id } of others) {
          assert.equal((await idsOf(reader.thread(id))).length, 10, id);
          exact((await reader.thread(id).latest())?.state, { n: 10 }, id);
          exact(await idsOf(reader.thread(id, { namespace: ["a"] })), ["nested"], id);
          exact(await reader.thread(id).namespaces(), [[], ["a"]], id);
        }
        exact(
          (await collect(reader.threads())).map(({ id, checkpoints }) => [id, checkpoints]),
          [
            ["copy", 11],
            ["fork", 11],
          ],
        );
      }
    },
  },
  {
    name: "compact: a fork of a fork reads what it inherits from a thread that is gone, in the store that knew it too",
    async run({ open }) {
      const store = await open();
      const source = store.thread("source");
      const first = await source.put({ state: { list: [1] } });
      const second = await source.put({ update: { append: { list: [2] } } });
      for (let n = 3; n <= 70; n++) await source.put({ update: { append: { list: [n] } } });
      const fork = await source.fork({ into: "fork", at: second.id });
      await fork.put({ update: { append: { list: ["fork"] } } });
      const forkOfFork = await fork.fork({ into: "fork of fork" });
      await forkOfFork.put({ update: { append: { list: ["fork of fork"] } } });
      exact((await forkOfFork.get(first.id))?.state, { list: [1] });
      await source.delete();
      await store.compact();
      for (const reader of [store, await open()]) {
        const thread = reader.thread("fork of fork");
        exact((await thread.get(first.id))?.state, { list: [1] });
        exact((await thread.latest())?.state, { list: [1, 2, "fork", "fork of fork"] });
      }
    },
  },
  {
    name: "compact: changes nothing that can be read, and may be called at any time",
    async run({ open }) {
      const store = await open();
      await store.compact();
      const thread = store.thread("t");
      const kept = await converse(thread, 100);
      await thread.fork({ at: kept[50]?.id ?? "", into: "f" });
      await thread.deleteCheckpoints(kept.slice(10, 30).map(({ id }) => id));
      const before = [await snapshot(store, "t"), await snapshot(store, "f")];
      await store.compact();
      await store.compact();
      exact([await snapshot(store, "t"), await snapshot(store, "f")], before);
      const later = await converse(thread, 5);
      await readsBack((await open()).thread("t"), [...kept.slice(30), ...later]);
      await thread.delete();
      await store.compact();
      exact(await snapshot(store, "f"), before[1]);
    },
  },
  {
    name: "compact: after deletes the store holds no more than what is left needs",
    async run({ open }) {
      const store = await open();
      const bytes = async (): Promise<number> => {
        const found = (await store.stats()).bytes;
        return found.metadata + found.tail + found.packs + found.index + found.writes;
      };
      const before = await bytes();
      const thread = store.thread("t");
      for (let n = 0; n < 200; n++) {
        await thread.put({ id: `c${n}`, state: { n, text: `${n}`.repeat(500) } });
        await thread.putWrites(`c${n}`, { task: "t", writes: [{ channel: "c", value: "w".repeat(500) }] });
      }
      const forked = await thread.fork({ at: "c3" });
      await thread.prune({ keepLast: 1 });
      await store.compact();
      const left = await bytes();
      assert.ok(left - before < 20_000, `${left - before} bytes for five small checkpoints`);
      await thread.delete();
      await forked.delete();
      await store.compact();
      assert.ok((await bytes()) - before < 2_000, `${(await bytes()) - before} bytes for an empty store`);
    },
  },
  {
    name: "close: everything is CLOSED afterwards, closing again is fine, and what was committed is there",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { n: 1 } });
      const held = await thread.acquire({ holder: "a", ttl: 10_000 });
      const before = await snapshot(store, "t");
      await store.close();
      await store.close();
      const calls: Record<string, () => unknown> = {
        put: () => thread.put({ state: {} }),
        latest: () => thread.latest(),
        get: () => thread.get("a"),
        tuple: () => thread.tuple(),
        history: () => collect(thread.history()),
        putWrites: () => thread.putWrites("a", { task: "t", writes: [] }),
        writes: () => thread.writes("a"),
        fork: () => thread.fork(),
        copy: () => thread.copy("k"),
        prune: () => thread.prune({}),
        deleteCheckpoints: () => thread.deleteCheckpoints(["a"]),
        deleteRun: () => thread.deleteRun("r"),
        delete: () => thread.delete(),
        diff: () => thread.diff("a", "a"),
        label: () => thread.label("a", "l"),
        count: () => thread.count(),
        namespaces: () => thread.namespaces(),
        acquire: () => thread.acquire({ holder: "b", ttl: 1 }),
        renew: () => held.renew(),
        threads: () => collect(store.threads()),
        stats: () => store.stats(),
        verify: () => store.verify(),
        compact: () => store.compact(),
      };
      for (const [name, call] of Object.entries(calls)) {
        const error = await failsWith("CLOSED", call).catch((cause) => assert.fail(`${name}: ${cause}`));
        assert.ok(error.message.length > 0);
      }
      exact(await snapshot(await open(), "t"), renamed(before, "t"));
    },
  },
  {
    name: "close: waits for what is under way, and `await using` closes",
    async run({ open }) {
      const store = await open();
      const pending = Array.from({ length: 20 }, (_, n) => store.thread("t").put({ id: `c${n}`, state: { n } }));
      const settled = Promise.allSettled(pending);
      await store.close();
      const outcomes = await settled;
      const again = await open();
      for (const [n, outcome] of outcomes.entries()) {
        const read = await again.thread("t").get(`c${n}`);
        if (outcome.status === "fulfilled") exact(read?.state, { n }, "an acknowledged put");
      }
      await again[Symbol.asyncDispose]();
      await failsWith("CLOSED", () => again.thread("t").latest());
    },
  },
  {
    name: "compact: between a replacement and the next put, in the same store, changes nothing",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { n: 1, list: [1, 2] } });
      await thread.put({ id: "a", state: { n: 2, list: [3] }, interrupts: [{ id: "i", node: "n", value: 1 }] });
      await store.compact();
      await thread.put({ id: "b", state: { n: 1, list: [1, 2] } });
      await thread.put({ id: "c", update: { append: { list: [4] } } });
      for (const reader of [thread, (await open()).thread("t")]) {
        const [a, b, c] = [await reader.get("a"), await reader.get("b"), await reader.get("c")];
        exact(
          [a?.state, b?.state, c?.state],
          [
            { n: 2, list: [3] },
            { n: 1, list: [1, 2] },
            { n: 1, list: [1, 2, 4] },
          ],
        );
        exact([a?.interrupts.length, b?.interrupts.length, c?.interrupts.length], [1, 0, 0]);
      }
    },
  },
  {
    name: "compact: what was replaced goes, whatever was forked elsewhere, and what follows it stays",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const large = (seed: number): string =>
        Array.from({ length: 20_000 }, (_, index) => ((index * seed * 2654435761) % 4294967296).toString(36)).join("");
      for (const id of ["a", "b", "c", "d"]) await thread.put({ id, state: { id } });
      await thread.put({ id: "e", state: { id: "e", large: large(3) }, metadata: { large: large(5) } });
      await thread.put({ id: "f", state: { id: "f" } });
      await thread.fork({ at: "b", into: "elsewhere" });
      const one = await thread.fork({ into: "one" });
      const other = await thread.fork({ into: "other" });
      await one.put({ id: "e", state: { one: 1 } });
      await other.put({ id: "e", state: { other: 2 } });
      await other.label("e", "named");
      await one.put({ id: "g", update: { set: { more: 1 } } }, { parent: "e" });
      await thread.put({ id: "e", state: { t: 3 } });
      const before = await Promise.all(["t", "one", "other"].map((id) => snapshot(store, id)));
      await store.compact();
      for (const reader of [store, await open()]) {
        exact(await Promise.all(["t", "one", "other"].map((id) => snapshot(reader, id))), before);
        const { tail, packs, metadata } = (await reader.stats()).bytes;
        assert.ok(tail + packs + metadata < 30_000, `${tail} + ${packs} + ${metadata} bytes`);
      }
      await one.put({ id: "h", update: { set: { last: 1 } } });
      exact((await (await open()).thread("one").get("h"))?.state, { one: 1, more: 1, last: 1 });
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "compact: what follows a replaced checkpoint whose parent goes at the same time stays",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (const id of ["a", "b", "c", "d"]) await thread.put({ id, state: { id, [id]: 1, list: [id, 2, 3] } });
      const fork = await thread.fork({ into: "f" });
      await thread.deleteCheckpoints(["b"]);
      await thread.put({ id: "c", state: { id: "c", b: 1, list: ["b", 2, 3, 4] } });
      const before = await snapshot(store, "t");
      await fork.delete();
      await store.compact();
      exact(await snapshot(store, "t"), before);
      exact(await snapshot(await open(), "t"), before);
    },
  },
];

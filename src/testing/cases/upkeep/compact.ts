import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { converse, readsBack, smallPacks } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { collect, idsOf, snapshot } from "../../support/snapshot.ts";

export const compaction: readonly Case[] = [
  {
    name: "compact: after a source is deleted, forks and copies show all they showed, also in a store that remembers it",
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
    name: "compact: a fork of a fork reads checkpoints inherited from a deleted thread, also in a store that remembers it",
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
    name: "compact: compact changes nothing that can be read, and may be called at any time",
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
    name: "compact: after deletes and compact, the store holds no more than the remaining checkpoints need",
    async run({ open }) {
      const store = await open();
      const bytes = async (): Promise<number> => {
        const found = (await store.measure()).bytes;
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
    name: "compact: a compaction between a replacement and the next put changes nothing",
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
    name: "compact: a replaced version is removed, whatever was forked elsewhere, and its children stay",
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
        const { tail, packs, metadata } = (await reader.measure()).bytes;
        assert.ok(tail + packs + metadata < 30_000, `${tail} + ${packs} + ${metadata} bytes`);
      }
      await one.put({ id: "h", update: { set: { last: 1 } } });
      exact((await (await open()).thread("one").get("h"))?.state, { one: 1, more: 1, last: 1 });
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "compact: the children of a replaced checkpoint stay when its parent is removed at the same time",
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
  {
    name: "compact: ids of removed checkpoints leave the index, and may be put again",
    async run({ open }) {
      const store = await open(smallPacks);
      const thread = store.thread("t");
      const ids = Array.from({ length: 60 }, (_, n) => `checkpoint ${n}`);
      for (const [n, id] of ids.entries()) await thread.put({ id, state: { n } });
      const { index: full } = (await store.measure()).bytes;
      const fork = await thread.fork({ into: "f" });
      await thread.prune({ keepLast: 1 });
      await store.compact();
      exact((await store.measure()).bytes.index, full, "the fork shows them all");
      exact((await fork.get("checkpoint 3"))?.state, { n: 3 });
      await fork.delete();
      await store.compact();
      const { index } = (await store.measure()).bytes;
      assert.ok(index < full / 10, `${index} of ${full} bytes`);
      exact(await thread.get("checkpoint 3"), undefined);
      await thread.put({ id: "checkpoint 3", state: { again: true } });
      for (const reader of [store, await open()]) {
        exact((await reader.thread("t").get("checkpoint 3"))?.state, { again: true });
        exact(await idsOf(reader.thread("t")), ["checkpoint 3", "checkpoint 59"]);
      }
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "compact: nested namespaces without checkpoints leave nothing behind, and may be used again",
    async run({ open }) {
      const store = await open(smallPacks);
      const root = store.thread("t");
      const nested = (n: number) => store.thread("t", { namespace: [`call ${n}`] });
      for (let n = 0; n < 60; n++) {
        await nested(n).put({ state: { n } });
        await root.put({ state: { n } });
      }
      const { index: full } = (await store.measure()).bytes;
      const fork = await root.fork({ into: "f" });
      for (let n = 0; n < 50; n++) {
        const { id } = (await nested(n).latest()) ?? assert.fail(`call ${n} is there`);
        assert.equal(await nested(n).deleteCheckpoints([id]), 1);
      }
      await store.compact();
      exact((await store.thread("f", { namespace: ["call 3"] }).latest())?.state, { n: 3 });
      await fork.delete();
      await store.compact();
      const { index } = (await store.measure()).bytes;
      assert.ok(index < full / 2, `${index} of ${full} bytes`);
      for (const reader of [store, await open()]) {
        const thread = reader.thread("t", { namespace: ["call 3"] });
        exact(await thread.latest(), undefined);
        exact((await reader.thread("t", { namespace: ["call 55"] }).latest())?.state, { n: 55 });
        assert.equal((await reader.thread("t").namespaces()).length, 11);
      }
      await nested(3).put({ id: "again", state: { again: true } });
      exact((await (await open()).thread("t", { namespace: ["call 3"] }).get("again"))?.state, { again: true });
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
];

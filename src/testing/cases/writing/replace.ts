import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { converse, readsBack, smallPacks } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";
import { idsOf, renamed, snapshot } from "../../support/snapshot.ts";

export const replace: readonly Case[] = [
  {
    name: "replace: a replacement keeps seq, parent and writes; everything else is the new version's",
    async run({ open, clock }) {
      const thread = (await open()).thread("t");
      const a = await thread.put({ id: "a", state: { n: 1 }, step: 4, workflow: "w" });
      const b = await thread.put({ id: "b", state: { n: 2 }, node: "x", run: "r", label: "l", metadata: { m: 1 } });
      await thread.putWrites("b", { task: "t1", writes: [{ channel: "c", value: 1 }] });
      clock.advance(1000);
      const again = await thread.put({ id: "b", state: { n: 20 }, node: "y" });
      exact(
        [again.seq, again.parent, again.step, again.node, again.run, again.workflow, again.label, again.createdAt],
        [b.seq, a.id, 5, "y", null, "w", "", clock.now()],
      );
      exact(again.metadata, {});
      const whole = await thread.get("b");
      exact([whole?.state, whole?.path], [{ n: 20 }, ["y"]]);
      assert.equal((await thread.writes("b")).length, 1);
      assert.equal(await thread.count(), 2);
    },
  },
  {
    name: "replace: the head does not move and no descendant's state changes",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const kept = await converse(thread, 20);
      const middle = kept[9];
      assert.ok(middle !== undefined);
      await thread.put({ id: middle.id, state: { other: "shape" } });
      assert.equal((await thread.latest())?.id, kept.at(-1)?.id);
      await readsBack(thread, [...kept.slice(0, 9), ...kept.slice(10)]);
      exact((await thread.get(middle.id))?.state, { other: "shape" });
      exact(await idsOf(thread), kept.map(({ id }) => id).reverse());
      const next = await thread.put({ update: { set: { more: 1 } } });
      assert.equal(next.parent, kept.at(-1)?.id);
      exact((await thread.get(next.id))?.state, { ...kept.at(-1)?.state, more: 1 });
    },
  },
  {
    name: "replace: after the head is replaced, the next put follows the new version",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: { list: [1] } });
      await thread.put({ id: "a", state: { list: [7, 8] } });
      const next = await thread.put({ update: { append: { list: [9] } } });
      assert.equal(next.parent, "a");
      exact((await thread.get(next.id))?.state, { list: [7, 8, 9] });
      await thread.put({ id: "a", state: 5 as never });
      exact((await thread.get(next.id))?.state, { list: [7, 8, 9] });
    },
  },
  {
    name: "replace: an update that replaces a checkpoint applies to its parent",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: { list: ["a"] } });
      await thread.put({ id: "b", state: { list: ["a", "b"] } });
      await thread.put({ id: "c", state: { list: ["a", "b", "c"] } });
      await thread.put({ id: "b", update: { append: { list: ["B"] } } });
      exact((await thread.get("b"))?.state, { list: ["a", "B"] });
      await thread.put({ id: "a", update: { set: { fresh: true } } });
      exact((await thread.get("a"))?.state, { fresh: true }, "a root replaced by an update");
      exact((await thread.get("b"))?.state, { list: ["a", "B"] });
      exact((await thread.get("c"))?.state, { list: ["a", "b", "c"] });
    },
  },
  {
    name: "replace: a replacement may name another parent; a later checkpoint, or itself, is a TypeError",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { n: 1 } });
      await thread.put({ id: "b", state: { n: 2 } });
      await thread.put({ id: "c", state: { n: 3 } });
      assert.equal((await thread.put({ id: "c", state: { n: 30 } }, { parent: "a" })).parent, "a");
      assert.equal((await thread.put({ id: "b", state: { n: 20 } }, { parent: null })).parent, null);
      assert.equal((await thread.put({ id: "c", state: { n: 31 } })).parent, "a");
      const before = await snapshot(store, "t");
      await isMisuse(() => thread.put({ id: "b", state: {} }, { parent: "c" }), "a later parent");
      await isMisuse(() => thread.put({ id: "b", state: {} }, { parent: "b" }), "itself as parent");
      await failsWith("NOT_FOUND", () => thread.put({ id: "b", state: {} }, { parent: "nope" }));
      await failsWith("CONFLICT", () => thread.put({ id: "b", state: {} }, { expect: "b" }));
      exact(await snapshot(store, "t"), before);
      await thread.put({ id: "b", state: { n: 21 } }, { expect: "c" });
      exact((await thread.get("b"))?.state, { n: 21 });
    },
  },
  {
    name: "replace: forks and copies made earlier keep the old version, on either side, again and again",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (const n of [1, 2, 3]) await thread.put({ id: `c${n}`, state: { n, list: [n] } });
      await thread.put({ id: "c2", state: { n: 2, version: "first" } });
      await thread.fork({ into: "f1" });
      await thread.copy("k1");
      const old = await snapshot(store, "t");
      await thread.put({ id: "c2", state: { n: 2, version: "second" } });
      exact(await snapshot(store, "f1"), renamed(old, "f1"));
      exact(await snapshot(store, "k1"), renamed(old, "k1"));
      await thread.fork({ into: "f2" });
      await store.thread("f1").put({ id: "c2", state: { n: 2, version: "fork" } });
      await thread.put({ id: "c2", state: { n: 2, version: "third" } });
      const versions = await Promise.all(
        ["t", "f1", "f2", "k1"].map(async (id) => (await store.thread(id).get("c2"))?.state.version),
      );
      exact(versions, ["third", "fork", "second", "first"]);
      for (const id of ["t", "f1", "f2", "k1"]) exact((await store.thread(id).get("c3"))?.state, { n: 3, list: [3] });
    },
  },
  {
    name: "replace: replacements in sealed history, in every position of a pack, leave the other checkpoints unchanged",
    async run({ open }) {
      const store = await open(smallPacks);
      const thread = store.thread("t");
      const kept = await converse(thread, 50);
      const replaced = new Map<string, number>();
      for (const position of [0, 1, 14, 15, 16, 17, 31, 32, 40, 48, 49]) {
        const id = kept[position]?.id ?? "";
        await thread.put({ id, state: { replaced: position } });
        replaced.set(id, position);
      }
      for (const reader of [thread, (await open()).thread("t")]) {
        await readsBack(
          reader,
          kept.filter(({ id }) => !replaced.has(id)),
        );
        for (const [id, position] of replaced) exact((await reader.get(id))?.state, { replaced: position });
        exact(await idsOf(reader), kept.map(({ id }) => id).reverse());
      }
    },
  },
  {
    name: "replace: after a replacement by a state equal to another checkpoint's, updates of that one do not show",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const long = "long ".repeat(60);
      const state = (): object => ({ list: [long, { deep: [long] }], files: { a: long } });
      await thread.put({ id: "a", state: {} });
      await thread.put({ id: "b", state: state() });
      await thread.put({ id: "a", state: state() });
      await thread.put({ id: "c", update: { append: { list: [1] }, set: { n: 1 } } });
      await thread.put({ id: "d", update: { unset: ["files"] } });
      for (const reader of [thread, (await open()).thread("t")]) {
        for (const id of ["a", "b"]) exact((await reader.get(id))?.state, state(), id);
      }
    },
  },
  {
    name: "replace: a replaced checkpoint whose parent is deleted follows the nearest remaining ancestor",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (const id of ["a", "b", "c", "d"]) await thread.put({ id, state: { id } });
      await thread.put({ id: "c", state: { replaced: true } });
      const fork = await thread.fork({ into: "f" });
      await fork.put({ id: "d", state: { other: true } }, { parent: "b" });
      for (const each of [thread, fork]) await each.deleteCheckpoints(["b"]);
      const check = async (): Promise<void> => {
        for (const reader of [store, await open()]) {
          exact((await reader.thread("t").get("c"))?.parent, "a");
          exact((await reader.thread("f").get("d"))?.parent, "a");
          exact((await reader.thread("f").get("c"))?.state, { replaced: true });
        }
      };
      await check();
      await store.compact();
      await check();
      await thread.delete();
      await store.compact();
      exact((await fork.get("d"))?.parent, "a");
    },
  },
  {
    name: "replace: when a checkpoint that was given another parent is deleted, its children follow that parent",
    async run({ open }) {
      const store = await open();
      for (const [id, shared] of [
        ["alone", false],
        ["forked", true],
      ] as const) {
        const thread = store.thread(id);
        for (let n = 0; n < 5; n++) await thread.put({ id: `c${n}`, state: { n } });
        if (shared) await thread.fork({ into: `fork of ${id}` });
        await thread.put({ id: "c3", state: { n: "root" } }, { parent: null });
        await thread.put({ id: "c2", state: { n: "early" } }, { parent: "c0" });
        await thread.put({ id: "other", state: { n: 5 } }, { parent: "c2" });
        assert.equal(await thread.deleteCheckpoints(["c2", "c3"]), 2);
        for (const reader of [store, await open()]) {
          const parentOf = async (checkpoint: string) => (await reader.thread(id).get(checkpoint))?.parent;
          exact([await parentOf("c4"), await parentOf("other"), await parentOf("c1")], [null, "c0", "c0"], id);
          exact((await reader.thread(id).get("c4"))?.state, { n: 4 }, id);
        }
        await thread.deleteCheckpoints(["c0"]);
        await store.compact();
        for (const reader of [store, await open()]) {
          exact((await reader.thread(id).get("other"))?.parent, null, id);
          exact((await reader.thread(id).get("c4"))?.state, { n: 4 }, id);
          exact(await reader.verify(), { ok: true, faults: [] });
        }
      }
      exact((await store.thread("fork of forked").get("c4"))?.parent, "c3");
    },
  },
  {
    name: "replace: a compaction keeps the line of a fork, past checkpoints that the fork itself replaced",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (const id of ["c1", "c2", "c3"]) await thread.put({ id, state: { id } });
      await thread.put({ id: "c3", state: { id: "c3", again: true } }, { parent: "c1" });
      await thread.put({ id: "c4", state: { id: "c4" } });
      const fork = await thread.fork({ into: "f1", at: "c4" });
      await thread.deleteCheckpoints(["c3"]);
      await fork.put({ id: "c3", state: { id: "c3", fork: true } }, { parent: "c1" });
      await thread.put({ id: "c5", state: { id: "c5" } });
      await fork.fork({ into: "f2", at: "c1" });
      const before = await snapshot(store, "f1");
      exact(await idsOf(fork), ["c4", "c3", "c1"]);
      for (let round = 0; round < 2; round++) {
        await store.compact();
        for (const reader of [store, await open()]) exact(await snapshot(reader, "f1"), before);
      }
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
];

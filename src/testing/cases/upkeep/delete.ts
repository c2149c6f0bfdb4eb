import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { converse, readsBack, smallPacks } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { collect, idsOf, snapshot } from "../../support/snapshot.ts";

export const deletion: readonly Case[] = [
  {
    name: "delete: deleteCheckpoints ignores unknown ids and returns how many it deleted",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const kept = await converse(thread, 10);
      const before = await snapshot(store, "t");
      assert.equal(await thread.deleteCheckpoints([]), 0);
      assert.equal(await thread.deleteCheckpoints(["zz", "yy"]), 0);
      assert.equal(await store.thread("nobody").deleteCheckpoints(["zz"]), 0);
      exact(await snapshot(store, "t"), before);
      const gone = [kept[0]?.id ?? "", kept[4]?.id ?? "", kept[5]?.id ?? ""];
      assert.equal(await thread.deleteCheckpoints([...gone, "zz", gone[0] ?? ""]), 3);
      const left = kept.filter(({ id }) => !gone.includes(id));
      exact(await idsOf(thread), left.map(({ id }) => id).reverse());
      await readsBack(thread, left);
      assert.equal(await thread.get(gone[1] ?? ""), undefined);
      assert.equal(await thread.count(), 7);
      assert.equal(await thread.deleteCheckpoints(gone), 0);
    },
  },
  {
    name: "delete: a removed parent is replaced by the nearest remaining ancestor, or null",
    async run({ open }) {
      const thread = (await open()).thread("t");
      for (let n = 0; n < 6; n++) await thread.put({ id: `c${n}`, state: { n }, step: n });
      await thread.put({ id: "branch", state: { b: 1 } }, { parent: "c3" });
      await thread.deleteCheckpoints(["c3", "c2"]);
      exact(
        [(await thread.get("c4"))?.parent, (await thread.get("branch"))?.parent, (await thread.get("c5"))?.parent],
        ["c1", "c1", "c4"],
      );
      exact((await thread.tuple("c4"))?.parent?.id, "c1");
      await thread.deleteCheckpoints(["c0", "c1"]);
      exact([(await thread.get("c4"))?.parent, (await thread.get("branch"))?.parent], [null, null]);
      exact(
        (await collect(thread.history())).map(({ parent }) => parent),
        [null, "c4", null],
      );
      exact([(await thread.get("c4"))?.state, (await thread.get("c4"))?.step], [{ n: 4 }, 4]);
      const forked = await thread.fork({ at: "c5" });
      exact(await idsOf(forked), ["c5", "c4"]);
    },
  },
  {
    name: "delete: after the head is deleted, the newest remaining checkpoint is the head and puts follow it",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const kept = await converse(thread, 5);
      const seqs = (await collect(thread.history())).map(({ seq }) => seq);
      await thread.deleteCheckpoints([kept[4]?.id ?? "", kept[3]?.id ?? ""]);
      assert.equal((await thread.latest())?.id, kept[2]?.id);
      const next = await thread.put({ update: { set: { next: 1 } } }, { expect: kept[2]?.id ?? "" });
      exact([next.parent, (await thread.latest())?.state], [kept[2]?.id, { ...kept[2]?.state, next: 1 }]);
      assert.ok(
        seqs.every((seq) => seq < next.seq),
        "a seq is never used again",
      );
    },
  },
  {
    name: "delete: a deleted id can be put again, as a new checkpoint",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: { n: 1 } });
      await thread.put({ id: "b", state: { n: 2 } });
      await thread.put({ id: "c", state: { n: 3 } });
      await thread.deleteCheckpoints(["b"]);
      const again = await thread.put({ id: "b", state: { n: 20 } });
      assert.equal(again.parent, "c");
      exact(await idsOf(thread), ["b", "c", "a"]);
      exact((await thread.get("b"))?.state, { n: 20 });
    },
  },
  {
    name: "delete: deleteRun deletes the run's checkpoints in all namespaces, and no others",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const nested = store.thread("t", { namespace: ["sub"] });
      for (let n = 0; n < 90; n++) {
        const run = n % 3 === 0 ? "r1" : n % 3 === 1 ? "r2" : null;
        await (n % 4 === 0 ? nested : thread).put({ id: `c${n}`, state: { n }, run });
      }
      const numbers = Array.from({ length: 90 }, (_, index) => 89 - index);
      assert.equal(await nested.deleteRun("r1"), 30);
      exact(
        await idsOf(thread),
        numbers.filter((n) => n % 3 !== 0 && n % 4 !== 0).map((n) => `c${n}`),
      );
      exact(
        await idsOf(nested),
        numbers.filter((n) => n % 3 !== 0 && n % 4 === 0).map((n) => `c${n}`),
      );
      assert.equal(await thread.deleteRun("r1"), 0);
      assert.equal(await thread.deleteRun("null"), 0);
      assert.equal(await store.thread("nobody").deleteRun("r2"), 0);
      for (const n of numbers.filter((one) => one % 3 !== 0)) {
        exact((await (n % 4 === 0 ? nested : thread).get(`c${n}`))?.state, { n });
      }
    },
  },
  {
    name: "delete: deleteCheckpoints deletes in the handle's namespace only",
    async run({ open }) {
      const store = await open();
      const root = store.thread("t");
      const nested = store.thread("t", { namespace: ["sub"] });
      for (const thread of [root, nested]) await thread.put({ id: "same", state: {} });
      assert.equal(await nested.deleteCheckpoints(["same"]), 1);
      exact([await root.count(), await nested.count()], [1, 0]);
      assert.equal(await nested.latest(), undefined);
    },
  },
  {
    name: "delete: deleting a thread removes its namespaces and writes, may be repeated, and frees its id",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const kept = await converse(thread, 70);
      await store.thread("t", { namespace: ["sub"] }).put({ id: "n", state: {} });
      await thread.putWrites(kept[0]?.id ?? "", { task: "t", writes: [{ channel: "c", value: 1 }] });
      await store.thread("other").put({ state: { other: true } });
      await thread.delete();
      await thread.delete();
      await store.thread("nobody").delete();
      for (const reader of [store, await open()]) {
        exact(
          (await collect(reader.threads())).map(({ id }) => id),
          ["other"],
        );
        exact(await idsOf(reader.thread("t")), []);
        assert.equal(await reader.thread("t", { namespace: ["sub"] }).latest(), undefined);
        exact(await reader.thread("t").writes(kept[0]?.id ?? ""), []);
        assert.equal(await reader.thread("t").get(kept[3]?.id ?? ""), undefined);
      }
      await thread.put({ id: kept[3]?.id ?? "", state: { reborn: 1 } }, { expect: null });
      exact(await idsOf(thread), [kept[3]?.id]);
      exact((await thread.latest())?.state, { reborn: 1 });
      assert.equal((await thread.latest())?.parent, null);
      exact((await store.thread("other").latest())?.state, { other: true });
    },
  },
  {
    name: "delete: a thread without its last checkpoint is not listed, and starts afresh",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { n: 1 }, run: "r" });
      await thread.put({ id: "b", state: { n: 2 }, run: "r" });
      assert.equal(await thread.deleteCheckpoints(["b", "a"]), 2);
      exact(await collect(store.threads()), []);
      exact(await thread.namespaces(), []);
      assert.equal(await thread.latest(), undefined);
      const fresh = await thread.put({ update: { set: { n: 3 } } }, { expect: null });
      exact([fresh.parent, fresh.step, fresh.run], [null, 0, null]);
      exact((await thread.latest())?.state, { n: 3 });
      assert.equal((await collect(store.threads())).length, 1);
      assert.equal(await thread.deleteRun("r"), 0);
    },
  },
  {
    name: "delete: after single deletes at the front, the back and the middle of sealed history, all others read back",
    async run({ open }) {
      const store = await open(smallPacks);
      for (const pick of [
        () => 0,
        (size: number) => size - 1,
        (size: number) => size >> 1,
        (size: number) => 21 % size,
      ]) {
        const thread = store.thread(`t${pick(1000)}`);
        let kept = await converse(thread, 45);
        const forked = await thread.fork();
        const whole = kept;
        for (let round = 0; round < 20; round++) {
          const index = pick(kept.length);
          assert.equal(await thread.deleteCheckpoints([kept[index]?.id ?? ""]), 1);
          kept = kept.filter((_, other) => other !== index);
          await readsBack(
            thread,
            kept.filter((_, other) => (other + round) % 9 === 0),
          );
        }
        await readsBack(thread, kept);
        exact(await idsOf(thread), kept.map(({ id }) => id).reverse());
        await readsBack(
          forked,
          whole.filter((_, index) => index % 5 === 0),
        );
        assert.equal(await forked.count(), 45);
      }
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "delete: a fork keeps its inherited checkpoints when both sides delete the one it begins with, also after compact",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (let n = 1; n <= 3; n++) await thread.put({ id: `c${n}`, state: { n } });
      const fork = await thread.fork({ into: "fork" });
      await fork.put({ id: "own", state: { n: "own" } });
      await thread.put({ id: "c4", state: { n: 4 } });
      for (const side of [fork, thread]) assert.equal(await side.deleteCheckpoints(["c3"]), 1);
      await store.compact();
      for (const reader of [store, await open()]) {
        const rows = await collect(reader.thread("fork").history({ states: true }));
        exact(
          rows.map(({ id, parent, state }) => [id, parent, state]),
          [
            ["own", "c2", { n: "own" }],
            ["c2", "c1", { n: 2 }],
            ["c1", null, { n: 1 }],
          ],
        );
        assert.equal(await reader.thread("fork").count(), 3);
        exact((await reader.thread("fork").get("c1"))?.state, { n: 1 });
      }
      await thread.delete();
      await fork.deleteCheckpoints(["c2"]);
      await store.compact();
      for (const reader of [store, await open()]) exact(await idsOf(reader.thread("fork")), ["own", "c1"]);
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "delete: a fork that begins with a replaced checkpoint, deleted on both sides, keeps to the line it showed",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (let n = 1; n <= 3; n++) await thread.put({ id: `c${n}`, state: { n } });
      await thread.put({ id: "c3", state: { n: "replaced" } }, { parent: "c1" });
      const fork = await thread.fork({ into: "fork", at: "c3" });
      await fork.put({ id: "own", state: {} });
      await thread.put({ id: "c4", state: {} });
      for (const side of [fork, thread]) assert.equal(await side.deleteCheckpoints(["c3"]), 1);
      await store.compact();
      for (const reader of [store, await open()]) {
        exact(await idsOf(reader.thread("fork")), ["own", "c1"]);
        exact(await idsOf(reader.thread("t")), ["c4", "c2", "c1"]);
      }
    },
  },
  {
    name: "delete: a fork whose first checkpoint is gone on both sides shows the rest to a store that remembers it",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (let n = 1; n <= 2; n++) await thread.put({ id: `c${n}`, state: { n } });
      const fork = await thread.fork({ into: "fork" });
      await fork.put({ id: "own", state: {} });
      await thread.deleteCheckpoints(["c1", "c2"]);
      await fork.deleteCheckpoints(["c2", "own"]);
      await store.compact();
      await thread.put({ id: "c3", state: {} });
      await fork.putWrites("c1", { task: "task", writes: [{ channel: "c", value: 1 }] });
      for (const reader of [store, await open()]) {
        exact(await idsOf(reader.thread("fork")), ["c1"]);
        exact((await reader.thread("fork").latest())?.state, { n: 1 });
        exact((await collect(reader.threads())).map(({ id }) => id).sort(), ["fork", "t"]);
      }
    },
  },
];

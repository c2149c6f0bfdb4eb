import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { converse, readsBack, smallPacks } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { idsOf, renamed, snapshot } from "../../support/snapshot.ts";

export const prune: readonly Case[] = [
  {
    name: "prune: prune keeps the newest checkpoints with their states and order, and the oldest left becomes a root",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const kept = await converse(thread, 10);
      const { deleted, bytesReclaimed } = await thread.prune({ keepLast: 3 });
      assert.equal(deleted, 7);
      assert.ok(Number.isSafeInteger(bytesReclaimed), `${bytesReclaimed} bytes`);
      exact(
        await idsOf(thread),
        kept
          .slice(7)
          .map(({ id }) => id)
          .reverse(),
      );
      await readsBack(thread, kept.slice(7));
      exact((await thread.get(kept[7]?.id ?? ""))?.parent, null);
      exact((await thread.get(kept[8]?.id ?? ""))?.parent, kept[7]?.id);
      assert.equal((await thread.prune({ keepLast: 3 })).deleted, 0);
      const next = await thread.put({ update: { set: { after: 1 } } });
      exact([next.parent, (await thread.latest())?.state], [kept[9]?.id, { ...kept[9]?.state, after: 1 }]);
    },
  },
  {
    name: "prune: keepLast is 1 by default, and 0 counts as 1; an unknown thread loses 0",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const kept = await converse(thread, 5);
      assert.equal((await thread.prune({ keepLast: 0 })).deleted, 4);
      exact(await idsOf(thread), [kept[4]?.id]);
      const more = await converse(thread, 3);
      assert.equal((await thread.prune({ olderThan: 0 })).deleted, 3);
      exact(await idsOf(thread), [more[2]?.id]);
      assert.equal((await thread.prune({ keepLast: 100 })).deleted, 0);
      assert.equal((await store.thread("nobody").prune({ keepLast: 1 })).deleted, 0);
    },
  },
  {
    name: "prune: protect keeps every ancestor of a kept checkpoint, truncate does not",
    async run({ open }) {
      const store = await open();
      for (const id of ["protect", "truncate"]) {
        const thread = store.thread(id);
        await thread.put({ id: "c1", state: { n: 1 } });
        await thread.put({ id: "b2", state: { n: 2 } }, { parent: "c1" });
        await thread.put({ id: "m2", state: { n: 3 } }, { parent: "c1" });
        await thread.put({ id: "m3", state: { n: 4 } }, { parent: "m2" });
      }
      const protect = store.thread("protect");
      assert.equal((await protect.prune({ keepLast: 1, ancestors: "protect" })).deleted, 1);
      exact(await idsOf(protect), ["m3", "m2", "c1"]);
      const truncate = store.thread("truncate");
      assert.equal((await truncate.prune({ keepLast: 1, ancestors: "truncate" })).deleted, 3);
      exact(await idsOf(truncate), ["m3"]);
      exact((await truncate.get("m3"))?.state, { n: 4 });
    },
  },
  {
    name: "prune: each namespace keeps its own newest checkpoints, whichever handle prunes",
    async run({ open }) {
      const store = await open();
      for (const id of ["t", "u"]) {
        for (const namespace of [[], ["a"], ["a", "b"]]) {
          for (let n = 0; n < 5; n++) await store.thread(id, { namespace }).put({ id: `c${n}`, state: { n } });
        }
        const handle = store.thread(id, id === "t" ? {} : { namespace: ["a"] });
        assert.equal((await handle.prune({ keepLast: 2 })).deleted, 9);
        for (const namespace of [[], ["a"], ["a", "b"]]) {
          exact(await idsOf(store.thread(id, { namespace })), ["c4", "c3"]);
          exact((await store.thread(id, { namespace }).get("c3"))?.state, { n: 3 });
        }
      }
    },
  },
  {
    name: "prune: prune keeps checkpoints younger than the age, and labelled ones if asked",
    async run({ open, clock }) {
      const thread = (await open()).thread("t");
      for (let n = 0; n < 6; n++) {
        await thread.put({ id: `c${n}`, state: { n }, ...(n === 1 ? { label: "keep" } : {}) });
        clock.advance(1000);
      }
      await thread.label("c0", "later");
      assert.equal((await thread.prune({ keepLast: 1, olderThan: 10_000 })).deleted, 0);
      // A checkpoint of exactly that age is not younger.
      assert.equal((await thread.prune({ keepLast: 1, olderThan: 3_000, dryRun: true })).deleted, 4);
      assert.equal((await thread.prune({ keepLast: 1, olderThan: 0, dryRun: true })).deleted, 5);
      assert.equal(
        (await thread.prune({ keepLast: 1, olderThan: 2_500, keepLabelled: true, dryRun: true })).deleted,
        2,
      );
      assert.equal((await thread.prune({ keepLast: 1, olderThan: 2_500, keepLabelled: true })).deleted, 2);
      exact(await idsOf(thread), ["c5", "c4", "c1", "c0"]);
      exact(
        [(await thread.get("c4"))?.parent, (await thread.get("c1"))?.parent],
        ["c1", "c0"],
        "the nearest remaining ancestors",
      );
      assert.equal((await thread.prune({ keepLast: 1, keepLabelled: true })).deleted, 1);
      assert.equal((await thread.prune({ keepLast: 1 })).deleted, 2);
      exact(await idsOf(thread), ["c5"]);
      exact((await thread.latest())?.state, { n: 5 });
    },
  },
  {
    name: "prune: dryRun deletes nothing and returns the result of the real prune",
    async run({ open }) {
      const store = await open(smallPacks);
      for (const [index, options] of [
        { keepLast: 2 },
        { keepLast: 20 },
        { keepLast: 1, ancestors: "protect" },
        { keepLast: 10, keepLabelled: true },
      ].entries()) {
        const thread = store.thread(`t${index}`);
        const kept = await converse(thread, 45);
        await thread.put({ state: { branch: 1 } }, { parent: kept[20]?.id ?? "" });
        await thread.label(kept[18]?.id ?? "", "labelled");
        await thread.fork({ at: kept[30]?.id ?? "", into: `f${index}` });
        const before = await snapshot(store, thread.id);
        const promised = await thread.prune({ ...options, dryRun: true } as never);
        exact(await snapshot(store, thread.id), before);
        exact({ ...(await thread.prune(options as never)) }, { ...promised }, JSON.stringify(options));
        assert.equal(await thread.count(), 46 - promised.deleted);
      }
    },
  },
  {
    name: "prune: with forks, both sides keep their states, and seqs continue",
    async run({ open }) {
      const store = await open(smallPacks);
      const thread = store.thread("t");
      const kept = await converse(thread, 40);
      const forks = [5, 15, 16, 39].map((position) => ({ position, id: `f${position}` }));
      for (const { position, id } of forks) await thread.fork({ at: kept[position]?.id ?? "", into: id });
      await thread.copy("k");
      const whole = await snapshot(store, "t");
      assert.equal((await thread.prune({ keepLast: 5 })).deleted, 35);
      for (const { position, id } of forks) await readsBack(store.thread(id), kept.slice(0, position + 1));
      exact(await snapshot(store, "k"), renamed(whole, "k"));
      await readsBack(thread, kept.slice(35));
      assert.equal((await store.thread("f15").prune({ keepLast: 2 })).deleted, 14);
      await readsBack(store.thread("f15"), kept.slice(14, 16));
      await readsBack(store.thread("f16"), kept.slice(0, 17));
      const later = await converse(thread, 20);
      await store.compact();
      const again = await open();
      await readsBack(again.thread("t"), [...kept.slice(35), ...later]);
      await readsBack(again.thread("f39"), kept);
      exact(await snapshot(again, "k"), renamed(whole, "k"));
      exact(await again.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "prune: after repeated prunes of a growing conversation, everything left reads back",
    async run({ open }) {
      const store = await open(smallPacks);
      const thread = store.thread("t");
      let kept: Awaited<ReturnType<typeof converse>> = [];
      for (let round = 0; round < 12; round++) {
        kept.push(...(await converse(thread, 9)));
        const keepLast = [3, 12, 16, 17, 5][round % 5] ?? 1;
        assert.equal((await thread.prune({ keepLast })).deleted, Math.max(0, kept.length - keepLast));
        kept = kept.slice(-keepLast);
        await readsBack(thread, kept);
        exact(await idsOf(thread), kept.map(({ id }) => id).reverse());
      }
    },
  },
];

import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { converse } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { collect, idsOf, shaped, shapedInformation, wholeHistory } from "../../support/snapshot.ts";

export const history: readonly Case[] = [
  {
    name: "history: checkpoints come newest first, as metadata by default, whole when asked",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const put = [];
      for (let n = 0; n < 5; n++) put.push(await thread.put({ state: { n }, next: ["x"], metadata: { n } }));
      const listed = (await collect(thread.history())).map(shapedInformation);
      exact(listed, put.map(shapedInformation).reverse());
      const whole = (await wholeHistory(thread)).map(shaped);
      for (const checkpoint of whole) {
        exact(checkpoint, await thread.get(checkpoint.id).then((one) => one && shaped(one)));
      }
      exact(
        whole.map(({ state }) => state),
        [4, 3, 2, 1, 0].map((n) => ({ n })),
      );
    },
  },
  {
    name: "history: paging by limit and before, with an id or a seq, meets every checkpoint once",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const kept = await converse(thread, 150);
      const all = kept.map(({ id }) => id).reverse();
      for (const size of [1, 7, 64, 65, 149, 150, 151]) {
        for (const by of ["id", "seq"] as const) {
          const paged: string[] = [];
          let before: string | number | undefined;
          for (;;) {
            const page = await collect(thread.history({ limit: size, ...(before === undefined ? {} : { before }) }));
            paged.push(...page.map(({ id }) => id));
            const last = page.at(-1);
            if (last === undefined) break;
            before = last[by];
          }
          exact(paged, all, `pages of ${size} by ${by}`);
        }
      }
      const states = (await wholeHistory(thread, { limit: 3, before: kept[100]?.id ?? "" })).map(({ state }) => state);
      exact(states, [kept[99]?.state, kept[98]?.state, kept[97]?.state]);
      exact(await idsOf(thread, { before: kept[0]?.id ?? "" }), []);
      exact(await idsOf(thread, { before: Number.MAX_SAFE_INTEGER }), all);
      exact(await idsOf(thread, { before: 0 }), []);
    },
  },
  {
    name: "history: run and source filter, and limit counts the matches",
    async run({ open }) {
      const thread = (await open()).thread("t");
      for (let n = 0; n < 140; n++) {
        const run = n % 10 === 0 ? "tens" : n % 3 === 0 ? null : "rest";
        await thread.put({ id: `c${n}`, state: { n }, run, source: n % 2 === 0 ? "loop" : "update" });
      }
      const numbers = Array.from({ length: 140 }, (_, index) => 139 - index);
      const ids = (test: (n: number) => boolean): string[] => numbers.filter(test).map((n) => `c${n}`);
      exact(
        await idsOf(thread, { run: "tens" }),
        ids((n) => n % 10 === 0),
      );
      exact(
        await idsOf(thread, { source: "update" }),
        ids((n) => n % 2 === 1),
      );
      exact(
        await idsOf(thread, { run: "rest", source: "update", limit: 5 }),
        ids((n) => n % 10 !== 0 && n % 3 !== 0 && n % 2 === 1).slice(0, 5),
      );
      exact(await idsOf(thread, { run: "tens", limit: 3, before: "c40" }), ["c30", "c20", "c10"]);
      exact(await idsOf(thread, { run: "none" }), []);
      exact(await idsOf(thread, { source: "fork" }), []);
      exact((await wholeHistory(thread, { run: "tens", limit: 1 }))[0]?.state, { n: 130 });
    },
  },
  {
    name: "history: a history shows a single namespace",
    async run({ open }) {
      const store = await open();
      const root = store.thread("t");
      const nested = store.thread("t", { namespace: ["sub"] });
      for (let n = 0; n < 100; n++) await (n % 2 === 0 ? root : nested).put({ id: `c${n}`, state: { n } });
      const rootIds = Array.from({ length: 50 }, (_, index) => `c${98 - 2 * index}`);
      exact(await idsOf(root), rootIds);
      exact(await idsOf(nested, { limit: 2 }), ["c99", "c97"]);
      exact(await idsOf(nested, { before: "c3" }), ["c1"]);
      assert.equal(await nested.count(), 50);
    },
  },
  {
    name: "history: a walk may stop early, and another starts from the head",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await converse(thread, 70);
      const all = await idsOf(thread);
      const seen: string[] = [];
      for await (const { id } of thread.history()) {
        seen.push(id);
        if (seen.length === 3) break;
      }
      exact(seen, all.slice(0, 3));
      exact(await idsOf(thread), all);
      exact(await idsOf(thread, { limit: 0 }), []);
    },
  },
  {
    name: "history: a walk that meets commits and deletes on its way sees no checkpoint twice",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const kept = await converse(thread, 140);
      const seen: string[] = [];
      for await (const { id } of thread.history()) {
        seen.push(id);
        if (seen.length % 20 === 0) await converse(thread, 5);
        if (seen.length === 30) await thread.deleteCheckpoints(kept.slice(0, 20).map((one) => one.id));
      }
      assert.equal(new Set(seen).size, seen.length);
      const survivors = kept.slice(20).map(({ id }) => id);
      for (const id of survivors) assert.ok(seen.includes(id), `${id} was there all the time`);
    },
  },
  {
    name: "history: a walk continues while checkpoints are deleted, without them",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const kept = await converse(thread, 200);
      const seen: string[] = [];
      for await (const { id } of thread.history({ states: true })) {
        seen.push(id);
        if (seen.length === 2) await thread.prune({ keepLast: 5 });
      }
      exact(
        seen,
        kept
          .slice(-5)
          .map(({ id }) => id)
          .reverse(),
      );
    },
  },
];

import assert from "node:assert/strict";
import type { CheckpointInfo } from "../../../model/checkpoint.ts";
import type { Case } from "../../case.ts";
import { converse, readsBack } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { isOneLine } from "../../support/races.ts";
import { idsOf, wholeHistory } from "../../support/snapshot.ts";

const eight = Array.from({ length: 8 }, (_, n) => n);

export const concurrency: readonly Case[] = [
  {
    name: "concurrency: puts that are not awaited commit in call order, per handle",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const nested = store.thread("t", { namespace: ["sub"] });
      const pending: Promise<CheckpointInfo>[] = [];
      for (let n = 0; n < 100; n++) {
        pending.push(
          thread.put(n % 2 === 0 ? { id: `c${n}`, state: { n } } : { id: `c${n}`, update: { set: { odd: n } } }),
        );
        if (n % 10 === 0) pending.push(nested.put({ id: `n${n}`, state: { n } }));
      }
      await Promise.all(pending);
      exact(
        await idsOf(thread),
        Array.from({ length: 100 }, (_, n) => `c${99 - n}`),
      );
      exact(
        await idsOf(nested),
        Array.from({ length: 10 }, (_, n) => `n${90 - n * 10}`),
      );
      await isOneLine(thread);
      exact((await thread.latest())?.state, { n: 98, odd: 99 });
    },
  },
  {
    name: "concurrency: a failed put among puts that are not awaited fails none of the others",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const outcomes = await Promise.allSettled([
        thread.put({ id: "a", state: { list: [1] } }),
        thread.put({ state: {} }, { expect: "nope" }),
        thread.put({ id: "b", update: { append: { list: [2] } } }),
        thread.put({ update: { append: { missing: [1] } } }),
        thread.put({ state: { f: () => 1 } }),
        thread.put({ state: {} }, { parent: "nope" }),
        thread.put({ id: "c", update: { append: { list: [3] } } }),
      ]);
      exact(
        outcomes.map(({ status }) => status === "fulfilled"),
        [true, false, true, false, false, false, true],
      );
      exact(await idsOf(thread), ["c", "b", "a"]);
      exact((await thread.latest())?.state, { list: [1, 2, 3] });
    },
  },
  {
    name: "concurrency: 8 puts at once from 8 handles of a store make 8 seqs and a single line",
    async run({ open }) {
      const store = await open();
      const put = await Promise.all(eight.map((n) => store.thread("t").put({ id: `c${n}`, state: { n } })));
      assert.equal(new Set(put.map(({ seq }) => seq)).size, 8);
      const thread = store.thread("t");
      await isOneLine(thread);
      for (const n of eight) exact((await thread.get(`c${n}`))?.state, { n });
      await Promise.all(eight.map((n) => store.thread("u").put({ update: { set: { [`k${n}`]: n } } })));
      exact(Object.keys((await store.thread("u").latest())?.state ?? {}).length, 8, "updates at once all count");
    },
  },
  {
    name: "concurrency: two stores at once on a thread lose no update",
    requires: ["processes"],
    async run({ open }) {
      const stores = [await open(), await open()];
      await stores[0]?.thread("t").put({ state: { list: [], texts: "" } });
      await Promise.all(
        stores.flatMap((store, which) =>
          eight.map(async (n) => {
            for (let round = 0; round < 10; round++) {
              await store.thread("t").put({ update: { append: { list: [[which, n, round]], texts: "x" } } });
            }
          }),
        ),
      );
      for (const store of [...stores, await open()]) {
        const thread = store.thread("t");
        assert.equal(await thread.count(), 161);
        await isOneLine(thread);
        const state = (await thread.latest())?.state;
        exact(state?.texts, "x".repeat(160));
        assert.equal(new Set(state?.list.map((one: unknown) => JSON.stringify(one))).size, 160);
        for (const [index, one] of (await wholeHistory(thread)).reverse().entries()) {
          assert.equal(one.state.list.length, index);
        }
        exact(await store.verify(), { ok: true, faults: [] });
      }
    },
  },
  {
    name: "concurrency: forks and copies made during puts are whole prefixes, and stay unchanged",
    async run({ open, capabilities }) {
      const store = await open();
      const other = capabilities.processes ? await open() : store;
      const thread = store.thread("t");
      const kept = await converse(thread, 3);
      const putting = converse(thread, 150);
      const made: string[] = [];
      for (let n = 0; n < 15; n++) {
        const source = other.thread("t");
        made.push((n % 3 === 2 ? await source.copy(`k${n}`) : await source.fork({ into: `f${n}` })).id);
      }
      kept.push(...(await putting));
      for (const id of made) {
        const forked = store.thread(id);
        const count = await forked.count();
        assert.ok(count >= 3);
        await readsBack(forked, kept.slice(Math.max(0, count - 5), count));
        exact(
          await idsOf(forked),
          kept
            .slice(0, count)
            .map((one) => one.id)
            .reverse(),
        );
      }
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "concurrency: prunes, deletes and compactions during puts lose nothing that they should keep",
    async run({ open, capabilities }) {
      const store = await open();
      const other = capabilities.processes ? await open() : store;
      const thread = store.thread("t");
      const forked = await (async () => {
        await converse(thread, 70);
        return thread.fork({ into: "f" });
      })();
      const expected = await wholeHistory(forked);
      let deleted = 0;
      const putting = converse(thread, 150);
      for (let n = 0; n < 12; n++) {
        if (n % 4 === 3) await other.compact();
        else if (n % 4 === 2) {
          const old = await idsOf(other.thread("t"));
          deleted += await other.thread("t").deleteCheckpoints(old.slice(-2));
        } else deleted += (await other.thread("t").prune({ keepLast: 20 })).deleted;
      }
      const kept = await putting;
      assert.equal(await thread.count(), 220 - deleted);
      const left = await idsOf(thread);
      await readsBack(
        thread,
        kept.filter(({ id }) => left.includes(id)),
      );
      // The last prune keeps twenty; the deletes after it take two each, at most three times.
      exact(
        left.slice(0, 14),
        kept
          .slice(-14)
          .map(({ id }) => id)
          .reverse(),
      );
      exact(await wholeHistory(forked), expected);
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "concurrency: 20 threads at once keep their histories apart",
    async run({ open, capabilities }) {
      const stores = capabilities.processes ? [await open(), await open()] : [await open()];
      const all = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          converse((stores[n % stores.length] ?? assert.fail()).thread(`t${n}`), 70, `${n} `),
        ),
      );
      const reader = await open();
      for (const [n, kept] of all.entries()) {
        await readsBack(
          reader.thread(`t${n}`),
          kept.filter((_, index) => index % 10 === 9),
        );
        assert.equal(await reader.thread(`t${n}`).count(), 70);
      }
    },
  },
  {
    name: "concurrency: every operation of a store sees what another store has committed before",
    requires: ["processes"],
    async run({ open }) {
      const here = await open();
      const there = await open();
      const error = { task: "t", writes: [{ channel: "c", value: 1, index: -1 }] };
      const calls: Record<string, [(id: string) => Promise<unknown>, unknown]> = {
        fork: [async (id) => (await (await here.thread(id).fork()).latest())?.id, "c4"],
        "fork of a nested namespace": [
          async (id) => {
            const forked = await here.thread(id).fork();
            return here.thread(forked.id, { namespace: ["sub"] }).count();
          },
          1,
        ],
        copy: [async (id) => (await here.thread(id).copy(`${id} copied`)).count(), 4],
        prune: [async (id) => (await here.thread(id).prune({ keepLast: 1 })).deleted, 3],
        "dry prune": [async (id) => (await here.thread(id).prune({ keepLast: 1, dryRun: true })).deleted, 3],
        deleteCheckpoints: [(id) => here.thread(id).deleteCheckpoints(["c2", "c4"]), 2],
        deleteRun: [(id) => here.thread(id).deleteRun("r"), 3],
        label: [(id) => here.thread(id).label("c3", "x"), undefined],
        expect: [async (id) => (await here.thread(id).put({ state: {} }, { expect: "c4" })).parent, "c4"],
        parent: [async (id) => (await here.thread(id).put({ state: {} }, { parent: "c3" })).parent, "c3"],
        put: [async (id) => (await here.thread(id).put({ state: {} })).parent, "c4"],
        replace: [async (id) => (await here.thread(id).put({ id: "c3", state: {} })).parent, "c2"],
        putWrites: [async (id) => (await here.thread(id).putWrites("c3", error)).stored, 1],
        count: [(id) => here.thread(id).count(), 4],
        namespaces: [async (id) => (await here.thread(id).namespaces()).length, 2],
        diff: [async (id) => (await here.thread(id).diff("c2", "c4")).length, 1],
      };
      for (const [name, [call, expected]] of Object.entries(calls)) {
        await here.thread(name).put({ id: "c1", state: { n: 1 } });
        await there.thread(name).latest();
        for (const n of [2, 3, 4]) await there.thread(name).put({ id: `c${n}`, state: { n }, run: "r" });
        await there.thread(name, { namespace: ["sub"] }).put({ id: "nested", state: {} });
        exact(await call(name), expected, name);
      }
    },
  },
];

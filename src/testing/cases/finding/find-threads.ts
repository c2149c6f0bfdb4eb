import assert from "node:assert/strict";
import type { Store } from "../../../api/store.ts";
import type { ThreadsOptions } from "../../../model/interface/store-options.ts";
import type { Case, Free } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { collect } from "../../support/snapshot.ts";

async function found<State>(store: Store<State>, options: ThreadsOptions): Promise<readonly string[]> {
  const newest = await collect(store.threads({ order: "updated", ...options }));
  const byId = await collect(store.threads(options.after === undefined ? { ...options, order: "id" } : options));
  const { limit, after } = options;
  // Both orders find the same threads.
  if (limit === undefined && after === undefined) {
    assert.deepEqual(byId.map(({ id }) => id).sort(), newest.map(({ id }) => id).sort());
  }
  return newest.map(({ id }) => id);
}

export const findThreads: readonly Case[] = [
  {
    name: "finding: threads are found by status, workflow, run and activity, alone and together, newest first",
    async run({ open, clock }) {
      const store = await open();
      const next = { paused: ["x"], done: [] } as const;
      const put = async (id: string, workflow: string, status: "paused" | "done", run: string): Promise<void> => {
        clock.advance(1500);
        await store.thread(id).put({ state: {}, workflow, next: next[status], run });
      };
      const start = clock.now();
      await put("a", "one", "paused", "r1");
      await put("b", "two", "done", "r2");
      await put("c", "one", "done", "r2");
      await put("d", "one", "paused", "r3");
      exact(await found(store, {}), ["d", "c", "b", "a"]);
      exact(await found(store, { status: "paused" }), ["d", "a"]);
      exact(await found(store, { status: ["paused", "done"] }), ["d", "c", "b", "a"]);
      exact(await found(store, { status: [] }), []);
      exact(await found(store, { workflow: "one" }), ["d", "c", "a"]);
      exact(await found(store, { workflow: "none" }), []);
      exact(await found(store, { workflow: "one", status: "done" }), ["c"]);
      exact(await found(store, { run: "r2" }), ["c", "b"]);
      exact(await found(store, { run: "r2", workflow: "two" }), ["b"]);
      exact(await found(store, { updatedAfter: start + 3000 }), ["d", "c"]);
      exact(await found(store, { updatedBefore: start + 3000 }), ["a"]);
      exact(await found(store, { updatedAfter: start + 1500, updatedBefore: start + 6000, status: "done" }), [
        "c",
        "b",
      ]);
      exact(await found(store, { prefix: "c" }), ["c"]);
      exact(await found(store, { limit: 2 }), ["d", "c"]);
      await store.thread("a").put({ state: {}, run: "r4", next: [] });
      exact(await found(store, { status: "paused" }), ["d"]);
      // A thread is found by its earlier runs, too.
      exact(await found(store, { run: "r1" }), ["a"]);
      exact(await found(store, { run: "r4" }), ["a"]);
    },
  },
  {
    name: "finding: a list goes on from a cursor, whatever happened to the threads before it",
    async run({ open, clock }) {
      const store = await open();
      for (let number = 0; number < 9; number += 1) {
        await store.thread(`t${number}`).put({ state: {}, attributes: { tenant: "acme" } });
        clock.advance(number % 3 === 0 ? 1000 : 5);
      }
      const query = { order: "updated", where: { tenant: "acme" } } as const;
      const whole = await collect(store.threads(query));
      exact(
        whole.map(({ id }) => id),
        ["t8", "t7", "t6", "t5", "t4", "t3", "t2", "t1", "t0"],
      );
      for (const [index, { cursor }] of whole.entries()) {
        const rest = await collect(store.threads({ ...query, after: cursor }));
        assert.deepEqual(
          rest.map(({ id }) => id),
          whole.slice(index + 1).map(({ id }) => id),
        );
      }
      const at = whole[3]?.cursor as string;
      clock.advance(2000);
      await store.thread("t5").delete();
      await store.thread("t2").put({ state: {} });
      await store.thread("t1").put({ state: {}, attributes: { tenant: null } });
      const rest = await collect(store.threads({ ...query, after: at }));
      exact(
        rest.map(({ id }) => id),
        ["t4", "t3", "t0"],
      );
      const byId = await collect(store.threads({ limit: 2 }));
      assert.deepEqual(
        byId.map(({ cursor }) => cursor),
        ["t0", "t1"],
      );
    },
  },
  {
    name: "finding: many threads of one second come in pages without gaps or doubles",
    async run({ open }) {
      const store = await open();
      const ids = Array.from({ length: 150 }, (_, number) => `t${number}`);
      await Promise.all(ids.map((id) => store.thread(id).put({ state: {} })));
      const seen: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await collect(store.threads({ order: "updated", limit: 40, ...(after && { after }) }));
        seen.push(...page.map(({ id }) => id));
        after = page.at(-1)?.cursor;
        if (page.length < 40) break;
      }
      assert.equal(seen.length, ids.length);
      assert.deepEqual(seen.sort(), ids.toSorted());
    },
  },
  {
    name: "finding: the index follows forks, copies, deletions and prunes",
    async run({ open, clock }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: {}, next: ["x"], workflow: "w", run: "r", attributes: { tenant: "acme" } });
      await thread.put({ id: "b", state: {}, next: [] });
      clock.advance(5000);
      await thread.fork({ at: "a", into: "fork" });
      await thread.fork({ at: "b", into: "edited", edits: { x: 1 } });
      await thread.copy("copy");
      exact([...(await found(store, { where: { tenant: "acme" } }))].sort(), ["copy", "edited", "fork", "t"]);
      exact([...(await found(store, { status: "paused", workflow: "w" }))].sort(), ["fork"]);
      exact([...(await found(store, { status: "done" }))].sort(), ["copy", "edited", "t"]);
      exact([...(await found(store, { run: "r" }))].sort(), ["copy", "edited", "fork", "t"]);
      exact([...(await found(store, { updatedAfter: clock.now() - 1 }))].sort(), ["copy", "edited", "fork"]);
      await thread.deleteCheckpoints(["b"]);
      exact([...(await found(store, { status: "paused" }))].sort(), ["fork", "t"]);
      await store.thread("copy").prune({ keepLast: 1 });
      exact([...(await found(store, { status: "done" }))].sort(), ["copy", "edited"]);
      await thread.deleteCheckpoints(["a"]);
      exact([...(await found(store, { status: "paused" }))].sort(), ["fork"]);
      await store.thread("fork").delete();
      exact([...(await found(store, {}))].sort(), ["copy", "edited"]);
      await store.compact();
      exact([...(await found(store, { where: { tenant: "acme" } }))].sort(), ["copy", "edited"]);
      assert.deepEqual((await store.verify()).faults, []);
    },
  },
  {
    name: "finding: a replaced head changes the status that a thread is found by",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: {}, next: ["x"] });
      await thread.put({ id: "b", state: {}, next: ["x"] });
      await thread.put({ id: "b", state: {}, next: [] });
      exact(await found(store, { status: "done" }), ["t"]);
      await thread.put({ id: "a", state: {}, next: [] });
      exact(await found(store, { status: "done" }), ["t"]);
      exact(await found(store, { status: "paused" }), []);
    },
  },
  {
    name: "finding: a thread runs as long as its lease, without a commit when that ends",
    async run({ open, clock }) {
      const store = await open();
      await store.thread("free").put({ state: {}, next: ["x"] });
      const thread = store.thread("t");
      await thread.put({ state: {}, next: ["x"] });
      const lease = await thread.acquire({ ttl: 1000 });
      exact(await found(store, { status: "running" }), ["t"]);
      exact(await found(store, { status: "paused" }), ["free"]);
      exact([...(await found(store, { status: ["running", "paused"] }))].sort(), ["free", "t"]);
      clock.advance(900);
      await lease.renew();
      clock.advance(900);
      exact(await found(store, { status: "running" }), ["t"]);
      clock.advance(200);
      exact(await found(store, { status: "running" }), []);
      exact([...(await found(store, { status: "paused" }))].sort(), ["free", "t"]);
      const { status } = await store.counts();
      exact([status.running, status.paused], [0, 2]);
    },
  },
  {
    name: "finding: a store sees what another has changed, at once",
    requires: ["processes"],
    async run({ open, clock }) {
      const [one, other] = [await open(), await open()];
      await one.thread("t").put({ state: {}, next: ["x"], attributes: { tenant: "acme" } });
      exact(await found(other, { where: { tenant: "acme" }, status: "paused" }), ["t"]);
      clock.advance(3000);
      await other.thread("t").put({ state: {}, next: [] });
      await Promise.all(
        Array.from({ length: 10 }, async (_, number) => {
          await (number % 2 === 0 ? one : other).thread("t").setAttributes({ [`a${number}`]: number });
        }),
      );
      exact(await found(one, { where: { tenant: "acme" }, status: "paused" }), []);
      exact(await found(one, { where: { a3: 3, a8: { gte: 8 } }, status: "done" }), ["t"]);
      await one.thread("t").delete();
      exact(await found(other, { where: { tenant: "acme" } }), []);
      assert.deepEqual((await other.verify()).faults, []);
    },
  },
  {
    name: "finding: stores that change the same threads at once leave an index that is right",
    requires: ["processes"],
    async run({ open, clock }) {
      const stores = [await open(), await open()] as const;
      const ids = ["a", "b", "c", "d"];
      for (const id of ids) await stores[0].thread(id).put({ id: "first", state: {}, workflow: "w", next: ["x"] });
      const answer = { channel: "answer", value: "yes", index: -4 };
      const change = async (store: Store<Free>, round: number, writer: number): Promise<void> => {
        const id = ids[(round + writer) % ids.length] as string;
        const thread = store.thread(id);
        const asks = { next: ["x"], interrupts: [{ id: `q${round}`, node: "x", value: round }] };
        const steps = [
          () => thread.put({ state: { round }, ...(round % 3 === 0 ? asks : {}), attributes: { round, writer } }),
          () => thread.setAttributes({ writer, [`w${writer}`]: round }),
          () => thread.putWrites("first", { task: `q${round}`, writes: [answer] }),
          () => thread.fork({ at: "first", into: `${id}-${round}-${writer}` }),
          () => store.thread(`${id}-${round - 4}-${writer}`).delete(),
        ];
        await steps[round % steps.length]?.();
      };
      for (let round = 0; round < 15; round += 1) {
        clock.advance(400);
        await Promise.all(stores.map((store, writer) => change(store, round, writer)));
      }
      for (const store of stores) {
        const all = await collect(store.threads());
        assert.deepEqual([...(await found(store, {}))].sort(), all.map(({ id }) => id).sort());
        const { threads, status } = await store.counts();
        assert.equal(threads, all.length);
        for (const one of ["waiting", "paused", "done"] as const) {
          const ids = all.filter((info) => info.status === one).map(({ id }) => id);
          assert.deepEqual([...(await found(store, { status: one }))].sort(), ids.sort());
          assert.equal(status[one], ids.length);
        }
        for (const info of all) {
          const { writer } = info.attributes;
          if (writer !== undefined) assert.ok((await found(store, { where: { writer } })).includes(info.id));
        }
      }
      assert.deepEqual((await stores[1].verify()).faults, []);
    },
  },
];

import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith } from "../../support/failures.ts";
import { collect, renamed, snapshot } from "../../support/snapshot.ts";

export const closing: readonly Case[] = [
  {
    name: "close: a closed store refuses every call with CLOSED, may be closed again, and keeps its commits",
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
        prune: () => thread.prune({ keepLast: 1 }),
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
        measure: () => store.measure(),
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
    name: "close: close waits for calls under way, and `await using` closes",
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
    name: "close: a history, a list of threads and an export end when they are disposed of",
    async run({ open }) {
      const store = await open();
      for (const n of [1, 2, 3]) await store.thread(`t${n}`).put({ state: { n } });
      await store.thread("t1").put({ state: { n: 4 } });
      for (const items of [store.thread("t1").history(), store.threads(), store.export()]) {
        exact((await items.next()).done, false, "before it is disposed of");
        await items[Symbol.asyncDispose]();
        exact((await items.next()).done, true, "after it is disposed of");
      }
      await store.close();
    },
  },
];

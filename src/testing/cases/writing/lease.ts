import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";
import { collect, idsOf, snapshot } from "../../support/snapshot.ts";

export const lease: readonly Case[] = [
  {
    name: "lease: a held lease is BUSY for everyone, and the error names holder and time left",
    async run({ open, clock }) {
      const thread = (await open()).thread("t");
      const held = await thread.acquire({ holder: "worker-7", ttl: 30_000 });
      exact([held.thread, held.holder, held.expiresAt], ["t", "worker-7", clock.now() + 30_000]);
      assert.ok(Number.isSafeInteger(held.epoch));
      clock.advance(10_000);
      for (const holder of ["worker-8", "worker-7"]) {
        const error = await failsWith("BUSY", () => thread.acquire({ holder, ttl: 1000 }));
        exact([error.thread, error.holder, error.remaining], ["t", "worker-7", 20_000]);
        assert.match(error.message, /worker-7/);
      }
      await held.release();
      const next = await thread.acquire({ holder: "worker-8", ttl: 1000 });
      assert.ok(next.epoch > held.epoch);
    },
  },
  {
    name: "lease: a lease makes no thread, and its holder puts from the first checkpoint on",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const held = await thread.acquire({ holder: "a", ttl: 1000 });
      exact(await collect(store.threads()), []);
      assert.equal(await thread.latest(), undefined);
      await thread.put({ id: "one", state: { n: 1 } }, { lease: held, expect: null });
      await thread.put({ id: "two", update: { set: { n: 2 } } }, { lease: held });
      await thread.putWrites("two", { task: "t", writes: [{ channel: "c", value: 1 }] }, { lease: held });
      await store.thread("t", { namespace: ["sub"] }).put({ id: "n", state: {} }, { lease: held });
      exact(await idsOf(thread), ["two", "one"]);
      assert.equal((await thread.writes("two")).length, 1);
    },
  },
  {
    name: "lease: a put without the lease is BUSY until it runs out; putWrites and reads are not",
    async run({ open, clock }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: {} });
      await thread.acquire({ holder: "worker", ttl: 5000 });
      const before = await snapshot(store, "t");
      const error = await failsWith("BUSY", () => thread.put({ state: {} }));
      exact([error.holder, error.remaining], ["worker", 5000]);
      await failsWith("BUSY", () => store.thread("t", { namespace: ["sub"] }).put({ state: {} }));
      exact(await snapshot(store, "t"), before);
      await thread.putWrites("a", { task: "answer", writes: [{ channel: "resume", value: true, index: -4 }] });
      assert.equal((await thread.writes("a")).length, 1);
      await store.thread("other").put({ state: {} });
      clock.advance(5001);
      await thread.put({ id: "b", state: {} });
      exact(await idsOf(thread), ["b", "a"]);
    },
  },
  {
    name: "lease: an expired lease still commits until another is acquired, then it is FENCED",
    async run({ open, clock }) {
      const store = await open();
      const thread = store.thread("t");
      const old = await thread.acquire({ holder: "slow", ttl: 1000 });
      clock.advance(60_000);
      await thread.put({ id: "late", state: {} }, { lease: old });
      const fresh = await thread.acquire({ holder: "fast", ttl: 1000 });
      assert.ok(fresh.epoch > old.epoch);
      await thread.put({ id: "fast", state: {} }, { lease: fresh });
      const before = await snapshot(store, "t");
      const write = { task: "t", writes: [{ channel: "c", value: 1 }] };
      for (let round = 0; round < 2; round++) {
        await failsWith("FENCED", () => thread.put({ state: {} }, { lease: old }));
        await failsWith("FENCED", () => thread.putWrites("late", write, { lease: old }));
        await failsWith("FENCED", () => thread.put({ id: "late", state: {} }, { lease: old }));
        await failsWith("FENCED", () => old.renew());
        clock.advance(60_000);
      }
      exact(await snapshot(store, "t"), before);
    },
  },
  {
    name: "lease: a stale release does not end the lease of another",
    async run({ open, clock }) {
      const thread = (await open()).thread("t");
      const old = await thread.acquire({ holder: "old", ttl: 1000 });
      clock.advance(2000);
      const fresh = await thread.acquire({ holder: "fresh", ttl: 1000 });
      await old.release().catch(() => undefined);
      await failsWith("BUSY", () => thread.acquire({ holder: "third", ttl: 1000 }));
      await thread.put({ state: {} }, { lease: fresh });
    },
  },
  {
    name: "lease: renewing a lease extends its time to live and keeps its epoch",
    async run({ open, clock }) {
      const thread = (await open()).thread("t");
      const held = await thread.acquire({ holder: "a", ttl: 1000 });
      const { epoch } = held;
      for (let round = 0; round < 5; round++) {
        clock.advance(900);
        await held.renew();
        exact([held.expiresAt, held.epoch], [clock.now() + 1000, epoch]);
        await failsWith("BUSY", () => thread.acquire({ holder: "b", ttl: 1000 }));
      }
      clock.advance(1001);
      const next = await thread.acquire({ holder: "b", ttl: 1000 });
      assert.ok(next.epoch > epoch);
    },
  },
  {
    name: "lease: after a release puts need no lease, and the released lease is FENCED",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const held = await thread.acquire({ holder: "a", ttl: 1000 });
      await thread.put({ id: "a", state: {} }, { lease: held });
      await held.release();
      await thread.put({ id: "b", state: {} });
      await failsWith("FENCED", () => thread.put({ state: {} }, { lease: held }));
      await failsWith("FENCED", () => held.renew());
      exact(await idsOf(thread), ["b", "a"]);
    },
  },
  {
    name: "lease: epochs are never reused, not after release, expiry or delete, which ends the lease",
    async run({ open, clock, capabilities }) {
      const store = await open();
      const thread = store.thread("t");
      const other = capabilities.processes ? await open() : store;
      const epochs: number[] = [];
      for (let round = 0; round < 9; round++) {
        const reader = round % 2 === 0 ? thread : other.thread("t");
        const held = await reader.acquire({ holder: "a", ttl: 1000 });
        epochs.push(held.epoch);
        if (round % 3 !== 1) await reader.put({ state: { round } }, { lease: held });
        if (round % 3 === 0) await held.release();
        else if (round % 3 === 1) clock.advance(1001);
        else {
          await thread.delete();
          await failsWith("FENCED", () => reader.put({ state: {} }, { lease: held }));
        }
      }
      exact(
        epochs,
        [...new Set(epochs)].sort((left, right) => left - right),
      );
      await thread.delete();
      await store.compact();
      await store.close();
      const last = await (await open()).thread("t").acquire({ holder: "a", ttl: 1000 });
      assert.ok(last.epoch > (epochs.at(-1) ?? 0));
    },
  },
  {
    name: "lease: the lease is checked before expect and parent, BUSY too",
    async run({ open, clock }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: {} });
      const old = await thread.acquire({ holder: "old", ttl: 1000 });
      clock.advance(2000);
      const fresh = await thread.acquire({ holder: "fresh", ttl: 1000 });
      const wrong = { expect: "nope", parent: "nope" };
      await failsWith("FENCED", () => thread.put({ state: {} }, { ...wrong, lease: old }));
      await failsWith("BUSY", () => thread.put({ state: {} }, wrong));
      await failsWith("CONFLICT", () => thread.put({ state: {} }, { ...wrong, lease: fresh }));
      await failsWith("NOT_FOUND", () => thread.put({ state: {} }, { parent: "nope", lease: fresh }));
    },
  },
  {
    name: "lease: a lease belongs to a single thread; forks and copies do not have it",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: {} });
      const held = await thread.acquire({ holder: "a", ttl: 1000 });
      const forked = await thread.fork();
      const copied = await thread.copy("k");
      for (const other of [forked, copied]) {
        await other.put({ state: {} });
        await (await other.acquire({ holder: "b", ttl: 1000 })).release();
      }
      await thread.put({ state: {} }, { lease: held });
    },
  },
  {
    name: "lease: an import that would write a leased thread is BUSY; an import that changes nothing is not",
    async run({ open, clock }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { n: 1 } });
      const bundle = await collect(store.export());
      const before = await snapshot(store, "t");
      await thread.acquire({ holder: "worker", ttl: 5000 });
      exact(await store.import(bundle), { imported: 0, unchanged: 1, checkpoints: 1 });
      clock.advance(5001);
      await thread.delete();
      await thread.acquire({ holder: "worker", ttl: 5000 });
      const error = await failsWith("BUSY", () => store.import(bundle));
      exact([error.thread, error.holder, error.remaining], ["t", "worker", 5000]);
      exact(await collect(store.threads()), []);
      clock.advance(5001);
      exact(await store.import(bundle), { imported: 1, unchanged: 0, checkpoints: 1 });
      exact(await snapshot(store, "t"), before);
      await thread.deleteCheckpoints(["a"]);
      await thread.acquire({ holder: "worker", ttl: 5000 });
      await failsWith("BUSY", () => store.import(bundle));
    },
  },
  {
    name: "lease: bad arguments of a lease are a TypeError",
    async run({ open }) {
      const thread = (await open()).thread("t");
      for (const ttl of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "1000", undefined]) {
        await isMisuse(() => thread.acquire({ holder: "a", ttl: ttl as number }), `a ttl of ${ttl}`);
      }
      for (const holder of ["", 5, undefined]) {
        await isMisuse(() => thread.acquire({ holder: holder as string, ttl: 1000 }), `holder ${holder}`);
      }
      await (await thread.acquire({ holder: "a", ttl: 1000 })).release();
    },
  },
  {
    name: "lease: an epoch is not reused when the thread is deleted at the same time",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ state: {} });
      const [first] = await Promise.all([thread.acquire({ holder: "a", ttl: 1000 }), thread.delete()]);
      const second = await thread.acquire({ holder: "b", ttl: 1000 });
      assert.ok(second.epoch > first.epoch, `${first.epoch}, then ${second.epoch}`);
      await failsWith("FENCED", () => thread.put({ state: {} }, { lease: first }));
    },
  },
];

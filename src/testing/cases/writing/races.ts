import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { codesOf, isOneLine } from "../../support/races.ts";
import { collect, idsOf } from "../../support/snapshot.ts";

const eight = Array.from({ length: 8 }, (_, n) => n);

/** Several calls compete for a result that only one can have. */
export const races: readonly Case[] = [
  {
    name: "races: of 8 puts that expect the same head exactly one wins, the others get CONFLICT",
    async run({ open }) {
      const store = await open();
      for (const expect of [null, "a", "b"]) {
        const thread = store.thread("t");
        if (expect !== null) await thread.put({ id: expect, state: {} });
        const outcomes = await Promise.allSettled(
          eight.map((n) => store.thread("t").put({ state: { n } }, { expect })),
        );
        exact(codesOf(outcomes), ["", ...Array(7).fill("CONFLICT")]);
      }
      assert.equal(await store.thread("t").count(), 5);
    },
  },
  {
    name: "races: two stores that count with expect never lose a count",
    requires: ["processes"],
    async run({ open }) {
      const stores = [await open(), await open()];
      let conflicts = 0;
      await Promise.all(
        stores.flatMap((store) =>
          [1, 2, 3].map(async () => {
            const thread = store.thread("t");
            for (let done = 0; done < 10; ) {
              const head = await thread.latest();
              const n = (head?.state.n ?? 0) + 1;
              const [outcome] = await Promise.allSettled([thread.put({ state: { n } }, { expect: head?.id ?? null })]);
              if (outcome?.status === "fulfilled") done++;
              else {
                exact(codesOf([outcome as PromiseSettledResult<unknown>]), ["CONFLICT"]);
                conflicts++;
              }
            }
          }),
        ),
      );
      exact((await stores[1]?.thread("t").latest())?.state, { n: 60 }, `after ${conflicts} conflicts`);
      await isOneLine(stores[0]?.thread("t") ?? assert.fail());
    },
  },
  {
    name: "races: 8 puts of one id at once leave one checkpoint, whole",
    async run({ open }) {
      const store = await open();
      const put = await Promise.all(
        eight.map((n) => store.thread("t").put({ id: "same", state: { n, list: Array(n).fill(n) } })),
      );
      assert.equal(new Set(put.map(({ seq }) => seq)).size, 1);
      assert.equal(await store.thread("t").count(), 1);
      const state = (await store.thread("t").latest())?.state;
      exact(state, { n: state?.n, list: Array(state?.n).fill(state?.n) });
    },
  },
  {
    name: "races: of 8 that acquire a lease at once exactly one gets it, also from two stores",
    async run({ open, clock, capabilities }) {
      const stores = capabilities.processes ? [await open(), await open()] : [await open()];
      const epochs: number[] = [];
      for (let round = 0; round < 5; round++) {
        const outcomes = await Promise.allSettled(
          eight.map((n) =>
            (stores[n % stores.length] ?? assert.fail()).thread("t").acquire({ holder: `h${n}`, ttl: 1000 }),
          ),
        );
        exact(codesOf(outcomes), ["", ...Array(7).fill("BUSY")]);
        for (const outcome of outcomes) if (outcome.status === "fulfilled") epochs.push(outcome.value.epoch);
        clock.advance(1001);
      }
      exact(
        epochs,
        [...new Set(epochs)].sort((left, right) => left - right),
      );
    },
  },
  {
    name: "races: of puts at once by a stale holder and its successor, only the successor's are committed",
    async run({ open, clock, capabilities }) {
      const store = await open();
      const other = capabilities.processes ? await open() : store;
      for (let round = 0; round < 5; round++) {
        const id = `t${round}`;
        const old = await store.thread(id).acquire({ holder: "old", ttl: 10 });
        clock.advance(20);
        const fresh = await other.thread(id).acquire({ holder: "fresh", ttl: 10_000 });
        const outcomes = await Promise.allSettled(
          eight.flatMap((n) => [
            store.thread(id).put({ id: `old${n}`, state: {} }, { lease: old }),
            other.thread(id).put({ id: `fresh${n}`, state: {} }, { lease: fresh }),
          ]),
        );
        exact(codesOf(outcomes), [...Array(8).fill(""), ...Array(8).fill("FENCED")]);
        assert.ok((await idsOf(store.thread(id))).every((one) => one.startsWith("fresh")));
      }
    },
  },
  {
    name: "races: of 8 forks or copies into one id exactly one wins, the others get CONFLICT",
    async run({ open, capabilities }) {
      const stores = capabilities.processes ? [await open(), await open()] : [await open()];
      const store = stores[0] ?? assert.fail();
      await store.thread("t").put({ id: "a", state: { n: 1 } });
      const outcomes = await Promise.allSettled(
        eight.map((n) => {
          const thread = (stores[n % stores.length] ?? store).thread("t");
          return n % 2 === 0 ? thread.fork({ into: "f" }) : thread.copy("f");
        }),
      );
      exact(codesOf(outcomes), ["", ...Array(7).fill("CONFLICT")]);
      exact((await store.thread("f").latest())?.state, { n: 1 });
      assert.equal((await collect(store.threads())).length, 2);
    },
  },
  {
    name: "races: of 8 equal data writes exactly one is stored, and writes of all tasks are kept",
    async run({ open, capabilities }) {
      const stores = capabilities.processes ? [await open(), await open()] : [await open()];
      const store = stores[0] ?? assert.fail();
      await store.thread("t").put({ id: "a", state: {} });
      const put = (n: number, task: string): Promise<{ stored: number; ignored: number }> =>
        (stores[n % stores.length] ?? store).thread("t").putWrites("a", { task, writes: [{ channel: "c", value: n }] });
      const same = await Promise.all(eight.map((n) => put(n, "same")));
      exact(same.map(({ stored }) => stored).sort(), [0, 0, 0, 0, 0, 0, 0, 1]);
      await Promise.all(eight.map((n) => put(n, `task ${n}`)));
      assert.equal((await store.thread("t").writes("a")).length, 9);
      const winner = same.findIndex(({ stored }) => stored === 1);
      exact((await store.thread("t").writes("a")).find(({ task }) => task === "same")?.value, winner);
    },
  },
  {
    name: "races: a thread and its forks leave nothing behind when all are deleted at once",
    async run({ open, capabilities }) {
      const stores = capabilities.processes ? [await open(), await open()] : [await open()];
      const [store = assert.fail()] = stores;
      for (const first of ["the source", "none"]) {
        const source = store.thread("source");
        for (const n of eight) await source.put({ state: { n } });
        const forks = await Promise.all(eight.map((n) => source.fork({ into: `fork ${n}` })));
        await forks[0]?.fork({ into: "fork of a fork" });
        if (first === "the source") await source.delete();
        const ids = (await collect(store.threads())).map(({ id }) => id);
        await Promise.all(ids.map((id, n) => stores[n % stores.length]?.thread(id).delete()));
        const { threads, bytes } = await store.measure();
        exact([threads, bytes.metadata, bytes.tail], [0, 0, 0], `what is left, deleted before the others: ${first}`);
      }
    },
  },
];

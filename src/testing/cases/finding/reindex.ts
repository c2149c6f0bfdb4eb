import assert from "node:assert/strict";
import type { Store } from "../../../api/store.ts";
import type { Case, Free } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { collect } from "../../support/snapshot.ts";

/** Compares lists and counts of a store, which the index answers, with all its threads. */
async function compareIndex(store: Store<Free>): Promise<void> {
  exact(await store.verify(), { ok: true, faults: [] });
  const all = await collect(store.threads());
  const newest = await collect(store.threads({ order: "updated" }));
  assert.deepEqual(newest.map(({ id }) => id).sort(), all.map(({ id }) => id).sort());
  exact((await store.counts()).threads, all.length);
  for (const status of ["waiting", "paused", "done"] as const) {
    const ids = (await collect(store.threads({ status, order: "updated" }))).map(({ id }) => id).sort();
    assert.deepEqual(
      ids,
      all
        .filter((info) => info.status === status)
        .map(({ id }) => id)
        .sort(),
    );
  }
}

export const reindex: readonly Case[] = [
  {
    name: "reindex: it tells its progress, can be stopped, and leaves an index that is right as it is",
    async run({ open }) {
      const store = await open();
      exact(await store.reindex(), 0);
      for (let n = 0; n < 20; n += 1) await store.thread(`t${n}`).put({ state: {}, next: n % 2 ? [] : ["x"] });
      await store.thread("t1").fork({ into: "f" });
      const done: number[] = [];
      exact(await store.reindex({ progress: (threads) => void done.push(threads) }), 21);
      exact(done.at(-1), 21);
      await compareIndex(store);
      const stop = new AbortController();
      const stopped = store.reindex({ signal: stop.signal, progress: () => stop.abort(new Error("enough")) });
      await assert.rejects(stopped, /enough/);
      await compareIndex(store);
    },
  },
  {
    name: "reindex: another store may write meanwhile, and the index is right",
    requires: ["processes"],
    async run({ open, clock }) {
      const [store, other] = [await open(), await open()];
      for (let n = 0; n < 40; n += 1) await store.thread(`t${n}`).put({ state: { n }, run: `r${n}`, next: ["x"] });
      let isDone = false;
      const write = async (): Promise<void> => {
        const asks = { next: ["x"], interrupts: [{ id: "q", node: "x", value: 1 }] };
        for (let round = 0; !isDone || round < 40; round += 1) {
          clock.advance(400);
          const thread = other.thread(`t${(7 * round) % 40}`);
          await thread.put({ state: { round }, ...(round % 2 === 0 && asks), attributes: { round } });
          if (round % 5 === 0) await thread.fork({ into: `f${round}` });
          if (round % 5 === 3) await other.thread(`f${round - 3}`).delete();
          if (round % 5 === 4) await thread.setAttributes({ round: null });
        }
      };
      const writing = write();
      for (let round = 0; round < 3; round += 1) await store.reindex();
      isDone = true;
      await writing;
      await compareIndex(store);
      await compareIndex(other);
    },
  },
];

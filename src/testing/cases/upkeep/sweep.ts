import assert from "node:assert/strict";
import type { Store } from "../../../api/store.ts";
import type { RetentionOptions } from "../../../model/retention/sweep.ts";
import type { Case, CaseContext, Free } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";

const day = 24 * 60 * 60 * 1000;

function sweeping({ open }: CaseContext, retention: RetentionOptions): Promise<Store<Free>> {
  return open({ retention });
}

async function listed(store: Store<Free>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of store.threads()) ids.push(id);
  return ids;
}

async function steps(store: Store<Free>, id: string, count: number, fields: Free = {}): Promise<void> {
  for (let n = 0; n < count; n += 1) await store.thread(id).put({ state: { n, id }, ...fields });
}

export const sweep: readonly Case[] = [
  {
    name: "sweep: idle threads of the named statuses go, those in use, waiting or active stay",
    async run(context) {
      const store = await sweeping(context, { threads: { idle: "30d", status: ["done", "paused"] } });
      for (const id of ["done", "again", "leased", "mail"]) await steps(store, id, 2);
      await steps(store, "paused", 2, { next: ["act"] });
      await steps(store, "waiting", 2, { next: ["ask"], interrupts: [{ id: "q", node: "ask", value: "?" }] });
      await steps(store, "due", 2, { next: ["act"], due: context.clock.now() + 90 * day });
      const failed = await store.thread("failed").put({ state: {}, next: ["act"] });
      await store
        .thread("failed")
        .putWrites(failed.id, { task: "t", writes: [{ channel: "e", index: -1, value: "no" }] });
      context.clock.advance(31 * day);
      await store.thread("leased").acquire({ ttl: day });
      await steps(store, "again", 1);
      const would = await store.sweep({ dryRun: true });
      exact([would.threads, would.checkpoints, would.spared], [3, 0, 2]);
      assert.equal((await listed(store)).length, 8);
      exact(await store.sweep(), would);
      exact(await listed(store), ["again", "due", "failed", "leased", "waiting"]);
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "sweep: old checkpoints go as in prune, of quiet threads once they are old, and labelled ones stay",
    async run(context) {
      const store = await sweeping(context, { checkpoints: { keepLast: 3, olderThan: "7d", keepLabelled: true } });
      await steps(store, "a", 10);
      await steps(store, "short", 3);
      await store.thread("a").label({ step: 0 }, "first");
      exact((await store.sweep()).checkpoints, 0);
      context.clock.advance(8 * day);
      const would = await store.sweep({ dryRun: true });
      exact(would.checkpoints, 6);
      exact(await store.sweep(), would);
      exact([await store.thread("a").count(), await store.thread("short").count()], [4, 3]);
      exact((await store.thread("a").latest())?.state, { n: 9, id: "a" });
      exact((await store.sweep()).checkpoints, 0);
      await steps(store, "a", 5);
      context.clock.advance(8 * day);
      exact((await store.sweep()).checkpoints, 5);
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "sweep: a workflow's rules take the place of the general ones",
    async run(context) {
      const retention = {
        checkpoints: { keepLast: 2 },
        workflows: { audit: {}, chat: { checkpoints: { keepLast: 4 }, threads: { idle: day } } },
      };
      const store = await sweeping(context, retention);
      for (const workflow of ["audit", "chat", "mail"]) await steps(store, workflow, 6, { workflow });
      await steps(store, "none", 6);
      await store.sweep();
      const counts = async (): Promise<number[]> =>
        Promise.all(["audit", "chat", "mail", "none"].map((id) => store.thread(id).count()));
      exact(await counts(), [6, 4, 2, 2]);
      context.clock.advance(2 * day);
      exact((await store.sweep()).threads, 1);
      exact(await counts(), [6, 0, 2, 2]);
    },
  },
  {
    name: "sweep: forks read as before when their source is swept, and go by their own activity",
    async run(context) {
      const store = await sweeping(context, { threads: { idle: "10d" }, checkpoints: { keepLast: 2 } });
      await steps(store, "source", 6);
      const fork = await store.thread("source").fork({ at: { step: 3 }, into: "fork" });
      await store.sweep();
      exact([await store.thread("source").count(), await fork.count()], [2, 2]);
      context.clock.advance(6 * day);
      await fork.put({ update: { set: { more: 1 } } });
      const before = await fork.latest();
      context.clock.advance(6 * day);
      exact((await store.sweep()).threads, 1);
      exact([await listed(store), await fork.latest()], [["fork"], before]);
      context.clock.advance(11 * day);
      exact([(await store.sweep()).threads, await listed(store)], [1, []]);
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "sweep: its lease is one process's at a time; stats tell the last sweep, and lists do not show it",
    async run(context) {
      const store = await sweeping(context, { threads: { idle: day }, every: "12h" });
      exact((await store.stats()).sweep, null);
      await steps(store, "a", 2);
      await steps(store, "b", 2);
      context.clock.advance(2 * day);
      let nested: Promise<unknown> | undefined;
      const { bytes } = await store.sweep({
        progress: () => {
          nested ??= failsWith("BUSY", () => store.sweep());
        },
      });
      assert.ok(nested, "the sweep told no progress");
      await nested;
      const at = context.clock.now();
      exact((await store.stats()).sweep, {
        threads: 2,
        checkpoints: 0,
        bytes,
        spared: 0,
        damaged: 0,
        at,
        next: at + day / 2,
      });
      exact([await listed(store), (await store.stats()).threads, (await store.counts()).threads], [[], 0, 0]);
    },
  },
  {
    name: "sweep: a sweep that is aborted keeps what it did, and the next one goes on",
    async run(context) {
      const store = await sweeping(context, { threads: { idle: day }, checkpoints: { keepLast: 1 } });
      for (let n = 0; n < 20; n += 1) await steps(store, `t${n}`, 2);
      await steps(store, "kept", 3, { next: ["act"] });
      context.clock.advance(2 * day);
      const stop = new AbortController();
      const stopped = store.sweep({ signal: stop.signal, progress: () => stop.abort(new Error("enough")) });
      await assert.rejects(stopped, /enough/);
      const left = (await listed(store)).length;
      assert.ok(left < 21 && left > 1, `${left} threads are left`);
      const { threads, checkpoints } = await store.sweep();
      exact([threads, checkpoints, await listed(store)], [left - 1, 2, ["kept"]]);
    },
  },
  {
    name: "sweep: without retention it is a TypeError, and so are wrong rules and options, before any I/O",
    async run({ open }) {
      const store = await open();
      await isMisuse(() => store.sweep());
      for (const retention of [
        { threads: { idle: "soon" } },
        { threads: {} },
        { threads: { idle: 1, status: ["waiting"] } },
        { threads: { idle: 1, status: [] } },
        { checkpoints: {} },
        { checkpoints: { keepLast: -1 } },
        { checkpoints: { keepLast: 1, olderThan: "7 days" } },
        { workflows: { a: { every: 1 } } },
        { every: 0 },
        { evry: 1 },
      ]) {
        await isMisuse(() => open({ retention } as never), JSON.stringify(retention));
      }
      const ruled = await open({ retention: { threads: { idle: 1 } } });
      await isMisuse(() => ruled.sweep({ dry: true } as never));
    },
  },
];

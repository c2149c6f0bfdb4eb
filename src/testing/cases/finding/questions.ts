import assert from "node:assert/strict";
import { controlIndexes } from "../../../model/control-writes.ts";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { collect } from "../../support/snapshot.ts";

export const questions: readonly Case[] = [
  {
    name: "questions: every open one is listed, newest thread first, in pages, until it is answered",
    async run({ open, clock }) {
      const store = await open();
      const ask = async (id: string, ...names: readonly string[]): Promise<void> => {
        clock.advance(1000);
        const interrupts = names.map((name) => ({ id: name, node: "n", value: { ask: name } }));
        const next = ["n"];
        await store.thread(id).put({ id: `${id}1`, state: {}, workflow: "w", next, interrupts, attributes: { id } });
      };
      await ask("a", "a-one", "a-two");
      await ask("b", "b-one");
      const since = clock.now();
      const all = await collect(store.interrupts());
      exact(
        all.map(({ thread, id }) => [thread, id]),
        [
          ["b", "b-one"],
          ["a", "a-one"],
          ["a", "a-two"],
        ],
      );
      const [{ cursor: _, ...first }] = all as [(typeof all)[number]];
      exact(first, {
        thread: "b",
        workflow: "w",
        checkpoint: "b1",
        id: "b-one",
        node: "n",
        value: { ask: "b-one" },
        since,
      });
      for (const [index, { cursor }] of all.entries()) {
        const rest = await collect(store.interrupts({ after: cursor }));
        assert.deepEqual(
          rest.map(({ id }) => id),
          all.slice(index + 1).map(({ id }) => id),
        );
      }
      exact((await collect(store.interrupts({ where: { id: "a" }, limit: 1 }))).length, 1);
      exact(await collect(store.interrupts({ workflow: "other" })), []);
      const answer = { channel: "answer", value: "yes", index: controlIndexes.resume };
      await store.thread("a").putWrites("a1", { task: "a-one", writes: [answer] });
      exact(
        (await collect(store.interrupts())).map(({ id }) => id),
        ["b-one", "a-two"],
      );
      exact((await collect(store.threads({ status: "waiting" }))).length, 2);
      await store.thread("b").putWrites("b1", { task: "b-one", writes: [answer] });
      exact(
        (await collect(store.threads({ status: "waiting" }))).map(({ id }) => id),
        ["a"],
      );
    },
  },
  {
    name: "questions: LangGraph's count, until a later answer to their task or to any task",
    async run({ open, clock }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "c", state: {}, next: ["n"] });
      const status = async (): Promise<string | undefined> => (await collect(store.threads()))[0]?.status;
      const ask = { channel: "__interrupt__", value: [{ id: "q", value: "Sure?" }], index: controlIndexes.interrupt };
      const answer = { channel: "__resume__", value: "yes", index: controlIndexes.resume };
      await thread.putWrites("c", { task: "task", node: "n", writes: [ask] });
      assert.equal(await status(), "waiting");
      exact(
        (await collect(store.interrupts())).map(({ id, value, node }) => [id, value, node]),
        [["q", "Sure?", "n"]],
      );
      await thread.putWrites("c", { task: "task", writes: [answer] });
      assert.equal(await status(), "paused");
      clock.advance(1);
      await thread.putWrites("c", { task: "task", writes: [ask] });
      assert.equal(await status(), "waiting");
      clock.advance(1);
      await thread.putWrites("c", { task: "00000000-0000-0000-0000-000000000000", writes: [answer] });
      assert.equal(await status(), "paused");
      exact(await collect(store.interrupts()), []);
      // A task that asks again saves its earlier answers with the question.
      clock.advance(1);
      await thread.putWrites("c", { task: "task", writes: [ask, answer] });
      assert.equal(await status(), "waiting");
      const copy = await thread.copy("copy");
      await copy.putWrites("c", { task: "task", writes: [answer] });
      exact(
        (await collect(store.threads())).map((one) => one.status),
        ["paused", "waiting"],
      );
      // A bundle keeps which came later.
      const lines = await collect(store.export());
      await thread.delete();
      await copy.delete();
      await store.import(lines);
      exact(
        (await collect(store.threads())).map((one) => one.status),
        ["paused", "waiting"],
      );
      assert.deepEqual((await store.verify()).faults, []);
    },
  },
  {
    name: "questions: only an answer to a question ends its waiting, not one to another task",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const asked = ["one", "two"].map((id) => ({ id, node: "n", value: id }));
      await thread.put({ id: "a", state: {}, next: ["n"], interrupts: asked });
      const answer = { channel: "answer", value: "yes", index: controlIndexes.resume };
      const told = async (): Promise<readonly unknown[]> => [
        (await collect(store.threads()))[0]?.status,
        ...(await collect(store.interrupts())).map(({ id }) => id),
      ];
      for (const task of ["other", "another", "two"]) await thread.putWrites("a", { task, writes: [answer] });
      exact(await told(), ["waiting", "one"]);
      // A checkpoint that replaces the head asks again; the answers to it stay.
      await thread.put({ id: "a", state: {}, next: ["n"], interrupts: [{ id: "three", node: "n", value: 3 }] });
      exact(await told(), ["waiting", "three"]);
      for (let number = 0; number < 70; number += 1) await thread.put({ state: {}, next: ["n"], interrupts: asked });
      const fork = await thread.fork({ at: "a", into: "f" });
      await fork.putWrites("a", { task: "one", writes: [answer] });
      await thread.delete();
      exact(await told(), ["waiting", "three"]);
      await fork.putWrites("a", { task: "three", writes: [answer] });
      exact(await told(), ["paused"]);
      assert.deepEqual((await store.verify()).faults, []);
    },
  },
  {
    name: "questions: control writes that came before their checkpoint count once it is there",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.putWrites("c", { task: "t", writes: [{ channel: "error", value: "x", index: -1 }] });
      await thread.put({ id: "c", state: {}, next: ["n"] });
      exact(
        (await collect(store.threads({ status: "failed" }))).map(({ id }) => id),
        ["t"],
      );
      const cancelled = { channel: "error", value: { code: "CANCELLED", message: "why" }, index: -1 };
      await thread.putWrites("c", { task: "t", writes: [cancelled] });
      exact(
        (await collect(store.threads({ status: "cancelled" }))).map(({ id }) => id),
        ["t"],
      );
    },
  },
  {
    name: "counts: threads are counted by status and workflow",
    async run({ open }) {
      const store = await open();
      exact((await store.counts()).threads, 0);
      await store.thread("a").put({ state: {}, workflow: "one", next: ["x"] });
      await store.thread("b").put({ state: {}, workflow: "one" });
      await store.thread("c").put({ state: {}, workflow: "w".repeat(512), next: ["x"] });
      await store.thread("d").put({ state: {} });
      await store.thread("a").acquire({ ttl: 1000 });
      const { threads, status, workflows } = await store.counts();
      exact(threads, 4);
      exact([status.running, status.paused, status.done, status.waiting, status.failed], [1, 1, 2, 0, 0]);
      assert.deepEqual(Object.keys(workflows).sort(), ["", "one", "w".repeat(512)]);
      exact([workflows["one"]?.running, workflows["one"]?.paused, workflows["one"]?.done], [1, 0, 1]);
      exact([workflows[""]?.done, workflows["w".repeat(512)]?.paused], [1, 1]);
    },
  },
  {
    name: "due: threads are found by when they are due, the longest due first, unless they are leased",
    async run({ open, clock }) {
      const store = await open();
      const now = clock.now();
      const put = (id: string, due: number | null) => store.thread(id).put({ state: {}, workflow: "w", due });
      await put("later", now + 1000);
      await put("now", now);
      await put("before", now - 1000);
      await put("never", null);
      await store.thread("other").put({ state: {}, workflow: "v", due: now });
      await store.thread("without").put({ state: {}, due: now });
      const due = async (options = {}): Promise<readonly string[]> =>
        (await collect(store.due({ workflow: "w", ...options }))).map(({ thread }) => thread);
      exact(await due(), ["before", "now"]);
      exact(await due({ before: now + 1000 }), ["before", "now", "later"]);
      exact(await due({ limit: 1 }), ["before"]);
      exact(await due({ workflow: null }), ["without"]);
      const lease = await store.thread("before").acquire({ ttl: 100 });
      exact(await due(), ["now"]);
      exact(await due({ leased: true }), ["before", "now"]);
      for await (const { thread, leasedUntil } of store.due({ workflow: "w", leased: true }))
        exact([thread, leasedUntil !== undefined], [thread, thread === "before"]);
      await store.thread("before").put({ state: {}, due: null }, { lease });
      await lease.release();
      await store.thread("now").fork({ into: "fork" });
      exact(await due(), ["now"]);
      await store.thread("now").delete();
      exact(await due(), []);
      clock.advance(1000);
      exact(await due(), ["later"]);
    },
  },
];

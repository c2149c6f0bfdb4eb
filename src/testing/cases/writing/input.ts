import assert from "node:assert/strict";
import type { Case, Free } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { isMisuse } from "../../support/failures.ts";
import { collect, snapshot } from "../../support/snapshot.ts";

/** Fields of `put`, each with values that it refuses. */
const wrongFields: Record<string, readonly unknown[]> = {
  step: [1.5, "1", Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, null, 1n],
  source: ["other", "", 5, null, "LOOP"],
  node: [5, {}, ["a"]],
  path: ["a", [5], {}, null],
  next: ["a", [5], [{}], [{ node: 5 }], [null], {}, null],
  completed: ["a", [5], null],
  interrupts: ["a", [{}], [{ id: "i" }], [{ id: 5, node: "n", value: 1 }], [null], null],
  barriers: ["a", [{}], [{ node: "n", arrived: "x" }], [{ node: "n", arrived: [5] }], [null], null],
  run: [5, {}],
  workflow: [5, {}],
  label: [5, null, {}],
  createdAt: ["now", Number.NaN, Number.POSITIVE_INFINITY, null, {}],
  stateVersion: [1.5, "1", Number.NaN, null],
  metadata: [null, 5, "m", [1], new Map(), new Date(0)],
};

export const input: readonly Case[] = [
  {
    name: "input: put takes exactly one of state and update, and objects only",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const wrong: unknown[] = [{}, { state: {}, update: {} }, { step: 1 }, null, undefined, 5, "state", []];
      for (const one of wrong) await isMisuse(() => thread.put(one as never), `put of ${JSON.stringify(one)}`);
      for (const update of [
        null,
        5,
        "u",
        [],
        { append: 5 },
        { set: null },
        { unset: "a" },
        { unset: [5] },
        { append: [1] },
      ]) {
        await isMisuse(() => thread.put({ update } as never), `update ${JSON.stringify(update)}`);
      }
      assert.equal(await thread.count(), 0);
      exact(await collect(store.threads()), []);
    },
  },
  {
    name: "input: a field of the wrong type is a TypeError, and nothing is written",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { n: 1 } });
      const before = await snapshot(store, "t");
      for (const [field, values] of Object.entries(wrongFields)) {
        for (const value of values) {
          await isMisuse(() => thread.put({ state: {}, [field]: value }), `${field}: ${String(value)}`);
          await isMisuse(() => thread.put({ update: {}, [field]: value }), `${field}: ${String(value)} of an update`);
        }
      }
      exact(await snapshot(store, "t"), before);
    },
  },
  {
    name: "input: options of the wrong type are a TypeError, and nothing changes",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (const id of ["a", "b", "c"]) await thread.put({ id, state: { id } });
      const before = await snapshot(store, "t");
      const calls: Record<string, (value: never) => unknown> = {
        "thread options": (value) => store.thread("t", value),
        "put options": (value) => thread.put({ state: {} }, value),
        "put lease": (value) => thread.put({ state: {} }, { lease: value }),
        "get by step": (value) => thread.get({ step: value }),
        "history limit": (value) => collect(thread.history({ limit: value })),
        "history before": (value) => collect(thread.history({ before: value })),
        "history source": (value) => collect(thread.history({ source: value })),
        "history run": (value) => collect(thread.history({ run: value })),
        "fork at": (value) => thread.fork({ at: value }),
        "fork at step": (value) => thread.fork({ at: { step: value } }),
        "fork edits": (value) => thread.fork({ edits: value }),
        "fork history": (value) => thread.fork({ history: value }),
        "fork label": (value) => thread.fork({ edits: {}, label: value }),
        "prune keepLast": (value) => thread.prune({ keepLast: value }),
        "prune olderThan": (value) => thread.prune({ olderThan: value }),
        "prune ancestors": (value) => thread.prune({ keepLast: 1, ancestors: value }),
        "delete checkpoints": (value) => thread.deleteCheckpoints(value),
        "writes options": (value) => thread.putWrites("a", { task: "t", writes: [{ channel: "c", value: 1 }] }, value),
        "writes of checkpoints": (value) => thread.writesOf(value),
        "writes of a checkpoint by seq": (value) => thread.writesOf([{ id: "a", seq: value }]),
        "export options": (value) => collect(store.export(value)),
        "export threads": (value) => collect(store.export({ threads: value })),
        "verify options": (value) => store.verify(value),
        "compact options": (value) => store.compact(value),
        "threads limit": (value) => collect(store.threads({ limit: value })),
        "threads status": (value) => collect(store.threads({ status: value })),
        "threads order": (value) => collect(store.threads({ order: value })),
      };
      for (const [name, call] of Object.entries(calls)) {
        for (const value of [-1.5, Number.NaN, true, Symbol("s"), () => 1]) {
          await isMisuse(() => call(value as never), `${name}: ${String(value)}`);
        }
      }
      // A list passed as options would be taken for options without any fields.
      await isMisuse(() => store.thread("t", ["sub"] as never));
      await isMisuse(() => store.thread("t", { namespace: null as never }));
      await isMisuse(() => collect(store.export(["t"] as never)));
      // A misspelt rule would leave the default in force.
      await isMisuse(() => thread.prune({ keep: 3 } as never));
      for (const keepLast of [-1, "2"]) await isMisuse(() => thread.prune({ keepLast: keepLast as number }));
      for (const limit of [-1, "2"]) await isMisuse(() => collect(thread.history({ limit: limit as number })));
      exact(await snapshot(store, "t"), before);
      exact(
        (await collect(store.threads())).map(({ id }) => id),
        ["t"],
      );
    },
  },
  {
    name: "input: edits on a state that is no plain object are a TypeError, and no thread is made",
    async run({ open }) {
      const store = await open<unknown>();
      for (const [index, state] of [[1], "text", 5, null, new Map()].entries()) {
        const thread = store.thread(`t${index}`);
        await thread.put({ state });
        await isMisuse(() => thread.fork({ into: "f", edits: { a: 1 } as never }), String(state));
        exact((await (await thread.fork({ into: `f${index}` })).latest())?.state, state);
      }
      assert.equal(await store.thread("f").count(), 0);
    },
  },
  {
    name: "input: a getter or proxy that throws leaves nothing behind",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const trap = new Proxy({} as Free, {
        ownKeys() {
          throw new RangeError("trap");
        },
      });
      await assert.rejects(async () => thread.put({ state: { trap } }));
      await assert.rejects(async () => thread.put({ state: {}, metadata: trap }));
      assert.equal(await thread.count(), 0);
      await thread.put({ state: { fine: true } });
      exact((await thread.latest())?.state, { fine: true });
    },
  },
];

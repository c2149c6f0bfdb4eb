import assert from "node:assert/strict";
import type { Case, Free } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { isMisuse } from "../../support/failures.ts";
import { snapshot } from "../../support/snapshot.ts";

const plan = (): Free => ({
  plan: { title: "trip", steps: [{ name: "a" }, { name: "b", done: false }] },
  log: ["one"],
  map: new Map([["a", 1]]),
  text: "some",
  nothing: null,
  n: 1,
});

export const patch: readonly Case[] = [
  {
    name: "patch: values deep in the state are set, created, appended and removed, and nothing else changes",
    async run({ open }) {
      const thread = (await open<Free>()).thread("t");
      await thread.put({ state: plan() });
      await thread.put({
        update: {
          append: { log: ["two"] },
          set: { n: 2 },
          patch: [
            [["plan", "steps", 1, "done"], true],
            [["plan", "steps", 2], { name: "c" }],
            [["plan", "steps", 2, "when"], new Date(5)],
            [["plan", "notes"], undefined],
            [["plan", "title"]],
            [["plan", "missing"]],
            [["fresh"], { deep: [1n] }],
            [["fresh", "deep", 0], 2n],
          ],
        },
      });
      exact((await thread.latest())?.state, {
        ...plan(),
        plan: {
          steps: [{ name: "a" }, { name: "b", done: true }, { name: "c", when: new Date(5) }],
          notes: undefined,
        },
        log: ["one", "two"],
        n: 2,
        fresh: { deep: [2n] },
      });
    },
  },
  {
    name: "patch: a key that is removed and set again goes to the end, and any key can be a step",
    async run({ open }) {
      const thread = (await open<Free>()).thread("t");
      const odd = { "": 1, __proto__x: 1, $: 1, ["__proto__"]: { a: 1 }, "a.b[0]": 1 };
      await thread.put({ state: { odd, list: [{ $: { a: 1 } }] } });
      const patch = [
        ...Object.keys(odd).map((key) => [["odd", key], { now: key }] as const),
        [["odd", ""]] as const,
        [["odd", ""], "again"] as const,
        [["odd", "__proto__", "now"], 5] as const,
        [["list", 0, "$", "a"], 2] as const,
      ];
      await thread.put({ update: { patch } });
      const state = (await thread.latest())?.state as { odd: Free; list: unknown };
      const { "": _, ...rest } = Object.fromEntries(Object.keys(odd).map((key) => [key, { now: key as unknown }]));
      exact(state.odd, { ...rest, ["__proto__"]: { now: 5 }, "": "again" });
      exact(state.list, [{ $: { a: 2 } }]);
    },
  },
  {
    name: "patch: paths that do not exist or do not fit are refused, and nothing is written",
    async run({ open }) {
      const store = await open<Free>();
      const thread = store.thread("t");
      await thread.put({ state: plan() });
      const before = await snapshot(store, "t");
      const wrong: unknown[] = [
        { patch: [[["missing", "a"], 1]] },
        { patch: [[["plan", "missing", "a"], 1]] },
        { patch: [[["plan", "steps", 3], 1]] },
        { patch: [[["plan", "steps", 2, "name"], 1]] },
        { patch: [[["plan", "steps", "0"], 1]] },
        { patch: [[["plan", 0], 1]] },
        { patch: [[["plan", "steps", 0]]] },
        { patch: [[["plan", "steps", -1], 1]] },
        { patch: [[["plan", "steps", 0.5], 1]] },
        { patch: [[["map", "a"], 1]] },
        { patch: [[["text", 0], "x"]] },
        { patch: [[["nothing", "a"], 1]] },
        { patch: [[["n", "a"], 1]] },
        { patch: [[["toString", "a"], 1]] },
        { patch: [[[0], 1]] },
        { patch: [[[], 1]] },
        { patch: [[["n"], 1, 2]] },
        { patch: [["n", 1]] },
        { patch: [[[Symbol("n")], 1]] },
        { patch: { n: 1 } },
        { patch: [[["n"], 2]], set: { n: 1 } },
        { patch: [[["log", 0], 2]], append: { log: [1] } },
        { patch: [[["plan", "title"], 2]], unset: ["plan"] },
        { patch: [[Array(129).fill("a"), 1]] },
        {
          patch: [
            [["n"], 2],
            [["missing", "a"], 1],
          ],
        },
      ];
      for (const update of wrong) {
        await isMisuse(() => thread.put({ update: update as never }), JSON.stringify(update)?.slice(0, 80));
      }
      exact(await snapshot(store, "t"), before);
      assert.equal(await thread.count(), 1);
    },
  },
];

import type { Change } from "../../../model/interface/results.ts";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";

/** Returns changes in a fixed order, as plain tuples. */
const brief = (changes: readonly Change[]): unknown[] =>
  changes
    .map(({ path, kind, before, after }) => [path.join("."), kind, before, after] as const)
    .sort(([left], [right]) => (left < right ? -1 : 1));

const bare = (fields: object): object => Object.assign(Object.create(null), fields);

export const diff: readonly Case[] = [
  {
    name: "diff: changes are given by path, as added, removed and changed",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({
        id: "a",
        state: { same: [1, { x: 1 }], n: 1, gone: "g", deep: { in: { side: 1 }, stays: 0 } },
      });
      await thread.put({
        id: "b",
        state: { same: [1, { x: 1 }], n: 2, deep: { in: { side: 2 }, stays: 0 }, new: [3n] },
      });
      exact(brief(await thread.diff("a", "b")), [
        ["deep.in.side", "changed", 1, 2],
        ["gone", "removed", "g", undefined],
        ["n", "changed", 1, 2],
        ["new", "added", undefined, [3n]],
      ]);
      exact(brief(await thread.diff("b", "a")), [
        ["deep.in.side", "changed", 2, 1],
        ["gone", "added", undefined, "g"],
        ["n", "changed", 2, 1],
        ["new", "removed", [3n], undefined],
      ]);
    },
  },
  {
    name: "diff: equal states have no changes, also with rich types, far apart and across branches",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const state = (): object => ({
        at: new Date(1),
        map: new Map([["k", { v: -0 }]]),
        bytes: new Uint8Array(3),
        nan: NaN,
      });
      await thread.put({ id: "a", state: state() });
      for (let n = 0; n < 70; n++) await thread.put({ state: { n } });
      await thread.put({ id: "b", state: state() });
      await thread.put({ id: "c", state: state() }, { parent: "a" });
      exact([await thread.diff("a", "b"), await thread.diff("b", "c"), await thread.diff("a", "a")], [[], [], []]);
    },
  },
  {
    name: "diff: an object without a prototype differs from a plain one",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: { empty: {}, full: { x: 1 } } });
      await thread.put({ id: "b", state: { empty: bare({}), full: bare({ x: 1 }) } });
      await thread.put({ id: "c", state: { empty: {}, full: { x: 1 } } });
      const changed = [
        { path: ["empty"], kind: "changed" },
        { path: ["full"], kind: "changed" },
      ];
      const kinds = async (from: string, to: string): Promise<unknown> =>
        (await thread.diff(from, to)).map(({ path, kind }) => ({ path, kind }));
      exact([await kinds("a", "b"), await kinds("b", "c"), await kinds("a", "c")], [changed, changed, []]);
      exact((await thread.get("b"))?.state, { empty: bare({}), full: bare({ x: 1 }) });
      exact((await thread.get("c"))?.state, { empty: {}, full: { x: 1 } });
    },
  },
  {
    name: "diff: an element added to a list is named by its index",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: { list: [{ n: 1 }, { n: 2 }] } });
      await thread.put({ id: "b", update: { append: { list: [{ n: 3 }] } } });
      exact(brief(await thread.diff("a", "b")), [["list.2", "added", undefined, { n: 3 }]]);
      await thread.put({ id: "c", state: { list: [{ n: 1 }, { n: 20 }, { n: 3 }] } });
      exact(brief(await thread.diff("b", "c")), [["list.1.n", "changed", 2, 20]]);
    },
  },
  {
    name: "diff: a change of type is a change",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: { v: "1", w: 0, x: new Date(1), y: [] } });
      await thread.put({ id: "b", state: { v: 1, w: -0, x: 1, y: {} } });
      exact(brief(await thread.diff("a", "b")), [
        ["v", "changed", "1", 1],
        ["w", "changed", 0, -0],
        ["x", "changed", new Date(1), 1],
        ["y", "changed", [], {}],
      ]);
    },
  },
];

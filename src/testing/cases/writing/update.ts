import assert from "node:assert/strict";
import type { Case, Free } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";
import { snapshot } from "../../support/snapshot.ts";

export const update: readonly Case[] = [
  {
    name: "update: an update appends to arrays and strings, sets and unsets keys of the parent's state",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ state: { list: [1], text: "ab", n: 1, old: true, keep: { deep: [1] } } });
      const at = await thread.put({
        update: { append: { list: [{ two: 2n }, 3], text: "cd" }, set: { n: 2, fresh: new Set([1]) }, unset: ["old"] },
      });
      exact((await thread.get(at.id))?.state, {
        list: [1, { two: 2n }, 3],
        text: "abcd",
        n: 2,
        keep: { deep: [1] },
        fresh: new Set([1]),
      });
    },
  },
  {
    name: "update: an update starts from {} on an empty thread and under parent null",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const first = await thread.put({ update: { set: { a: 1 } } });
      exact((await thread.get(first.id))?.state, { a: 1 });
      const root = await thread.put({ update: { set: { b: 2 } } }, { parent: null });
      exact((await thread.get(root.id))?.state, { b: 2 });
      const empty = await thread.put({ update: {} }, { parent: null });
      exact((await thread.get(empty.id))?.state, {});
    },
  },
  {
    name: "update: an update applies to the given parent, not to the head",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const a = await thread.put({ state: { list: ["a"] } });
      await thread.put({ update: { append: { list: ["b"] } } });
      const branch = await thread.put({ update: { append: { list: ["c"] } } }, { parent: a.id });
      exact((await thread.get(branch.id))?.state, { list: ["a", "c"] });
      const next = await thread.put({ update: { append: { list: ["d"] } } });
      exact((await thread.get(next.id))?.state, { list: ["a", "c", "d"] });
    },
  },
  {
    name: "update: an empty change keeps the state; unset of a missing key does nothing",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const state = { list: [], text: "", n: 1 };
      await thread.put({ state });
      for (const change of [{}, { append: { list: [], text: "" } }, { set: {}, unset: [] }, { unset: ["missing"] }]) {
        const at = await thread.put({ update: change });
        exact((await thread.get(at.id))?.state, state);
      }
    },
  },
  {
    name: "update: set keeps a key's position, a new key goes last, undefined is a value",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ state: { a: 1, b: 2, c: 3 } });
      const changed = await thread.put({ update: { set: { z: 0, b: undefined, a: null } } });
      exact((await thread.get(changed.id))?.state, { a: null, b: undefined, c: 3, z: 0 });
      await thread.put({ update: { unset: ["a"] } });
      const again = await thread.put({ update: { set: { a: 4 } } });
      exact((await thread.get(again.id))?.state, { b: undefined, c: 3, z: 0, a: 4 });
    },
  },
  {
    name: "update: __proto__, constructor and the like are ordinary keys",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const state = JSON.parse('{"__proto__":{"x":1},"constructor":[1],"toString":"s","hasOwnProperty":0}') as Free;
      await thread.put({ state });
      const set = JSON.parse('{"__proto__":{"y":2}}') as Free;
      const at = await thread.put({
        update: { set, append: { constructor: [2], toString: "t" } as Free, unset: ["hasOwnProperty"] },
      });
      const expected = JSON.parse('{"__proto__":{"y":2},"constructor":[1,2],"toString":"st"}');
      exact((await thread.get(at.id))?.state, expected);
      assert.equal(({} as Free).y, undefined);
    },
  },
  {
    name: "update: an update that cannot be applied is a TypeError, and nothing is written",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({
        state: { list: [1], text: "t", n: 1, map: new Map(), bytes: new Uint8Array(2), object: {}, nothing: null },
      });
      const before = await snapshot(store, "t");
      const wrong: Free[] = [
        { append: { missing: [1] } },
        { append: { n: [1] } },
        { append: { map: [[1, 2]] } },
        { append: { bytes: [1] } },
        { append: { object: [1] } },
        { append: { nothing: [1] } },
        { append: { list: "text" } },
        { append: { text: ["x"] } },
        { append: { list: 2 } },
        { append: { toString: "x" } },
        { append: { list: [2] }, set: { list: [] } },
        { append: { list: [2] }, unset: ["list"] },
        { set: { n: 2 }, unset: ["n"] },
        { set: { n: 2 }, append: { missing: [1] } },
      ];
      for (const one of wrong) {
        await isMisuse(() => thread.put({ update: one }), Object.keys(one).join(" and "));
        await isMisuse(() => store.thread("empty").put({ update: { append: { list: [1] } } }));
      }
      exact(await snapshot(store, "t"), before);
      assert.equal(await store.thread("empty").count(), 0);
      const after = await thread.put({ update: { append: { list: [2] } } });
      exact((await thread.get(after.id))?.state.list, [1, 2], "the list after refused updates");
    },
  },
  {
    name: "update: properties that set and append would leave out are refused, and nothing is written",
    async run({ open }) {
      const thread = (await open<Free>()).thread("t");
      await thread.put({ state: { list: [] } });
      for (const fields of [new Map([["a", 1]]), new Date(0), new (class Fields {})()]) {
        await isMisuse(() => thread.put({ update: { set: fields as never } }));
        await isMisuse(() => thread.put({ update: { append: fields as never } }));
      }
      const getter = Object.defineProperty({}, "a", { get: () => 1, enumerable: true });
      for (const fields of [{ [Symbol("a")]: 1 }, Object.defineProperty({}, "a", { value: 1 }), getter]) {
        await failsWith("SERIALIZE", () => thread.put({ update: { set: fields } }));
        await failsWith("SERIALIZE", () => thread.fork({ edits: fields }));
      }
      await failsWith("SERIALIZE", () => thread.put({ update: { append: { [Symbol("list")]: [1] } as never } }));
      exact((await thread.latest())?.state, { list: [] });
      assert.equal(await thread.count(), 1);
    },
  },
  {
    name: "update: any key that a state may have can be unset",
    async run({ open }) {
      const thread = (await open<Free>()).thread("t");
      const odd = ["", "\ud800", "__proto__", "$"];
      await thread.put({ state: Object.fromEntries([...odd, "kept"].map((key) => [key, 1])) });
      for (const key of odd) await thread.put({ update: { unset: [key] } });
      exact((await thread.latest())?.state, { kept: 1 });
    },
  },
  {
    name: "update: a state that is no plain object cannot be updated",
    async run({ open }) {
      const store = await open<unknown>();
      const states = [null, 5, "text", [1], new Map([["a", 1]]), new Set([1]), new Date(0), new Uint8Array(3), true];
      for (const [index, state] of states.entries()) {
        const thread = store.thread(`t${index}`);
        await thread.put({ state });
        await isMisuse(() => thread.put({ update: { set: { a: 1 } as never } }), `set in ${String(state)}`);
        assert.equal(await thread.count(), 1);
        exact((await thread.latest())?.state, state);
      }
    },
  },
  {
    name: "update: a hundred updates read back as the same whole states would",
    async run({ open }) {
      const store = await open();
      const updated = store.thread("updated");
      const whole = store.thread("whole");
      const list: unknown[] = [];
      let text = "";
      await updated.put({ update: { set: { list, text, n: -1 } } });
      await whole.put({ state: { list, text, n: -1 } });
      for (let n = 0; n < 100; n++) {
        const added = n % 3 === 0 ? [n, { n }] : [[n]];
        list.push(...added);
        text += `${n} `;
        const left = await updated.put({ update: { append: { list: added, text: `${n} ` }, set: { n } } });
        const right = await whole.put({ state: { list, text, n } });
        exact((await updated.get(left.id))?.state, (await whole.get(right.id))?.state);
      }
      exact((await updated.latest())?.state, { list, text, n: 99 });
    },
  },
  {
    name: "update: lists that grow from step to step, in the state and beside it, read back exactly at every step",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ state: { n: 0, list: [] } });
      const kept: { readonly id: string; readonly list: number[]; readonly nodes: string[] }[] = [];
      let nodes: string[] = [];
      for (let n = 1; n <= 140; n++) {
        // Restarted now and then: the next steps add to the list that replaced another.
        nodes = n % 10 === 1 ? [`a${n}`, `b${n}`] : [...nodes, `c${n}`];
        const update = { set: { n }, append: { list: [n] } };
        const { id } = await thread.put({ update, next: nodes, completed: nodes });
        kept.push({ id, list: Array.from({ length: n }, (_, index) => index + 1), nodes });
      }
      for (const reader of [store, await open()]) {
        for (const { id, list, nodes: named } of kept) {
          const found = await reader.thread("t").get(id);
          exact(found?.state, { n: list.length, list }, id);
          exact([...(found?.completed ?? [])], named, id);
          exact(
            found?.next.map(({ node }) => node),
            named,
            id,
          );
        }
      }
    },
  },
];

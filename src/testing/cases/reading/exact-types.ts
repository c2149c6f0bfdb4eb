import assert from "node:assert/strict";
import type { ClassCodec } from "../../../model/interface/store-options.ts";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith } from "../../support/failures.ts";
import { richValues, unstorable } from "../../support/values.ts";

class Money {
  readonly cents: bigint;
  readonly currency: string;
  constructor(cents: bigint, currency: string) {
    this.cents = cents;
    this.currency = currency;
  }
}

const money: ClassCodec<Money> = {
  test: (value): value is Money => value instanceof Money,
  encode: ({ cents, currency }) => [cents, currency],
  decode: (data) => {
    const [cents, currency] = data as [bigint, string];
    return new Money(cents, currency);
  },
};

export const types: readonly Case[] = [
  {
    name: "types: every kind of value comes back as it went in, alone, in a field, in a list",
    async run({ open }) {
      const store = await open<unknown>();
      const values = Object.entries(richValues());
      for (const [name, value] of values) {
        const alone = await store.thread("alone").put({ state: value }, { parent: null });
        const field = await store.thread("field").put({ state: { before: 1, value, after: [value, [value]] } });
        for (const reader of [store, await open<unknown>()]) {
          exact((await reader.thread("alone").get(alone.id))?.state, value, name);
          exact(
            (await reader.thread("field").get(field.id))?.state,
            { before: 1, value, after: [value, [value]] },
            name,
          );
          if (reader !== store) await reader.close();
        }
      }
      const all = Object.fromEntries(values);
      const together = await store.thread("together").put({ state: all });
      exact((await store.thread("together").get(together.id))?.state, all);
    },
  },
  {
    name: "types: a field that changes from every type to every other reads back exactly at every step",
    async run({ open }) {
      const store = await open();
      const values = Object.entries(richValues());
      const thread = store.thread("t");
      const put: { id: string; value: unknown; name: string }[] = [];
      for (const [index, [name, value]] of values.entries()) {
        for (const [otherName, other] of [values[(index * 7 + 1) % values.length], values[index + 1]].filter(
          (one) => one !== undefined,
        )) {
          const { id } = await thread.put({
            state: { value: other, list: [other, name], map: new Map([["v", other]]) },
          });
          put.push({ id, value: other, name: `${otherName}` });
          const back = await thread.put({ update: { set: { value, list: [value], map: new Map([["v", value]]) } } });
          put.push({ id: back.id, value, name });
        }
      }
      for (const reader of [thread, (await open()).thread("t")]) {
        for (const { id, value, name } of put) {
          const state = (await reader.get(id))?.state;
          exact([state?.value, state?.list[0], state?.map.get("v")], [value, value, value], name);
        }
      }
    },
  },
  {
    name: "types: key order, empty keys, keys that look like numbers or tags, and deep nesting are kept",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const tags = [
        "$",
        "$type",
        "$undefined",
        "$date",
        "$map",
        "@",
        "#",
        "~",
        "__type",
        "!",
        "type",
        "value",
        "t",
        "v",
        "_",
      ];
      const states = [
        { z: 1, a: 2, "": 3, "10": 4, "9": 5, " ": 6 },
        Object.fromEntries(tags.map((tag) => [tag, { [tag]: [tag, 0, null, { [tag]: "Date" }] }])),
        Object.fromEntries(tags.map((tag) => [tag, [tag, "Map", [[1, 2]]]])),
        { single: tags.map((tag) => ({ [tag]: "undefined" })), arrays: tags.map((tag) => [tag]) },
        { text: tags, numbers: ["1n", "NaN", "-0", "2020-01-01T00:00:00.000Z", "[object Date]"] },
        JSON.parse('{"__proto__":1,"constructor":{"prototype":2},"toJSON":3,"then":4,"valueOf":5}'),
        {
          deep: Array.from({ length: 200 }).reduce<unknown>(
            (inner, _, n) => (n % 2 === 0 ? [inner] : { n: inner }),
            "core",
          ),
        },
      ];
      const ids: string[] = [];
      for (const state of [...states, ...states.toReversed()]) ids.push((await thread.put({ state })).id);
      for (const reader of [thread, (await open()).thread("t")]) {
        for (const [index, state] of [...states, ...states.toReversed()].entries()) {
          exact((await reader.get(ids[index] ?? ""))?.state, state, `state ${index}`);
        }
      }
    },
  },
  {
    name: "types: keys put in another order come back in that order",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const orders = [
        ["a", "b", "c"],
        ["c", "b", "a"],
        ["b", "a", "c"],
        ["b", "a"],
        ["c", "b", "a"],
        ["a", "c", "b", "d"],
      ];
      const states = orders.map((order) => ({
        ...Object.fromEntries(order.map((key) => [key, 1])),
        inner: Object.fromEntries(order.map((key) => [key, key])),
        map: new Map(order.map((key) => [key, key])),
        set: new Set(order),
      }));
      const ids: string[] = [];
      for (const state of states) ids.push((await thread.put({ state })).id);
      for (const [index, id] of ids.entries()) exact((await thread.get(id))?.state, states[index]);
    },
  },
  {
    name: "types: shared references come back as separate copies",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const shared = { list: [1] };
      await thread.put({ state: { a: shared, b: shared, c: [shared, shared] } });
      const state = (await thread.latest())?.state;
      exact(state, { a: { list: [1] }, b: { list: [1] }, c: [{ list: [1] }, { list: [1] }] });
      assert.notEqual(state?.a, state?.b);
      assert.notEqual(state?.c[0], state?.c[1]);
    },
  },
  {
    name: "types: long strings and large lists, changed at both ends and in the middle, read back exactly",
    async run({ open }) {
      const thread = (await open()).thread("t");
      let text = "The quick brown \u{1f98a} jumps. ".repeat(20_000);
      let list = Array.from({ length: 5_000 }, (_, n) => ({ n, half: n / 2 }));
      const states: { text: string; list: { n: number; half: number }[] }[] = [];
      for (let round = 0; round < 8; round++) {
        const at = (round * 77_777) % text.length;
        text =
          [
            `${round}${text}`,
            `${text}${round}\ud83e`,
            text.slice(0, at) + text.slice(at + 5),
            `${text.slice(0, at)}\udd8a${text.slice(at)}`,
          ][round % 4] ?? "";
        list = [...list.slice(0, round * 500), { n: -round, half: 0 }, ...list.slice(round * 500 + (round % 3))];
        states.push({ text, list });
      }
      const ids: string[] = [];
      for (const state of states) ids.push((await thread.put({ state })).id);
      for (const reader of [thread, (await open()).thread("t")]) {
        for (const [index, id] of ids.entries()) exact((await reader.get(id))?.state, states[index], `round ${index}`);
      }
    },
  },
  {
    name: "types: a value that cannot be stored is SERIALIZE with its path, and nothing is written",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { ok: true } });
      for (const [name, value] of Object.entries(unstorable())) {
        const error = await failsWith("SERIALIZE", () =>
          thread.put({ state: { messages: [0, { callback: value }] } }),
        ).catch((cause) => assert.fail(`${name}: ${cause}`));
        assert.match(error.path ?? "", /^state\.messages\[1\]\.callback/, name);
        assert.match(error.message, /messages\[1\]\.callback/, name);
        await failsWith("SERIALIZE", () => thread.put({ update: { set: { deep: { value } } } }));
        await failsWith("SERIALIZE", () => thread.put({ state: {}, next: [{ node: "n", arg: value }] }));
        await failsWith("SERIALIZE", () => thread.put({ state: {}, interrupts: [{ id: "i", node: "n", value }] }));
        await failsWith("SERIALIZE", () => thread.putWrites("a", { task: "t", writes: [{ channel: "c", value }] }));
        await failsWith("SERIALIZE", () => thread.fork({ edits: { value } }));
      }
      assert.equal(await thread.count(), 1);
      exact((await thread.latest())?.state, { ok: true });
      exact(await thread.writes("a"), []);
      assert.equal((await store.stats()).threads, 1);
    },
  },
  {
    name: "types: a registered class comes back as itself, an unregistered one is refused",
    async run({ open }) {
      const plain = await open();
      await failsWith("SERIALIZE", () => plain.thread("t").put({ state: { price: new Money(5n, "EUR") } }));
      const store = await open({ classes: { Money: money } });
      const thread = store.thread("t");
      const state = {
        price: new Money(123n, "EUR"),
        all: [new Money(1n, "CHF"), new Map([["m", new Money(2n, "USD")]])],
      };
      const { id } = await thread.put({ state });
      const next = await thread.put({ update: { append: { all: [new Money(3n, "EUR")] } } });
      for (const reader of [thread, (await open({ classes: { Money: money } })).thread("t")]) {
        exact((await reader.get(id))?.state, state);
        exact((await reader.get(next.id))?.state, { ...state, all: [...state.all, new Money(3n, "EUR")] });
      }
      const error = await thread
        .get(id)
        .then(() => plain.thread("t").get(id))
        .catch((cause: unknown) => cause);
      assert.ok(error instanceof Error, "a class that is not registered cannot be read as something else");
    },
  },
  {
    name: "types: values that a state shares with another branch come back as they went in",
    async run({ open }) {
      const store = await open<unknown>();
      const thread = store.thread("t");
      const at = new Date(5);
      const first = await thread.put({ state: { at, n: 1 } });
      await thread.put({ state: { at, n: 2 } });
      const root = await thread.put({ state: { at, n: 3 } }, { parent: null });
      const branch = await thread.put({ state: { n: 4, moved: [at] } }, { parent: first.id });
      for (const reader of [store, await open<unknown>()]) {
        exact((await reader.thread("t").get(root.id))?.state, { at, n: 3 });
        exact((await reader.thread("t").get(branch.id))?.state, { n: 4, moved: [at] });
      }
    },
  },
];

import { describe, expect, it } from "vitest";
import {
  apply,
  applyOwned,
  compose,
  type Delta,
  diff,
  isReplacement,
  replacedBy,
  replacement,
  seal,
  unseal,
  validate,
} from "../../../../src/codec/delta/index.ts";
import type { Json } from "../../../../src/codec/json.ts";
import { copyOf, textOf } from "./trees.ts";

const long = "A text that is long enough for an edit of it to be smaller than the text. ";
const other = "Another text, which does not look like it in the least: no word is where it was.";

describe("diff", () => {
  it.each<[string, Json, Json, Delta | undefined]>([
    ["nothing for equal trees", { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, undefined],
    [
      "a push",
      { keep: long, list: ["a", "b", "c"] },
      { keep: long, list: ["a", "b", "c", "d"] },
      { d: { list: { p: ["d"] } } },
    ],
    ["a key set", { keep: long, n: 1 }, { keep: long, n: 2 }, { s: { n: 2 } }],
    ["a new key", { keep: long }, { keep: long, n: 2 }, { s: { n: 2 } }],
    ["a key removed", { keep: long, n: 1 }, { keep: long }, { u: ["n"] }],
    ["a small key moved to the end", { n: 1, keep: long }, { keep: long, n: 1 }, { u: ["n"], s: { n: 1 } }],
    ["a large key moved to the end", { keep: long, n: long }, { n: long, keep: long }, { o: ["n", "keep"] }],
    ["text appended", { keep: long }, { keep: `${long}More.` }, { d: { keep: { a: "More." } } }],
    [
      "a word changed",
      [long, long],
      [long, long.replace("long", "short")],
      { l: 2, e: [[1, { l: 74, t: [[15, 4, "short"]] }]] },
    ],
    ["elements removed at the front", [1, 2, 3, long, long], [long, long], { l: 5, x: [[0, 3]] }],
    ["an element replaced", [long, 1, long], [long, 2, long], { l: 3, x: [[1, 1, 2]] }],
    [
      "a window moved on",
      [other, long, `${long}2`, `${long}3`],
      [long, `${long}2`, `${long}3`, 4],
      { l: 4, x: [[0, 1]], p: [4] },
    ],
    [
      "two places of a list",
      [long, 1, long, 2, long],
      [long, long, 3, long],
      {
        l: 5,
        x: [
          [1, 1],
          [3, 1, 3],
        ],
      },
    ],
    ["neighbours replaced, as one splice", [long, 1, 2, long], [long, 3, 4, long], { l: 4, x: [[1, 2, 3, 4]] }],
    ["a replacement, where it is smaller", { a: 1, b: 2 }, { a: 3, b: 4 }, { r: { a: 3, b: 4 } }],
    ["a replacement, where the type changes", [long], { 0: long }, { r: { 0: long } }],
  ])("finds %s", (_name, before, after, expected) => {
    const delta = diff(before, after);
    expect(delta).toEqual(expected);
    if (delta !== undefined) expect(textOf(apply(before, delta))).toBe(textOf(after));
  });

  it("diff sees the order of keys", () => {
    expect(diff({ a: 1, b: 2 }, { b: 2, a: 1 })).toBeDefined();
  });

  it("diff leaves the order of keys that look like indexes to JavaScript", () => {
    expect(diff({ keep: long, 2: 0 }, { keep: long, 2: 0, 1: 0 })).toEqual({ s: { 1: 0 } });
  });

  it("diff does not part a surrogate pair", () => {
    expect(diff([`${long}😀`], [`${long}😁`])).toEqual({ l: 1, e: [[0, { l: 76, t: [[74, 2, "😁"]] }]] });
  });

  it("diff takes keys of Object.prototype for ordinary keys", () => {
    const before = JSON.parse(`{"keep":"${long}","__proto__":{"a":1}}`) as Json;
    const after = JSON.parse(`{"keep":"${long}","__proto__":{"a":2},"constructor":1}`) as Json;
    const delta = diff(before, after) as Delta;
    for (const result of [apply(before, delta), applyOwned(copyOf(before), delta)]) {
      expect(textOf(result)).toBe(textOf(after));
      expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    }
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  it("diff replaces what changed at a great depth, so that the delta itself is never deeper", () => {
    const nest = (value: Json): Json => {
      let tree = value;
      for (let depth = 0; depth < 900; depth++) tree = { keep: long, inner: tree };
      return tree;
    };
    const delta = diff(nest(1), nest(2)) as Json;
    validate(delta);
    expect(textOf(apply(nest(1), delta))).toBe(textOf(nest(2)));
    expect(diff(nest(1), nest(1))).toBeUndefined();
  });
});

describe("apply", () => {
  it("apply shares what did not change with the tree, and what is new with the delta", () => {
    const item = { new: true };
    const before = { list: [{ old: true }], rest: { deep: [1] } };
    const after = apply(before, { d: { list: { p: [item] } } }) as typeof before;
    expect(after.rest).toBe(before.rest);
    expect(after.list[0]).toBe(before.list[0]);
    expect(after.list[1]).toBe(item);
    expect(before.list).toHaveLength(1);
  });

  it("apply in place keeps the very array that is pushed to", () => {
    const list: Json[] = Array.from({ length: 10_000 }, (_, index) => index);
    const tree = { list };
    expect(applyOwned(tree, { d: { list: { p: ["new"] } } })).toBe(tree);
    expect(tree.list).toBe(list);
    expect(list.at(-1)).toBe("new");
  });

  it("apply takes splices with more elements than a call takes arguments", () => {
    const many = Array.from({ length: 200_000 }, (_, index) => index);
    expect(applyOwned([0, 0], { l: 2, x: [[1, 0, ...many]] })).toHaveLength(200_002);
  });

  it.each<[string, Json, Json]>([
    ["an object's delta for an array", [], { s: { a: 1 } }],
    ["an array's delta for an object", {}, { p: [1] }],
    ["a string's delta for an array", [], { a: "x" }],
    ["a length that is not the array's", [1], { l: 2, x: [[0, 1]] }],
    ["a length that is not the string's", "a", { l: 2, t: [[0, 1, ""]] }],
    ["positions without a length", [1], { x: [[0, 1]] }],
    ["a splice past the end", [1], { l: 1, x: [[0, 2]] }],
    [
      "splices that overlap",
      [1, 2, 3],
      {
        l: 3,
        x: [
          [0, 2],
          [1, 1],
        ],
      },
    ],
    ["an index past the end", [1], { l: 1, e: [[1, { r: 1 }]] }],
    ["a change of a key that is not there", {}, { d: { toString: { r: 1 } } }],
    ["an order without every key", { a: 1, b: 2 }, { o: ["a"] }],
    ["an order with a key too many", { a: 1 }, { o: ["a", "b"] }],
    ["an order with a key twice", { a: 1 }, { o: ["a", "a"] }],
    ["two kinds at once", {}, { s: {}, p: [] }],
    ["a replacement and more", {}, { r: 1, s: {} }],
    ["an unknown key", {}, { z: 1 }],
    ["a sealed step", { a: 1 }, { h: ["a"] }],
    ["null", {}, null],
  ])("refuses %s as corrupt", (_name, tree, delta) => {
    expect(() => apply(tree, delta as Delta)).toThrow(expect.objectContaining({ code: "CORRUPT" }));
    expect(() => applyOwned(copyOf(tree), delta as Delta)).toThrow(expect.objectContaining({ code: "CORRUPT" }));
  });
});

describe("compose", () => {
  it.each<[string, Delta, Delta, Delta]>([
    ["pushes", { p: [1] }, { p: [2, 3] }, { p: [1, 2, 3] }],
    ["an edit of what was pushed", { p: [{ a: 1 }] }, { l: 4, e: [[3, { s: { a: 2 } }]] }, { l: 3, p: [{ a: 2 }] }],
    ["a push and its removal", { p: [1] }, { l: 4, x: [[3, 1]] }, {}],
    ["appended texts", { a: "one" }, { a: "two" }, { a: "onetwo" }],
    ["a set over a change", { d: { k: { p: [1] } } }, { s: { k: 1 } }, { s: { k: 1 } }],
    ["a change of what was set", { s: { k: [1] } }, { d: { k: { p: [2] } } }, { s: { k: [1, 2] } }],
    ["a key removed and set again", { u: ["k"] }, { s: { k: 1 } }, { u: ["k"], s: { k: 1 } }],
    ["a removal of what was set", { s: { k: 1 } }, { u: ["k"] }, { u: ["k"] }],
    ["an order and a new key", { o: ["b", "a"] }, { s: { c: 1 } }, { s: { c: 1 }, o: ["b", "a", "c"] }],
    ["a replacement and a change", { r: { k: 1 } }, { s: { k: 2 } }, { r: { k: 2 } }],
    ["a change and a replacement", { s: { k: 2 } }, { r: 1 }, { r: 1 }],
    ["splices around each other", { l: 4, x: [[1, 1, "b"]] }, { l: 4, x: [[0, 2, "a"]] }, { l: 4, x: [[0, 2, "a"]] }],
  ])("joins %s", (_name, first, second, expected) => {
    expect(compose(first, second)).toEqual(expected);
  });

  it.each<[string, Delta, Delta]>([
    ["change different kinds of value", { p: [1] }, { a: "x" }],
    ["disagree about the length", { l: 3, x: [[0, 1]] }, { l: 3, x: [[0, 1]] }],
    ["change what was removed", { u: ["k"] }, { d: { k: { p: [1] } } }],
    ["change what a replacement does not have", { r: 1 }, { p: [1] }],
  ])("refuses deltas that %s", (_name, first, second) => {
    expect(() => compose(first, second)).toThrow(expect.objectContaining({ code: "CORRUPT" }));
  });
});

describe("a replacement", () => {
  it("a replacement is told from other deltas, and gives its value", () => {
    const full = replacement({ a: 1 });
    expect(isReplacement(full) && replacedBy(full)).toEqual({ a: 1 });
    expect(isReplacement({ s: { r: 1 } })).toBe(false);
    expect(apply(null, full)).toEqual({ a: 1 });
  });
});

describe("seal", () => {
  const conversation: Delta[] = [
    { s: { draft: `${long}1` }, d: { messages: { p: [{ id: 1, text: long }] } } },
    { s: { draft: `${long}2`, topic: "a topic of some length" }, d: { messages: { p: [{ id: 2, text: long }] } } },
    {
      u: ["draft"],
      d: {
        messages: {
          p: [
            { id: 3, text: long },
            { id: 4, text: other },
          ],
        },
      },
    },
  ];

  it("seal keeps what lasts in the net delta, once, and the rest in the steps", () => {
    expect(seal(conversation)).toEqual({
      net: {
        u: ["draft"],
        s: { topic: "a topic of some length" },
        d: {
          messages: {
            p: [
              { id: 1, text: long },
              { id: 2, text: long },
              { id: 3, text: long },
              { id: 4, text: other },
            ],
          },
        },
      },
      steps: [
        { s: { draft: `${long}1` }, d: { messages: { n: 1 } } },
        { s: { draft: `${long}2` }, h: ["topic"], d: { messages: { n: 1 } } },
        { u: ["draft"], d: { messages: { n: 2 } } },
      ],
    });
  });

  it("seal finds pushes again in an array that was set whole", () => {
    const deltas: Delta[] = [
      { r: { n: 0, list: [{ text: long }] } },
      { s: { n: 1 }, d: { list: { p: [{ text: other }] } } },
    ];
    const sealed = seal(deltas);
    expect(sealed.steps[1]).toEqual({ s: { n: 1 }, d: { list: { n: [[1, 1]] } } });
    expect(unseal(sealed.net, sealed.steps, 2)).toEqual(deltas);
    expect(textOf(sealed.steps[0])).not.toContain(long);
  });

  it("seal keeps one copy of a message that was streamed in", () => {
    const deltas: Delta[] = [
      { p: [{ id: 1, text: long }] },
      { l: 8, e: [[7, { d: { text: { a: other } } }]] },
      { l: 8, e: [[7, { d: { text: { a: "The end of the message." } } }]] },
    ];
    const sealed = seal(deltas);
    expect(sealed.net).toEqual({ l: 7, p: [{ id: 1, text: `${long}${other}The end of the message.` }] });
    expect(textOf(sealed.steps)).not.toContain("text that");
    expect(textOf(sealed.steps)).not.toContain("Another");
    expect(unseal(sealed.net, sealed.steps, 3)).toEqual(deltas);
  });

  it("seal gives a value back to one step only, so that steps applied in place do not meet in one node", () => {
    const status = { phase: "a", text: long };
    const deltas: Delta[] = [{ s: { status } }, { d: { status: { s: { phase: "b" } } } }, { s: { status } }];
    const sealed = copyOf(seal(deltas));
    let tree: Json = {};
    const seen: string[] = [];
    for (const delta of unseal(sealed.net, sealed.steps, 3)) {
      tree = applyOwned(tree, delta);
      seen.push((tree as { status: { phase: string } }).status.phase);
    }
    expect(seen).toEqual(["a", "b", "a"]);
  });

  it("seal takes a single delta, or none", () => {
    expect(seal([])).toEqual({ net: {}, steps: [] });
    expect(unseal(...(Object.values(seal([{ r: [long] }])) as [Delta, Delta[]]), 1)).toEqual([{ r: [long] }]);
  });

  it("seal refuses to unseal more steps than there are", () => {
    expect(() => unseal({}, [], 1)).toThrow(expect.objectContaining({ code: "CORRUPT" }));
  });
});

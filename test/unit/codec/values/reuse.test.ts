import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isObject, type Json } from "../../../../src/codec/json.ts";
import { createValueCodec } from "../../../../src/codec/values/value.ts";
import { storable } from "./arbitrary.ts";
import { edited, randomFrom } from "./edit.ts";

const codec = createValueCodec();

function message(index: number): Record<string, unknown> {
  return {
    id: `m${index}`,
    role: "user",
    content: `said ${index}`,
    tools: [{ name: "t", at: new Date(index) }],
    n: index,
  };
}

function messages(from: number, to: number): Record<string, unknown>[] {
  return Array.from({ length: to - from }, (_, index) => message(from + index));
}

/** How many elements of the list are nodes of the previous list. */
function reused(tree: Json, previous: Json): number {
  const nodes = new Set(previous as Json[]);
  return (tree as Json[]).filter((node) => nodes.has(node)).length;
}

/** Checks that whatever is equal in the same place is the same node. */
function expectReuse(tree: Json, previous: Json, path: string): void {
  if (typeof tree !== "object" || tree === null) return;
  if (JSON.stringify(tree) === JSON.stringify(previous)) return void expect(tree, path).toBe(previous);
  if (isObject(tree) && isObject(previous) && tree.$ === previous.$) {
    for (const key of Object.keys(tree)) {
      if (Object.hasOwn(previous, key)) expectReuse(tree[key]!, previous[key]!, `${path}.${key}`);
    }
  } else if (Array.isArray(tree) && Array.isArray(previous)) {
    const nodes = new Set(previous);
    tree.forEach((element, index) => {
      // Elements that moved are the nodes they were before, in another place.
      if (index < previous.length && !nodes.has(element)) expectReuse(element, previous[index]!, `${path}[${index}]`);
    });
  }
}

function objectsIn(value: unknown, found = new Set<unknown>()): Set<unknown> {
  if (typeof value !== "object" || value === null || found.has(value)) return found;
  found.add(value);
  for (const key of Reflect.ownKeys(value)) objectsIn(Reflect.get(value, key), found);
  if (value instanceof Map) for (const entry of value) objectsIn(entry, found);
  if (value instanceof Set) for (const member of value) objectsIn(member, found);
  return found;
}

describe("laws", () => {
  test("what is encoded does not depend on what was there before, and shares all that is equal", () => {
    fc.assert(
      fc.property(storable, storable, fc.integer(), (value, spare, seed) => {
        const previous = codec.encode(value, "state").tree;
        const before = JSON.stringify(previous);
        const next = edited(value, spare, randomFrom(seed));
        const fresh = codec.encode(next, "state").tree;
        const { tree } = codec.encode(next, "state", previous);
        expect(JSON.stringify(tree)).toBe(JSON.stringify(fresh));
        expect(JSON.stringify(previous)).toBe(before);
        expectReuse(tree, previous, "state");
      }),
      { numRuns: 3_000 },
    );
  });

  test("encoding a value beside an unrelated one shows nothing of the other", () => {
    fc.assert(
      fc.property(storable, storable, (first, second) => {
        const previous = codec.encode(first, "state").tree;
        const { tree } = codec.encode(second, "state", previous);
        expect(JSON.stringify(tree)).toBe(JSON.stringify(codec.encode(second, "state").tree));
      }),
      { numRuns: 1_000 },
    );
  });

  test("encoding the same again gives the same node and makes no tag", () => {
    fc.assert(
      fc.property(storable, (value) => {
        const { tree } = codec.encode(value, "state");
        expect(codec.encode(value, "state", tree)).toEqual({ tree, tagged: false });
        expect(codec.encode(value, "state", tree).tree).toBe(tree);
      }),
      { numRuns: 500 },
    );
  });

  test("no object of the caller's is part of a tree", () => {
    fc.assert(
      fc.property(storable, storable, fc.integer(), (value, spare, seed) => {
        const next = edited(value, spare, randomFrom(seed));
        const live = objectsIn([value, next]);
        const previous = codec.encode(value, "state").tree;
        for (const node of objectsIn(codec.encode(next, "state", previous).tree)) expect(live.has(node)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});

describe("lists", () => {
  const previous = codec.encode(messages(0, 20), "state").tree;
  const cases: [string, Record<string, unknown>[], number][] = [
    ["one is appended", messages(0, 21), 20],
    ["one is prepended", messages(-1, 20), 20],
    ["one is inserted in the middle", [...messages(0, 9), message(99), ...messages(9, 20)], 20],
    ["some are removed in the middle", [...messages(0, 5), ...messages(9, 20)], 16],
    ["one is replaced", [...messages(0, 5), message(99), ...messages(6, 20)], 19],
    ["the first are dropped while others come", messages(3, 24), 17],
    ["the last are dropped while others come at the front", messages(-4, 15), 15],
    ["all but the last few are dropped", messages(17, 20), 3],
    ["all are dropped", [], 0],
  ];
  test.each(cases)("lists are reused when %s", (_name, list, count) => {
    const { tree } = codec.encode(list, "state", previous);
    expect(tree).toEqual(codec.encode(list, "state").tree);
    expect(reused(tree, previous)).toBe(count);
  });

  test("lists of few different elements are right whatever was there before", () => {
    const element = fc.constantFrom<unknown>(0, "a", { b: 1 }, { b: 2 }, [], undefined);
    const list = fc.array(element, { maxLength: 8 });
    fc.assert(
      fc.property(list, list, (before, after) => {
        const { tree } = codec.encode(after, "state", codec.encode(before, "state").tree);
        expect(JSON.stringify(tree)).toBe(JSON.stringify(codec.encode(after, "state").tree));
      }),
      { numRuns: 1_000 },
    );
  });

  test("lists keep the equal parts of an element that changed", () => {
    const list = messages(0, 3);
    list[1] = { ...message(1), content: "edited" };
    const old = codec.encode(messages(0, 3), "state").tree as { [key: string]: Json }[];
    const tree = codec.encode(list, "state", old).tree as { [key: string]: Json }[];
    expect(tree[1]).not.toBe(old[1]);
    expect(tree[1]?.tools).toBe(old[1]?.tools);
    expect([tree[0], tree[2]]).toEqual([old[0], old[2]]);
    expect(tree[0]).toBe(old[0]);
  });
});

describe("changes", () => {
  test("made in place are always seen", () => {
    const state = { messages: messages(0, 5), files: new Map([["a", { lines: ["x"] }]]), when: new Date(1) };
    let { tree } = codec.encode(state, "state");
    const edits: (() => unknown)[] = [
      () => Object.assign(state.messages[2] as object, { content: "edited" }),
      () => (state.messages[4]!.tools as object[]).push({ name: "u" }),
      () => state.files.get("a")?.lines.push("y"),
      () => state.when.setTime(2),
      () => state.messages.reverse(),
      () => Object.assign(state.messages[0] as object, { n: -0 }),
      () => Object.assign(state.messages[1] as object, { n: undefined }),
    ];
    for (const edit of edits) {
      edit();
      const next = codec.encode(state, "state", tree).tree;
      expect(JSON.stringify(next)).toBe(JSON.stringify(codec.encode(state, "state").tree));
      expect(next).not.toBe(tree);
      tree = next;
    }
  });

  test.each([
    ["0 and −0", { a: 0 }, { a: -0 }],
    ["−0 and 0", { a: -0 }, { a: 0 }],
    ["undefined and absent", { a: undefined }, {}],
    ["null and undefined", [null], [undefined]],
    ["a number and its string", [1], ["1"]],
    ["1n and 1", [1n], [1]],
    ["an object and an array", { 0: "a" }, ["a"]],
    ["a Date and an object that looks like its node", new Date(5), { $: "date", v: 5 }],
    ["an object without prototype and a plain one", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ["another order of keys", { a: 1, b: 2 }, { b: 2, a: 1 }],
    [
      "another order of entries",
      new Map([
        ["a", 1],
        ["b", 2],
      ]),
      new Map([
        ["b", 2],
        ["a", 1],
      ]),
    ],
    ["a Buffer and a Uint8Array", Buffer.from("x"), new Uint8Array(Buffer.from("x"))],
    ["another flag", /a/g, /a/],
    ["another class of error", new TypeError("x"), new RangeError("x")],
  ])("between %s are seen", (_name, before, after) => {
    for (const wrap of [
      (value: unknown) => value,
      (value: unknown) => [1, value],
      (value: unknown) => [{ a: [value] }],
    ]) {
      const previous = codec.encode(wrap(before), "state").tree;
      const { tree } = codec.encode(wrap(after), "state", previous);
      expect(JSON.stringify(tree)).toBe(JSON.stringify(codec.encode(wrap(after), "state").tree));
      expect(JSON.stringify(tree)).not.toBe(JSON.stringify(previous));
    }
  });

  test("changes of which only a tag is new count as tagged, reused tags do not", () => {
    const previous = codec.encode({ at: new Date(1), n: 1 }, "state").tree;
    expect(codec.encode({ at: new Date(1), n: 2 }, "state", previous).tagged).toBe(false);
    expect(codec.encode({ at: new Date(2), n: 1 }, "state", previous).tagged).toBe(true);
    expect(codec.encode({ at: 1, n: { $: 1 } }, "state", previous).tagged).toBe(true);
    const dates = codec.encode([new Date(1), new Date(2)], "state").tree;
    expect(codec.encode([new Date(2)], "state", dates).tagged).toBe(false);
  });
});

test("keys added to Object.prototype are nobody's own", () => {
  const previous = codec.encode({ a: { b: 1 } }, "state").tree;
  const found: string[] = [];
  Object.defineProperty(Object.prototype, "extra", { value: { c: 1 }, enumerable: true, configurable: true });
  try {
    const { tree } = codec.encode({ a: { b: 2 } }, "state", previous);
    const decoded = [codec.decode(tree), codec.decode(tree, { tagged: false }), codec.decode(tree, { owned: true })];
    for (const value of [tree, ...decoded]) found.push(JSON.stringify(value));
  } finally {
    // Before anything is expected: the test runner itself stumbles over it.
    Reflect.deleteProperty(Object.prototype, "extra");
  }
  expect(found).toEqual(Array.from({ length: 4 }, () => '{"a":{"b":2}}'));
});

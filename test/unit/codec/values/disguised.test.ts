import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createValueCodec } from "../../../../src/codec/values/value.ts";
import { difference } from "./identity.ts";
import { refusalOf } from "./refusal-of.ts";

const codec = createValueCodec();

const builtIn: Record<string, () => object> = {
  Map: () => new Map([[1, 2]]),
  Set: () => new Set([1]),
  Date: () => new Date(0),
  RegExp: () => /a/g,
  Error: () => new Error("e"),
  AggregateError: () => new AggregateError([1]),
  URL: () => new URL("a:b"),
  URLSearchParams: () => new URLSearchParams("a=b"),
  Uint8Array: () => new Uint8Array([1, 2]),
  "an empty Float64Array": () => new Float64Array(0),
  Buffer: () => Buffer.from("ab"),
  DataView: () => new DataView(new ArrayBuffer(2)),
  ArrayBuffer: () => new ArrayBuffer(2),
  SharedArrayBuffer: () => new SharedArrayBuffer(2),
  Promise: () => Promise.resolve(1),
  WeakMap: () => new WeakMap(),
  WeakSet: () => new WeakSet(),
  WeakRef: () => new WeakRef({}),
  FinalizationRegistry: () => new FinalizationRegistry(() => undefined),
  "a boxed number": () => Object(1),
  "a boxed string": () => Object("s"),
  Array: () => [1],
  "an iterator of an array": () => [1].values(),
  "an iterator of a Map": () => new Map().keys(),
  "a generator": () => (function* () {})(),
  arguments: () =>
    (function (..._: unknown[]) {
      // biome-ignore lint/complexity/noArguments: it is the case.
      return arguments;
    })(1),
  "a number format": () => new Intl.NumberFormat("en"),
  "a Map of another realm": () => runInNewContext("new Map()"),
  "a Date of another realm": () => runInNewContext("new Date(0)"),
};

describe("disguised objects", () => {
  test.each(Object.entries(builtIn))(
    "A built-in object that lost its prototype is refused with its path: %s.",
    (_, make) => {
      for (const previous of [undefined, { at: { lost: {} } }, { at: { lost: Object.create(null) } }]) {
        const error = refusalOf({ at: { lost: Object.setPrototypeOf(make(), null) } }, previous);
        expect(error.code).toBe("SERIALIZE");
        expect(error.path).toMatch(/^state\.at\.lost/);
      }
    },
  );

  test.each(["Map", "Set", "Date", "RegExp", "Uint8Array", "ArrayBuffer", "Promise"])(
    "A built-in object with properties of its own that lost its prototype is refused: %s.",
    (name) => {
      const lost = Object.assign(Object.setPrototypeOf((builtIn[name] as () => object)(), null), { x: 1 });
      expect(refusalOf({ lost }).path).toMatch(/^state\.lost/);
    },
  );

  test.each(["Map", "Set", "Date", "Uint8Array", "an empty Float64Array", "ArrayBuffer", "Promise", "a boxed number"])(
    "A built-in object under the prototype of plain objects is refused: %s.",
    (name) => {
      const disguised = Object.setPrototypeOf((builtIn[name] as () => object)(), Object.prototype);
      expect(refusalOf({ disguised }).path).toMatch(/^state\.disguised/);
      expect(refusalOf({ disguised: Object.freeze([{}, disguised]) }).path).toMatch(/^state\.disguised\[1\]/);
    },
  );

  test("A built-in object that lost its prototype is named for what it is.", () => {
    expect(refusalOf({ lost: Object.setPrototypeOf(new Map(), null) }).message).toBe(
      "state.lost: a built-in Map without a prototype of its own cannot be stored. Give it back its prototype, or store a plain copy.",
    );
  });
});

test("An object without a prototype takes the place of a plain one, and the other way round.", () => {
  const fields = fc.dictionary(fc.constantFrom("a", "b", "$", "v"), fc.constantFrom<unknown>(1, "x", null, [], {}));
  fc.assert(
    fc.property(fields, fields, fc.boolean(), (before, after, bareFirst) => {
      const bare = (value: object): unknown => Object.assign(Object.create(null), value);
      const [from, to] = bareFirst ? [bare(before), { ...after }] : [{ ...before }, bare(after)];
      const previous = codec.encode({ at: from }, "state").tree;
      const { tree } = codec.encode({ at: to }, "state", previous);
      expect(tree).not.toBe(previous);
      expect(difference(codec.decode(tree), { at: to })).toBeUndefined();
    }),
  );
});

describe("lists", () => {
  const lengths = fc.constantFrom(0, 1, 63, 64, 65, 256, 257, 300, 1_000);
  const realms: readonly ((length: number) => unknown[])[] = [
    (length) => Array.from({ length }, (_, index) => index),
    (length) => Array.from({ length }, () => undefined),
    (length) => runInNewContext(`Array.from({ length: ${length} }, (_, index) => ({ index }))`) as unknown[],
  ];
  const list = fc.tuple(lengths, fc.constantFrom(...realms)).map(([length, make]) => make(length));
  const key = fc.oneof(fc.string(), fc.constantFrom<PropertyKey>("raw", "-1", "4294967295", "01", Symbol("s")));

  test("A list of any length is refused with a property besides its elements, hidden or not, and stored without.", () => {
    fc.assert(
      fc.property(list, key, fc.boolean(), fc.anything(), (value, name, enumerable, held) => {
        codec.encode({ value }, "state");
        fc.pre(!Object.hasOwn(value, name) && !/^(0|[1-9]\d*)$/.test(String(name)));
        Object.defineProperty(value, name, { value: held, enumerable });
        const error = refusalOf({ value });
        expect(error.code).toBe("SERIALIZE");
        if (typeof name === "string") expect(error.path?.startsWith("state.value")).toBe(true);
      }),
    );
  });

  test("A list of any length is refused with a hole or a hidden element, whatever makes up for it.", () => {
    fc.assert(
      fc.property(list, fc.nat(), fc.boolean(), fc.boolean(), (value, place, hole, madeUp) => {
        fc.pre(value.length > 0);
        const at = place % value.length;
        if (hole) delete value[at];
        else Object.defineProperty(value, at, { value: 1, enumerable: false });
        if (madeUp) Object.assign(value, { x: 1 });
        expect(refusalOf({ value }).path).toBe(`state.value[${at}]`);
      }),
    );
  });

  test("A list of any length is stored whatever a program has told inspect to show.", async () => {
    const { inspect } = await import("node:util");
    const before = { ...inspect.defaultOptions };
    Object.assign(inspect.defaultOptions, { numericSeparator: true, compact: false, colors: true, showHidden: false });
    try {
      for (const length of [65, 1_000, 12_345, 100_000]) codec.encode(Array(length).fill(1), "state");
      expect(refusalOf(Object.defineProperty(Array(1_000).fill(1), "raw", { value: 1 })).path).toBe("state.raw");
    } finally {
      Object.assign(inspect.defaultOptions, before);
    }
  });
});

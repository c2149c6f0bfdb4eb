import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { createValueCodec } from "../../../../src/codec/values/value.ts";
import { refusalOf } from "./refusal-of.ts";

const codec = createValueCodec();

function cyclic(): unknown {
  const node: Record<string, unknown> = { name: "root" };
  node.child = { list: [1, node] };
  return node;
}

class Point {
  x = 1;
}
class Tags extends Array<string> {}
class Registry extends Map<string, string> {}
class Failure extends Error {}
class Moment extends Date {}
class Bytes extends Uint8Array {}

function detached(): Uint8Array {
  const bytes = new Uint8Array(4);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

function withProperty(
  value: object,
  key: PropertyKey,
  property: PropertyDescriptor = { value: 1, enumerable: true },
): object {
  return Object.defineProperty(value, key, property);
}

const getter = { get: () => 1, enumerable: true, configurable: true };
const setter = { set: () => undefined, enumerable: true, configurable: true };
const hidden = { value: 1, enumerable: false };
const match = "xay".match(/a/);

const refused: [name: string, value: unknown, path: string, what: string][] = [
  ["a function", { messages: [1, 2, 3, { callback: () => 1 }] }, "state.messages[3].callback", "a function"],
  ["a class", { type: Point }, "state.type", "a function"],
  ["a symbol", [Symbol("s")], "state[0]", "a symbol"],
  ["a symbol key", { a: { [Symbol("k")]: 1 } }, "state.a", "an object with the symbol key Symbol(k)"],
  ["a cycle", { top: cyclic() }, "state.top.child.list[1]", "a cycle (a reference back to state.top)"],
  ["an accessor", { a: withProperty({ b: 1 }, "c", getter) }, "state.a.c", "an accessor"],
  ["an accessor without a getter", withProperty({}, "c", setter), "state.c", "an accessor"],
  ["an accessor as element", withProperty([1, 2], 1, getter), "state[1]", "an accessor"],
  ["a hidden property", withProperty({}, "we ird", hidden), 'state["we ird"]', "a property that is not enumerable"],
  ["a hidden element", withProperty([1, 2], 0, { value: 1, enumerable: false }), "state[0]", "a property that is not"],
  // biome-ignore lint/suspicious/noSparseArray: it is the case.
  ["a hole", { list: [1, , 3] }, "state.list[1]", "a hole in an array"],
  ["a list of holes", { list: new Array(3) }, "state.list[0]", "a hole in an array"],
  ["a hole made up for by a property", withProperty(new Array(1), "x"), "state[0]", "a hole in an array"],
  ["a property of an array", { list: match }, "state.list.index", "a property added to a built-in object"],
  ["a hidden property of an array", withProperty(["a"], "raw", hidden), "state.raw", "a property that is not"],
  ["a symbol on an array", withProperty([], Symbol("k")), "state", "an object with the symbol key"],
  ["a property of a Date", withProperty(new Date(), "x"), "state.x", "a property added to a built-in object"],
  ["a property of a Map", { m: withProperty(new Map(), "x") }, "state.m.x", "a property added to a built-in"],
  ["a property of a RegExp", withProperty(/x/, "x"), "state.x", "a property added to a built-in object"],
  ["a property of a URL", withProperty(new URL("a:b"), "x"), "state.x", "a property added to a built-in object"],
  ["a property of a Uint8Array", withProperty(new Uint8Array(9), "x"), "state", "a Uint8Array with properties of"],
  ["a property of an ArrayBuffer", withProperty(new ArrayBuffer(9), "x"), "state", "a ArrayBuffer with properties"],
  ["an accessor of an error", withProperty(new Error("e"), "x", getter), "state.x", "an accessor"],
  ["a hidden property of an error", withProperty(new Error("e"), "x", hidden), "state.x", "a property that is not"],
  ["a symbol on an error", withProperty(new Error("e"), Symbol("k")), "state", "an object with the symbol key"],
  ["an instance of a class", { p: new Point() }, "state.p", "an instance of the class Point"],
  [
    "an instance of a class of another realm",
    runInNewContext("new (class Far {})()"),
    "state",
    "an instance of the class Far",
  ],
  ["a subclass of Array", new Tags(), "state", "an instance of the class Tags"],
  ["a subclass of Map", { r: new Registry() }, "state.r", "an instance of the class Registry"],
  ["a subclass of Error", new Failure("x"), "state", "an instance of the class Failure"],
  ["a subclass of Date", new Moment(), "state", "an instance of the class Moment"],
  ["a subclass of Uint8Array", new Bytes(1), "state", "an instance of the class Bytes"],
  ["an object with a prototype of its own", Object.create({ a: 1 }), "state", "an object with a prototype of its own"],
  ["a Proxy", { p: new Proxy({ a: 1 }, {}) }, "state.p", "a Proxy"],
  ["a Proxy of an array", { p: new Proxy([1], {}) }, "state.p", "a Proxy"],
  ["a Proxy of a Map", { p: new Proxy(new Map(), {}) }, "state.p", "a Proxy"],
  ["a boxed string", [new String("s")], "state[0]", "a boxed primitive"],
  ["a boxed number", [Object(1)], "state[0]", "a boxed primitive"],
  ["a boxed symbol", [Object(Symbol("s"))], "state[0]", "a boxed primitive"],
  ["a boxed BigInt", [Object(1n)], "state[0]", "a boxed primitive"],
  ["a Promise", { later: Promise.resolve(1) }, "state.later", "a Promise"],
  ["a WeakMap", new WeakMap(), "state", "a WeakMap"],
  ["a WeakSet", new WeakSet(), "state", "a WeakSet"],
  ["a WeakRef", new WeakRef({}), "state", "an instance of the class WeakRef"],
  [
    "a generator",
    (function* (): Generator<number> {
      yield 1;
    })(),
    "state",
    "a generator",
  ],
  ["an iterator", new Map().entries(), "state", "an object with a prototype of its own"],
  ["a namespace of the language", { Math }, "state.Math.abs", "a property that is not enumerable"],
  ["a DOMException", new DOMException("m", "AbortError"), "state", "an instance of the class DOMException"],
  ["shared memory", new SharedArrayBuffer(4), "state", "a SharedArrayBuffer"],
  ["a view of shared memory", new Uint8Array(new SharedArrayBuffer(4)), "state", "a Uint8Array on shared memory"],
  ["a DataView of shared memory", new DataView(new SharedArrayBuffer(4)), "state", "a DataView on shared memory"],
  [
    "an object with the prototype of Date only",
    Object.create(Date.prototype),
    "state",
    "an instance of the class Date",
  ],
  ["an object with the prototype of Map only", Object.create(Map.prototype), "state", "an instance of the class Map"],
];

describe("what cannot be stored", () => {
  test.each(refused)("%s is refused by its path", (_name, value, path, what) => {
    const error = refusalOf(value);
    expect(error.code).toBe("SERIALIZE");
    expect(error.path).toBe(path);
    expect(error.message.startsWith(`${path}: ${what}`), error.message).toBe(true);
    expect(error.message).toMatch(/ cannot be stored\. [A-Z].*\.$/);
  });

  test.each(refused)("%s is refused just so in place of something else", (_name, value, path) => {
    for (const previous of [null, { x: 1 }, [1, 2, 3], { list: [1, 2, 3], a: { b: 1 }, p: [] }, new Map([[1, 2]])]) {
      expect(refusalOf({ at: value }, { at: previous }).path).toBe(path.replace("state", "state.at"));
    }
  });

  test.each([
    ["inside a Map's value", new Map([["a.txt", { f: [Math.max] }]]), 'state.get("a.txt").f[0]'],
    ["as a Map's value under a number", new Map([[7, Math.max]]), "state.get(7)"],
    ["as a Map's value under an object", new Map([[{}, Math.max]]), "state.values()[0]"],
    ["inside a Map's key", new Map([[1, 1] as [unknown, number], [{ a: Math.max }, 1]]), "state.keys()[1].a"],
    ["inside a Set", new Set([1, [Math.max]]), "state.values()[1][0]"],
    ["as an error's cause", new Error("e", { cause: { f: Math.max } }), "state.cause.f"],
    ["among an AggregateError's errors", new AggregateError([1, Math.max]), "state.errors[1]"],
    ["as an error's field", Object.assign(new Error("e"), { a: { f: Math.max } }), "state.a.f"],
    ["in an object without a prototype", Object.assign(Object.create(null), { a: Math.max }), "state.a"],
    ["in an object with the key $", { $: { f: Math.max } }, "state.$.f"],
    ["under a strange key", { 'we"ird': { "a-b": { "": Math.max } } }, 'state["we\\"ird"]["a-b"][""]'],
    ["under a key of letters", { ß: { _0: { $a: Math.max } } }, "state.ß._0.$a"],
    ["under a number", { 0: Math.max }, 'state["0"]'],
  ])("is found %s", (_name, value, path) => {
    expect(refusalOf(value).path).toBe(path);
  });

  test("a cycle through whatever holds it", () => {
    const map = new Map<string, unknown>();
    map.set("self", { map });
    expect(refusalOf({ map }).message).toMatch(
      /^state\.map\.get\("self"\)\.map: a cycle \(a reference back to state\.map\)/,
    );
    const error: Error & { self?: unknown } = new Error("e");
    error.self = [error];
    expect(refusalOf(error).path).toBe("state.self[0]");
    const bare = Object.create(null);
    bare.$ = { bare };
    expect(refusalOf([bare]).path).toBe("state[0].$.bare");
    const escaped: Record<string, unknown> = {};
    escaped.$ = escaped;
    expect(refusalOf(escaped).path).toBe("state.$");
  });

  test("a cycle that grows out of what was stored before", () => {
    const node: Record<string, unknown> = { a: { b: 1 } };
    const previous = structuredClone({ a: { a: { b: 1 } } });
    node.a = node;
    expect(refusalOf(node, previous).message).toContain("a cycle");
  });

  test("memory that was transferred away", () => {
    const error = refusalOf({ bytes: detached() });
    expect(error.path).toBe("state.bytes");
    expect(error.cause).toBeInstanceOf(TypeError);
  });

  test("a resizable ArrayBuffer, but not the bytes in a view of it", () => {
    const buffer: ArrayBuffer = Reflect.construct(ArrayBuffer, [4, { maxByteLength: 8 }]);
    expect(refusalOf(buffer).message).toContain("a resizable ArrayBuffer");
    expect(codec.decode(codec.encode(new Uint8Array(buffer), "state").tree)).toEqual(new Uint8Array(4));
  });

  test("an object whose class only looks built in", () => {
    const Fake = { Map: class Map {} }.Map;
    expect(refusalOf(new Fake()).message).toContain("an instance of the class Map");
    expect(refusalOf(Object.create(URL.prototype)).path).toBe("state");
    expect(refusalOf(Object.create(URLSearchParams.prototype)).path).toBe("state");
  });
});

describe("what is added to a built-in object that was stored", () => {
  test.each<[string, () => object]>([
    ["a Date", () => new Date(7)],
    ["a Map", () => new Map([[1, 2]])],
    ["a Set", () => new Set([1])],
    ["a RegExp", () => /x/],
    ["a URL", () => new URL("a:b")],
    ["a Uint8Array", () => new Uint8Array(9)],
    ["an ArrayBuffer", () => new ArrayBuffer(9)],
  ])("%s", (_name, make) => {
    for (const around of [(value: object) => value, (value: object) => ({ within: [{ it: value }] })]) {
      expect(refusalOf(around(withProperty(make(), "x")), around(make())).message).toMatch(/cannot be stored/);
    }
  });
});

describe("what is refused when it is new", () => {
  test("a getter that throws while being compared has a path too", () => {
    const value = withProperty({ a: 1 }, "b", {
      get: () => {
        throw new Error("no");
      },
      enumerable: true,
    });
    expect(refusalOf({ deep: [value] }, { deep: [{ a: 1, b: 2 }] }).path).toBe("state.deep[0].b");
  });

  test("a getter that throws in a long list has a path too", () => {
    const numbers = Array.from({ length: 1_000 }, (_, index) => index);
    const value = withProperty([...numbers], 999, {
      get: () => {
        throw new Error("no");
      },
      enumerable: true,
    });
    expect(refusalOf({ list: value }).path).toBe("state.list[999]");
    expect(refusalOf({ list: value }, { list: numbers }).path).toBe("state.list[999]");
  });

  test("an accessor or a hidden property where something else changed, or where it gives something else", () => {
    expect(refusalOf(withProperty({ a: 1 }, "b", getter), { a: 1, b: 2 }).path).toBe("state.b");
    expect(refusalOf([withProperty({ a: 1 }, "b", getter)], [{ a: 1, b: 2 }]).path).toBe("state[0].b");
    expect(refusalOf(withProperty({ a: 1 }, "b", hidden), { a: 2 }).path).toBe("state.b");
    expect(refusalOf(withProperty([1, 2], 1, getter), [1, 2]).path).toBe("state[1]");
    expect(refusalOf(withProperty([1, 2], "x"), [1]).path).toBe("state.x");
  });

  test("a hole in a list is no undefined that was stored before", () => {
    // biome-ignore lint/suspicious/noSparseArray: it is the case.
    expect(refusalOf([1, , 3], [1, undefined, 3]).path).toBe("state[1]");
    expect(refusalOf({ a: new Array(2) }, { a: [undefined, undefined] }).path).toBe("state.a[0]");
  });

  test("a Proxy whose traps throw", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(refusalOf({ proxy }).code).toBe("SERIALIZE");
    expect(refusalOf({ proxy }, { proxy: {} }).code).toBe("SERIALIZE");
  });
});

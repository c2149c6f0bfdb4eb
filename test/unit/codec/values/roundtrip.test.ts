import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/codec/json.ts";
import { createValueCodec } from "../../../../src/codec/values/value.ts";
import { storable } from "./arbitrary.ts";
import { difference } from "./identity.ts";

const codec = createValueCodec();

/** Through text, as a store does it. */
function throughText(value: unknown): unknown {
  const tree: Json = JSON.parse(JSON.stringify(codec.encode(value, "state").tree));
  return codec.decode(tree, { owned: true });
}

describe("what comes back", () => {
  const samples: Record<string, () => unknown> = {
    "undefined, as a value, a field and an element": () => ({ a: undefined, list: [undefined, 1, undefined] }),
    "numbers JSON cannot write": () => [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0],
    "a BigInt of 64 bits and more": () => [18446744073709551615n, -(2n ** 200n), 0n, -1n],
    "dates, invalid ones too": () => [new Date(0), new Date(-1.5e12), new Date(Number.NaN), new Date(8.64e15)],
    "a regular expression in the middle of its work": () => {
      const pattern = /a(?<b>.)\//dgimsuy;
      pattern.lastIndex = 7;
      return [pattern, /[/\]]/];
    },
    "a Map with keys of every type, in its order": () =>
      new Map<unknown, unknown>([
        [{ a: 1 }, 1],
        ["b", new Map([[1, 2]])],
        [Number.NaN, undefined],
        [null, -0],
        [0, 1n],
      ]),
    "a Set in its order": () => new Set<unknown>([3, 1, "x", { y: new Set() }, undefined]),
    "an error with its cause, fields and class": () => {
      const cause = new RangeError("inner");
      return Object.assign(new TypeError("outer", { cause }), { code: "E_OUTER", at: new Date(5), toString: "no" });
    },
    "an error without message or stack, with a cause of undefined": () => {
      const bare = new Error(undefined, { cause: undefined });
      Reflect.deleteProperty(bare, "stack");
      return bare;
    },
    "an error whose name and message were assigned": () =>
      Object.assign(new Error(), { name: "Custom", message: "later" }),
    "an AggregateError": () => new AggregateError([new Error("a"), "b", new URIError("c")], "both"),
    "an error of Node's own": () => {
      try {
        return new URL("no url");
      } catch (error) {
        return error;
      }
    },
    "URLs and search parameters": () => {
      const address = new URL("https://user:pw@example.org:8080/ä b?q=1&q=2#f");
      return [
        address,
        new URLSearchParams(address.searchParams),
        new URLSearchParams([
          ["", ""],
          ["a&", "="],
        ]),
      ];
    },
    "buffers and views, only the bytes they show": () => {
      const { buffer } = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
      return [
        buffer,
        new DataView(buffer, 3, 4),
        new Uint8Array(buffer, 1, 3),
        new Float64Array(buffer, 8, 1),
        new BigUint64Array(buffer),
        Buffer.from(buffer, 5, 6),
        Buffer.from(""),
        new Uint8ClampedArray(0),
      ];
    },
    "the payload of a NaN in a typed array": () =>
      new Float64Array(new BigUint64Array([0x7ff8_0000_dead_beefn]).buffer),
    "objects without a prototype": () =>
      Object.assign(Object.create(null), { a: 1, $: "date", nested: Object.create(null), constructor: 2 }),
    "keys that mean something elsewhere": () => JSON.parse('{"__proto__":{"x":1},"constructor":2,"toString":3,"v":4}'),
    "objects that look like tags": () => [
      { $: "date", v: 0 },
      { a: 1, $: { $: { $: 1 } } },
      { $: undefined },
      { $$: 1 },
    ],
    "the order of keys": () => ({ z: 1, a: 2, 10: 3, 2: 4, "": 5 }),
    "lone surrogates, NUL and separators": () => ({ "\ud800": "\udc00x\u0000\u2028", "a\u0000": "\ud83d" }),
    "an object that is frozen": () => Object.freeze({ list: Object.freeze([Object.freeze({ a: 1 })]) }),
  };
  if (Reflect.has(globalThis, "Float16Array")) {
    samples["a Float16Array"] = () => Reflect.construct(Reflect.get(globalThis, "Float16Array"), [[1.5, -0, 65504]]);
  }
  if (Reflect.has(globalThis, "SuppressedError")) {
    const type = Reflect.get(globalThis, "SuppressedError");
    samples["a SuppressedError"] = () => new type(new Error("a"), { b: 1 }, "c");
  }

  test.each(Object.entries(samples))("%s", (_name, make) => {
    const value = make();
    expect(difference(throughText(value), value)).toBeUndefined();
    const { tree } = codec.encode(value, "state");
    expect(difference(codec.decode(tree), value)).toBeUndefined();
  });

  test("shared references as separate copies", () => {
    const shared = { list: [1] };
    const back = throughText({ a: shared, b: shared }) as { a: typeof shared; b: typeof shared };
    expect(back).toEqual({ a: shared, b: shared });
    expect(back.a).not.toBe(back.b);
  });

  test("what other realms made, as this realm's", () => {
    const made: unknown = runInNewContext(
      "({ o: { a: [1, { b: undefined }] }, m: new Map([[1, new Date(5)]]), s: new Set([2n]), r: /x/g, e: new TypeError('t')," +
        " u: new Uint16Array([1, 2]), n: Object.create(null) })",
    );
    const back = throughText(made) as Record<string, Error>;
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(back.e).toBeInstanceOf(TypeError);
    expect({ ...back, e: back.e?.message }).toEqual({
      o: { a: [1, { b: undefined }] },
      m: new Map([[1, new Date(5)]]),
      s: new Set([2n]),
      r: /x/g,
      e: "t",
      u: new Uint16Array([1, 2]),
      n: Object.create(null),
    });
  });
});

describe("laws", () => {
  test("whatever is encoded comes back exactly, however it is decoded", () => {
    fc.assert(
      fc.property(storable, (value) => {
        const { tree, tagged } = codec.encode(value, "state");
        const text = JSON.stringify(tree);
        expect(difference(JSON.parse(text), tree)).toBeUndefined();
        for (const options of [
          { owned: true },
          { owned: false },
          ...(tagged ? [] : [{ owned: true, tagged }, { tagged }]),
        ]) {
          expect(difference(codec.decode(JSON.parse(text), options), value)).toBeUndefined();
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("what was decoded encodes to the same tree, so that reading and writing back changes nothing", () => {
    fc.assert(
      fc.property(storable, (value) => {
        const { tree } = codec.encode(value, "state");
        expect(codec.encode(codec.decode(tree), "state", tree).tree).toBe(tree);
      }),
      { numRuns: 500 },
    );
  });

  test("decoding leaves the tree as it was, and shares no object with it, unless it owns it", () => {
    fc.assert(
      fc.property(storable, (value) => {
        const { tree, tagged } = codec.encode(value, "state");
        const text = JSON.stringify(tree);
        const copies = [codec.decode(tree), ...(tagged ? [] : [codec.decode(tree, { tagged })])];
        for (const copy of copies) expect(difference(copy, codec.decode(tree))).toBeUndefined();
        expect(JSON.stringify(tree)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  test("a tree without tags is plain JSON of the same content", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const clean: unknown = JSON.parse(JSON.stringify(value).replaceAll('"$', '"S'));
        const { tree, tagged } = codec.encode(clean, "state");
        expect(tagged).toBe(false);
        expect(JSON.stringify(tree)).toBe(JSON.stringify(clean));
      }),
    );
  });
});

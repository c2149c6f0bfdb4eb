import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isObject, type Json } from "../../../../src/codec/json.ts";
import { createValueCodec } from "../../../../src/codec/values/value.ts";
import { ThreadmarkError } from "../../../../src/errors.ts";
import { key, storable } from "./arbitrary.ts";
import { randomFrom } from "./edit.ts";

const codec = createValueCodec();

/** The code of the error, or what was decoded. Anything else that is thrown is a failure. */
function outcome(tree: Json, owned = false): { readonly code: string } | { readonly value: unknown } {
  try {
    return { value: codec.decode(tree, { owned }) };
  } catch (error) {
    if (error instanceof ThreadmarkError) return { code: error.code };
    throw error;
  }
}

const tags = ["undefined", "number", "bigint", "date", "regexp", "map", "set", "error", "url", "searchparams", "bytes"];
const tag = fc.oneof(fc.constantFrom(...tags, "null-prototype", "object", "class", "nope", "__proto__"), fc.string());
const types = fc.constantFrom("Buffer", "Uint8Array", "Float64Array", "DataView", "ArrayBuffer", "Error", "TypeError");

/** Any tree, most of them with tags in the right places and wrong things in them. */
const tree: fc.Arbitrary<Json> = fc.letrec<{ node: Json }>((tie) => {
  const node = tie("node");
  const leaf = fc.oneof(
    fc.constantFrom<Json>(null, true, 0, -1, 1.5, 8.65e15, "", "-0", "12", "AAAA"),
    fc.string(),
    types,
  );
  const pairs = fc.array(fc.oneof(fc.tuple(node, node), node), { maxLength: 3 }) as fc.Arbitrary<Json[]>;
  const parts = fc.record(
    {
      $: tag,
      v: fc.oneof(node, pairs),
      flags: leaf,
      lastIndex: node,
      type: types,
      class: types,
      name: leaf,
      fields: node,
    },
    { requiredKeys: ["$"] },
  ) as fc.Arbitrary<Json>;
  return {
    node: fc.oneof(
      { depthSize: "small" },
      leaf,
      fc.array(node, { maxLength: 3 }),
      fc.array(fc.tuple(key, node), { maxLength: 3 }).map((fields): Json => JSON.parse(objectText(fields))),
      parts,
      fc.record({ $: tag, v: node }) as fc.Arbitrary<Json>,
    ),
  };
}).node;

/** An object with these keys, "__proto__" included, the way a parser makes it. */
function objectText(fields: readonly (readonly [string, Json])[]): string {
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${JSON.stringify(field)}`).join(",")}}`;
}

/** Damages a tree in one or a few places. */
function damaged(node: Json, spare: Json, random: () => number): Json {
  const dice = random();
  if (dice < 0.04) return spare;
  if (typeof node === "string") return dice < 0.1 ? `${node.slice(0, -1)}x` : node;
  if (typeof node === "number") return dice < 0.1 ? 1 - node : node;
  if (typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) {
    const list = node.map((element) => damaged(element, spare, random));
    if (dice < 0.08) list.splice(Math.floor(random() * (list.length + 1)), 1);
    else if (dice < 0.12) list.splice(Math.floor(random() * (list.length + 1)), 0, list[0] ?? spare);
    return list;
  }
  let fields = Object.entries(node).map(([name, field]): [string, Json] => [name, damaged(field, spare, random)]);
  if (dice < 0.08) fields = fields.slice(1);
  else if (dice < 0.12) fields.push(["__proto__", spare]);
  else if (dice < 0.16) fields = fields.map(([name, field]) => [name === "v" ? "w" : name, field]);
  return JSON.parse(objectText(fields));
}

/** With the parts of tagged nodes in one order: decoding does not care for it. */
function ordered(node: Json): Json {
  if (typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) return node.map(ordered);
  const fields = Object.entries(node).map(([name, field]): [string, Json] => [name, ordered(field)]);
  if (Object.hasOwn(node, "$")) fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.parse(objectText(fields));
}

function expectSoundness(damagedTree: Json): void {
  const text = JSON.stringify(damagedTree);
  const result = outcome(damagedTree);
  expect(JSON.stringify(damagedTree)).toBe(text);
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  const owned = outcome(JSON.parse(text), true);
  if ("code" in result) {
    expect(["CORRUPT", "UNSUPPORTED"]).toContain(result.code);
    expect(owned).toEqual(result);
    return;
  }
  expect("value" in owned).toBe(true);
  // An accepted value is exactly what the tree says: encoding it gives the tree again.
  expect(JSON.stringify(ordered(codec.encode(result.value, "state").tree))).toBe(
    JSON.stringify(ordered(JSON.parse(text))),
  );
}

describe("laws", () => {
  test("a damaged tree is an error, or exactly the value it stands for", () => {
    fc.assert(
      fc.property(storable, tree, fc.integer(), (value, spare, seed) => {
        expectSoundness(damaged(codec.encode(value, "state").tree, spare, randomFrom(seed)));
      }),
      { numRuns: 3_000 },
    );
  });

  test("any tree at all is an error, or exactly the value it stands for", () => {
    fc.assert(fc.property(tree, expectSoundness), { numRuns: 3_000 });
  });

  test("any JSON without tags is itself", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const clean: Json = JSON.parse(JSON.stringify(value).replaceAll('"$', '"S'));
        expect(outcome(clean)).toEqual({ value: clean });
      }),
    );
  });
});

const wrong: [string, Json][] = [
  ["a tag that is no string", { $: 1 }],
  ["a tag that is null", { $: null }],
  ["an undefined with something in it", { $: "undefined", v: 1 }],
  ["a number that JSON can write", { $: "number", v: "1" }],
  ["a number that is none", { $: "number", v: "constructor" }],
  ["a number without a value", { $: "number" }],
  ["a BigInt in hexadecimal", { $: "bigint", v: "0x10" }],
  ["a BigInt of nothing", { $: "bigint", v: "" }],
  ["a BigInt of −0", { $: "bigint", v: "-0" }],
  ["a BigInt that is a number", { $: "bigint", v: 1 }],
  ["a Date out of range", { $: "date", v: 8.65e15 }],
  ["a Date between milliseconds", { $: "date", v: 1.5 }],
  ["a Date from text", { $: "date", v: "2020-01-01" }],
  ["a RegExp that does not compile", { $: "regexp", v: "(", flags: "", lastIndex: 0 }],
  ["a RegExp with flags twice", { $: "regexp", v: "a", flags: "gg", lastIndex: 0 }],
  ["a RegExp with flags out of order", { $: "regexp", v: "a", flags: "ig", lastIndex: 0 }],
  ["a RegExp without lastIndex", { $: "regexp", v: "a", flags: "" }],
  ["a Map of single values", { $: "map", v: [[1]] }],
  ["a Map of text", { $: "map", v: ["ab"] }],
  [
    "a Map with a key twice",
    {
      $: "map",
      v: [
        ["a", 1],
        ["a", 2],
      ],
    },
  ],
  ["a Map with the key −0", { $: "map", v: [[{ $: "number", v: "-0" }, 1]] }],
  ["a Set that is no list", { $: "set", v: { length: 1 } }],
  ["a Set with a member twice", { $: "set", v: [1, 1] }],
  ["an error of no class", { $: "error" }],
  ["an error of an unknown class", { $: "error", class: "constructor" }],
  ["an error with a field twice", { $: "error", class: "Error", message: "a", fields: { message: "b" } }],
  ["an error with fields that are none", { $: "error", class: "Error", fields: [] }],
  ["a URL that does not parse", { $: "url", v: "no url" }],
  ["a URL that is not in its normal form", { $: "url", v: "HTTP://Example.org" }],
  ["search parameters of numbers", { $: "searchparams", v: [["a", 1]] }],
  ["search parameters that are not well-formed", { $: "searchparams", v: [["a", "\ud800"]] }],
  ["bytes in no base64", { $: "bytes", type: "Uint8Array", v: "!" }],
  ["bytes in base64 of another alphabet", { $: "bytes", type: "Uint8Array", v: "-_==" }],
  ["bytes cut in the middle of an element", { $: "bytes", type: "Float64Array", v: "AAAA" }],
  ["bytes of an unknown type", { $: "bytes", type: "Object", v: "" }],
  ["an escaped object that needed no escape", { $: "object", v: { a: 1 } }],
  ["an escaped object that is a list", { $: "object", v: [] }],
  ["an object without a prototype that is null", { $: "null-prototype", v: null }],
  ["an instance without a name", { $: "class", v: 1 }],
  ["parts that are inherited", JSON.parse('{"$":"date","__proto__":{"v":1}}')],
];

describe("what could not have been encoded", () => {
  test.each(wrong)("%s is CORRUPT", (_name, node) => {
    expect(outcome(node)).toEqual({ code: "CORRUPT" });
    expect(outcome({ a: [node] })).toEqual({ code: "CORRUPT" });
  });

  test("a tag of a later version is UNSUPPORTED", () => {
    for (const name of ["later", "__proto__", "constructor", ""]) {
      expect(outcome({ $: name, v: 1 })).toEqual({ code: "UNSUPPORTED" });
    }
  });

  test("the error of a tree that could not have been encoded says what it is and what to do", () => {
    expect(() => codec.decode({ $: "date", v: "x" })).toThrow("A stored date has no time. Run verify()");
  });
});

test("keys like __proto__ stay ordinary keys, and nothing inherits from them", () => {
  const value = codec.decode(
    JSON.parse('{"__proto__":{"polluted":{"$":"date","v":1}},"a":{"$":"map","v":[["__proto__",1]]}}'),
  );
  expect(isObject(value as Json)).toBe(true);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(Object.keys(value as object)).toEqual(["__proto__", "a"]);
  expect(Reflect.get({}, "polluted")).toBeUndefined();
});

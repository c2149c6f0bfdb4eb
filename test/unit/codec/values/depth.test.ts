import { describe, expect, test } from "vitest";
import { depthLimit, type Json } from "../../../../src/codec/json.ts";
import { createValueCodec } from "../../../../src/codec/values/value.ts";
import { ThreadmarkError } from "../../../../src/errors.ts";

const codec = createValueCodec();

const wraps: Record<string, (inner: unknown) => unknown> = {
  objects: (inner) => ({ a: inner }),
  arrays: (inner) => [inner],
  "Map values": (inner) => new Map([["a", inner]]),
  "Map keys": (inner) => new Map([[inner, 1]]),
  Sets: (inner) => new Set([inner]),
  causes: (inner) => new Error("e", { cause: inner }),
  "objects without a prototype": (inner) => Object.assign(Object.create(null), { a: inner }),
  "objects with the key $": (inner) => ({ $: inner }),
};

function nested(wrap: (inner: unknown) => unknown, levels: number, innermost: unknown = 1): unknown {
  let value = innermost;
  for (let level = 0; level < levels; level++) value = wrap(value);
  return value;
}

function codeOf(run: () => unknown): string {
  try {
    run();
    return "fine";
  } catch (error) {
    if (error instanceof ThreadmarkError) return error.code;
    throw error;
  }
}

describe.each(Object.entries(wraps))("%s", (_name, wrap) => {
  test("nested 100,000 deep are SERIALIZE, whatever was there before", () => {
    const value = nested(wrap, 100_000);
    const previous = codec.encode(nested(wrap, 300), "state").tree;
    expect(codeOf(() => codec.encode(value, "state"))).toBe("SERIALIZE");
    expect(codeOf(() => codec.encode(value, "state", previous))).toBe("SERIALIZE");
  });

  test("nested 300 deep come back through text", () => {
    const { tree } = codec.encode(nested(wrap, 300), "state");
    const text = JSON.stringify(tree);
    const value = codec.decode(JSON.parse(text), { owned: true });
    expect(JSON.stringify(codec.encode(value, "state").tree)).toBe(text);
    expect(codec.encode(value, "state", tree).tree).toBe(tree);
  });
});

describe("the limit", () => {
  test(`the limit of depth is ${depthLimit} levels of arrays and objects, which JSON can write and read`, () => {
    const value = nested((inner) => [{ a: inner }], depthLimit / 2);
    const { tree } = codec.encode(value, "state");
    const back = codec.decode(JSON.parse(JSON.stringify(tree)));
    expect(JSON.stringify(back)).toBe(JSON.stringify(value));
    expect(codec.encode(back, "state", tree).tree).toBe(tree);
    expect(codeOf(() => codec.encode([value], "state"))).toBe("SERIALIZE");
  });

  test("the limit of depth is named with the path, cut short in the message", () => {
    const error = (() => {
      try {
        return codec.encode(
          nested((inner) => ({ inner }), 5_000),
          "state",
        );
      } catch (thrown) {
        return thrown as ThreadmarkError;
      }
    })() as ThreadmarkError;
    expect(error.message).toMatch(/^state\.inner\.inner.* ... .*\.inner: a value nested more than 1000 levels deep/);
    expect(error.message.length).toBeLessThan(600);
    expect(error.path?.split(".").length).toBe(depthLimit + 1);
  });
});

describe("a stored tree nested 100,000 deep", () => {
  test("a stored tree nested 100,000 deep is CORRUPT, or unchanged where nothing has to look into it", () => {
    for (const wrap of [
      (inner: Json) => [inner],
      (inner: Json) => ({ a: inner }),
      (inner: Json) => ({ $: "set", v: [inner] }),
    ]) {
      let tree: Json = 1;
      for (let level = 0; level < 100_000; level++) tree = wrap(tree);
      expect(codeOf(() => codec.decode(tree))).toBe("CORRUPT");
      expect(codeOf(() => codec.decode(tree, { owned: true }))).toBe("CORRUPT");
      expect(codeOf(() => codec.decode(tree, { tagged: false }))).toBe("CORRUPT");
      expect(codec.decode(tree, { owned: true, tagged: false })).toBe(tree);
    }
  });
});

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/codec/json.ts";
import { createValueCodec, type ValueCodec } from "../../../../src/codec/values/value.ts";
import { ThreadmarkError } from "../../../../src/errors.ts";
import type { ClassCodec } from "../../../../src/model/interface/store-options.ts";

class Money {
  readonly amount: bigint;
  readonly currency: string;
  constructor(amount: bigint, currency: string) {
    this.amount = amount;
    this.currency = currency;
  }
}

class Registry extends Map<string, unknown> {}

const money: ClassCodec<Money> = {
  test: (value): value is Money => value instanceof Money,
  encode: ({ amount, currency }) => ({ amount, currency }),
  decode(data) {
    const { amount, currency } = data as Money;
    if (typeof amount !== "bigint") throw new RangeError("no amount");
    return new Money(amount, currency);
  },
};

const registry: ClassCodec<Registry> = {
  test: (value): value is Registry => value instanceof Registry,
  encode: (value) => new Map(value),
  decode: (data) => new Registry(data as Map<string, unknown>),
};

const codec = createValueCodec({ Money: money, Registry: registry });

function fault(run: () => unknown): ThreadmarkError {
  try {
    run();
  } catch (error) {
    if (error instanceof ThreadmarkError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

function back(value: unknown, by: ValueCodec = codec): unknown {
  return by.decode(JSON.parse(JSON.stringify(by.encode(value, "state").tree)), { owned: true });
}

describe("a registered class", () => {
  test("an instance of a registered class comes back as its decode makes it, of any type, nested too", () => {
    const value = { price: new Money(5n, "EUR"), all: new Registry([["a", new Money(1n, "x")]]) };
    const result = back(value) as typeof value;
    expect(result).toEqual(value);
    expect(result.price).toBeInstanceOf(Money);
    expect(result.all).toBeInstanceOf(Registry);
    expect(result.all.get("a")).toBeInstanceOf(Money);
  });

  test("a registered class is stored under its name", () => {
    expect(codec.encode(new Money(5n, "EUR"), "state")).toEqual({
      tree: { $: "class", name: "Money", v: { amount: { $: "bigint", v: "5" }, currency: "EUR" } },
      tagged: true,
    });
  });

  test("a registered class may have any name", () => {
    for (const name of ["__proto__", "constructor", "date", "$", "a b"]) {
      const named = createValueCodec(Object.defineProperty({}, name, { value: money, enumerable: true }));
      expect(back(new Money(1n, "x"), named)).toEqual(new Money(1n, "x"));
    }
  });

  test("a registered class may stand for functions", () => {
    const tools = { add: (a: number): number => a + 1 };
    const named = createValueCodec({
      Tool: {
        test: (value): value is unknown => value === tools.add,
        encode: () => "add",
        decode: (name) => tools[name as "add"],
      },
    });
    expect(back({ tool: tools.add }, named)).toEqual({ tool: tools.add });
    expect(fault(() => named.encode({ tool: () => 1 }, "state")).path).toBe("state.tool");
  });

  test("a registered class is not asked about plain objects, arrays and primitives", () => {
    const greedy = createValueCodec({
      All: { test: (_value): _value is unknown => true, encode: () => 1, decode: (data) => data },
    });
    const plain = { a: [1, "b", null, undefined, { c: 1n }] };
    expect(back(plain, greedy)).toEqual(plain);
    expect(greedy.encode(new Date(), "state").tree).toEqual({ $: "class", name: "All", v: 1 });
  });

  test("a registered class is reused where nothing changed", () => {
    const value = { list: [new Money(1n, "a"), new Money(2n, "b")] };
    const { tree } = codec.encode(value, "state");
    expect(codec.encode(value, "state", tree)).toEqual({ tree, tagged: false });
    expect(codec.encode(value, "state", tree).tree).toBe(tree);
    value.list[1] = new Money(3n, "b");
    const next = codec.encode(value, "state", tree).tree as { list: JsonObject[] };
    expect(next.list[0]).toBe((tree as typeof next).list[0]);
    expect(next.list[1]).toMatchObject({ v: { amount: { v: "3" } } });
  });
});

describe("faults of a class", () => {
  const broken = (part: Partial<ClassCodec>): ValueCodec =>
    createValueCodec({ Money: { ...money, ...part } as ClassCodec });
  const no = (): never => {
    throw new RangeError("no");
  };

  test("faults in a class's test or encode are SERIALIZE with path and cause", () => {
    for (const part of [{ test: no }, { encode: no }]) {
      const error = fault(() => broken(part as Partial<ClassCodec>).encode({ a: [new Money(1n, "x")] }, "state"));
      expect(error).toMatchObject({ code: "SERIALIZE", path: "state.a[0]", cause: new RangeError("no") });
      expect(error.message).toMatch(/Money.*: no$/);
    }
  });

  test("a class that encodes to a value that cannot be stored is named by the path of the instance", () => {
    const error = fault(() => broken({ encode: () => ({ f: no }) }).encode({ a: new Money(1n, "x") }, "state"));
    expect(error).toMatchObject({ code: "SERIALIZE", path: "state.a.f" });
  });

  test("a class that encodes to itself, or to another of its kind for ever, is refused", () => {
    const itself = broken({ encode: (value) => value });
    expect(fault(() => itself.encode([new Money(1n, "x")], "state")).message).toContain("a cycle");
    const endless = broken({ encode: () => new Money(1n, "x") });
    expect(fault(() => endless.encode([new Money(1n, "x")], "state")).message).toContain("nested");
  });

  test("a class that encodes to a Promise is refused", () => {
    const late = broken({ encode: () => Promise.resolve(1) });
    expect(fault(() => late.encode(new Money(1n, "x"), "state")).message).toContain("a Promise");
  });

  test("faults in a class's decode are CORRUPT with the cause", () => {
    const tree = { $: "class", name: "Money", v: { amount: 5 } };
    const error = fault(() => codec.decode(tree));
    expect(error).toMatchObject({ code: "CORRUPT", cause: new RangeError("no amount") });
    expect(error.message).toContain("Money");
  });

  test("a class that is not registered any more is UNSUPPORTED, and named", () => {
    const { tree } = codec.encode([new Money(1n, "x")], "state");
    const error = fault(() => createValueCodec().decode(tree));
    expect(error.code).toBe("UNSUPPORTED");
    expect(error.message).toMatch(/class Money, which is not registered\. Register it: open\(url, \{ classes:/);
    for (const name of ["constructor", "__proto__", "toString"]) {
      expect(fault(() => codec.decode({ $: "class", name, v: 1 })).code).toBe("UNSUPPORTED");
    }
  });

  test("registered without its three functions is a TypeError", () => {
    for (const wrong of [{}, { test: no }, { test: no, encode: no, decode: 1 }, null, 5]) {
      expect(() => createValueCodec({ Wrong: wrong as unknown as ClassCodec })).toThrow(TypeError);
    }
  });
});

import { expect, test } from "vitest";
import { createValueCodec } from "../../../../src/codec/values/value.ts";

const codec = createValueCodec();

test("a frozen object of nothing but JSON is its own node, and is known again without being looked at", () => {
  const element = Object.freeze({ id: "a", n: 1, done: false, next: null });
  const { tree } = codec.encode([element], "state");
  expect((tree as unknown[])[0]).toBe(element);
  const again = codec.encode([element, { id: "b" }], "state", tree);
  expect((again.tree as unknown[])[0]).toBe(element);
  const equal = codec.encode([{ ...element }], "state", tree);
  expect(equal.tree).toBe(tree);
});

test("frozen values inside a frozen value are treated as it is", () => {
  const element = deepFreeze({ id: "a", calls: [{ name: "f", args: { n: [1, [], {}] } }], none: null });
  const { tree } = codec.encode([element], "state");
  expect((tree as unknown[])[0]).toBe(element);
  expect((codec.encode([element, 1], "state", tree).tree as unknown[])[0]).toBe(element);
  expect(codec.encode([structuredClone(element)], "state", tree).tree).toBe(tree);
});

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

test("what is read is never the frozen object itself", () => {
  const element = Object.freeze({ id: "a" });
  const { tree } = codec.encode([element], "state");
  const [read] = codec.decode(structuredClone(tree)) as [Record<string, unknown>];
  expect(read).not.toBe(element);
  expect(Object.isFrozen(read)).toBe(false);
});

test("a frozen object that could change, or is no JSON, is copied and looked at as any other", () => {
  const inner = { n: 1 };
  const list = [1];
  const frozen: readonly object[] = [
    Object.freeze({ inner }),
    Object.freeze({ list }),
    Object.freeze({ when: new Date(0) }),
    Object.freeze({ none: undefined }),
    Object.freeze({ big: 1n }),
    Object.freeze({ odd: Number.NaN }),
    Object.freeze({ zero: -0 }),
    Object.freeze({ $: "date", v: 1 }),
    Object.freeze({ tag: Object.freeze({ $: "date", v: 1 }) }),
    Object.freeze({ below: Object.freeze({ inner }) }),
    Object.freeze({ below: Object.freeze([list]) }),
    Object.freeze({ below: Object.freeze([Object.freeze({ zero: -0 })]) }),
    Object.freeze({ bare: Object.freeze(Object.assign(Object.create(null) as object, { bare: 1 })) }),
    deepFreeze({ many: Array.from({ length: 600 }, (_, index) => ({ index })) }),
    deepFreeze({ numbers: Array.from({ length: 600 }, (_, index) => index) }),
    Object.freeze(Object.assign(Object.create(null) as object, { bare: 1 })),
  ];
  const first = codec.encode(frozen, "state");
  for (const node of first.tree as unknown[]) expect(frozen).not.toContain(node);
  expect(codec.decode(structuredClone(first.tree))).toStrictEqual(frozen);
  inner.n = 2;
  list.push(2);
  const second = codec.encode(frozen, "state", first.tree);
  expect(codec.decode(structuredClone(second.tree))).toStrictEqual(frozen);
  let reads = 0;
  const counting = Object.freeze({
    get n() {
      reads += 1;
      return reads;
    },
  });
  expect(() => codec.encode([counting], "state")).toThrow(/state\[0\]\.n/);
});

test("what cannot be stored is refused within a frozen object as anywhere", () => {
  const hidden = Object.defineProperty({ a: 1 }, "b", { value: 2, enumerable: false });
  const named = Object.assign([1], { note: 2 });
  const refused: readonly (readonly [object, string])[] = [
    [{ hidden }, "state.hidden.b"],
    [{ named }, "state.named.note"],
    [{ holes: new Array(2) }, "state.holes[0]"],
    [{ symbol: { [Symbol("s")]: 1 } }, "state.symbol"],
    [{ list: [() => 1] }, "state.list[0]"],
  ];
  for (const [value, path] of refused) {
    expect(() => codec.encode(deepFreeze(value), "state")).toThrow(expect.objectContaining({ path }));
  }
  const ring: Record<string, unknown> = {};
  for (let index = 0; index < 50; index++) ring[`again${index}`] = ring;
  expect(() => codec.encode(Object.freeze(ring), "state")).toThrow(/state\.again0/);
});

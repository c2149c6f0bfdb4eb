import { expect, test } from "vitest";
import { createValueCodec } from "../../src/codec/value.ts";

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

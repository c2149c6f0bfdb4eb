import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { AnyReducer } from "../../../src/runtime/graph/fold.ts";
import { reduce, type Values } from "../../../src/runtime/graph/reducers.ts";
import { append, END, type Frozen, graph, merge, START } from "../../../src/runtime/index.ts";
import { capture, release } from "../../../src/runtime/values/capture.ts";

describe("reducers", () => {
  test("append adds to lists and texts, and refuses what does not fit", () => {
    expect(append([1], [2, 3])).toEqual([1, 2, 3]);
    expect(append("a", "b")).toBe("ab");
    for (const [current, update] of [
      [[1], "x"],
      ["x", [1]],
      [{}, [1]],
      [[1], 2],
    ]) {
      expect(() => append(current as never, update as never)).toThrow(TypeError);
    }
  });

  test("merge puts entries over those that are there: objects, Maps, Sets", () => {
    expect(merge<Record<string, number>>({ a: 1, b: 1 }, { b: 2 })).toEqual({ a: 1, b: 2 });
    expect(merge(new Map([["a", 1]]), new Map([["b", 2]]))).toEqual(
      new Map([
        ["a", 1],
        ["b", 2],
      ]),
    );
    expect(merge(new Set([1]), new Set([2]))).toEqual(new Set([1, 2]));
    expect(merge({}, JSON.parse('{"__proto__": 1}') as object)).toEqual(JSON.parse('{"__proto__": 1}'));
    expect(() => merge([1], [2])).toThrow(TypeError);
    expect(() => merge({}, null as never)).toThrow(TypeError);
  });

  test("an absent key takes the update as it is; undefined is no update of a reduced key, but replaces another", () => {
    const reducers = new Map<string, AnyReducer>([["sum", (a, b) => (a as number) + (b as number)]]);
    expect(reduce(reducers, {}, [{ sum: 5 }, { sum: 2 }]).state).toEqual({ sum: 7 });
    expect(reduce(reducers, { sum: 1, draft: "x" }, [{ sum: undefined, draft: undefined }]).state).toEqual({
      sum: 1,
      draft: undefined,
    });
    expect(() => reduce(new Map([["k", append as AnyReducer]]), { k: [1] }, [{ k: 1 }])).toThrow('reducer of "k"');
  });

  const list = fc.array(fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer(), { maxLength: 3 })), {
    maxLength: 4,
  });
  const update = fc.record(
    {
      list,
      text: fc.string({ maxLength: 80 }),
      plain: fc.oneof(fc.integer(), fc.string({ maxLength: 80 }), list),
      other: list,
    },
    { requiredKeys: [] },
  );

  test("the change that a reduction returns leads from the state before to the state after", () => {
    const reducers = new Map<string, AnyReducer>([
      ["list", append as AnyReducer],
      ["text", append as AnyReducer],
      ["other", (_, b) => b],
    ]);
    fc.assert(
      fc.property(update, fc.array(update, { maxLength: 4 }), (before, updates) => {
        const { state, change } = reduce(reducers, before as Values, updates as Values[]);
        if (change === undefined) return;
        const applied: Record<string, unknown> = { ...before, ...change.set };
        for (const [key, added] of Object.entries(change.append ?? {})) {
          const old = applied[key];
          applied[key] = typeof old === "string" ? `${old}${added}` : [...(old as unknown[]), ...(added as unknown[])];
        }
        expect(applied).toEqual(state);
      }),
    );
  });

  test("appending to a list is known as such, so that storing it costs what was added", () => {
    const messages = Array.from({ length: 100 }, (_, index) => `message ${index}`);
    const reducers = new Map<string, AnyReducer>([["messages", append as AnyReducer]]);
    const { change } = reduce(reducers, { messages, turn: 1, big: messages }, [
      { messages: ["new"], turn: 2 },
      { messages: ["er"] },
    ]);
    expect(change).toEqual({ append: { messages: ["new", "er"] }, set: { turn: 2 } });
    // A large value that is replaced by another may have most of it in common: the store compares.
    expect(reduce(reducers, { big: messages }, [{ big: [...messages, "x"] }]).change).toBeUndefined();
  });
});

describe("capture", () => {
  test("capture copies and freezes the result of a node, and release returns a copy that may be changed", () => {
    const given = {
      list: [{ n: 1 }],
      map: new Map([["k", [1]]]),
      date: new Date(3),
      bytes: Buffer.from("ab"),
      bare: Object.create(null),
    };
    const own = capture(given);
    expect(own).toEqual(given);
    expect(Buffer.isBuffer(own.bytes)).toBe(true);
    expect(Object.getPrototypeOf(own.bare)).toBe(null);
    given.list[0]!.n = 2;
    given.map.get("k")?.push(2);
    given.date.setTime(4);
    given.bytes[0] = 0;
    expect(own).toMatchObject({
      list: [{ n: 1 }],
      map: new Map([["k", [1]]]),
      date: new Date(3),
      bytes: Buffer.from("ab"),
    });
    expect(() => own.list.push({ n: 3 })).toThrow(TypeError);
    const free = release(own);
    free.list.push({ n: 3 });
    expect([free.list.length, own.list.length]).toEqual([2, 1]);
  });

  test("an instance of another class is kept as it is, for the store to judge; a cycle is refused", () => {
    class Money {
      amount = 1;
    }
    const money = new Money();
    expect(capture({ money }).money).toBe(money);
    const knot: unknown[] = [];
    knot.push([knot]);
    expect(() => capture(knot)).toThrow(expect.objectContaining({ code: "SERIALIZE" }));
    const shared = { n: 1 };
    expect(capture([shared, shared])).toEqual([shared, shared]);
  });
});

test("nodes, reducers and results are typed by the state", async () => {
  interface State {
    messages: string[];
    total: number;
    note?: string;
  }
  const flow = graph<State>("typed")
    .reduce({ messages: append, total: (a, b) => a + b })
    .node("a", (state) => {
      expectTypeOf(state).toEqualTypeOf<Frozen<State>>();
      return { messages: ["x"], total: 1 };
    })
    .node("b", async () => ({ update: { note: "y" }, goto: END }))
    // @ts-expect-error: a node returns parts of the state
    .node("c", () => ({ messages: "x" }))
    // @ts-expect-error: of their type
    .reduce({ total: (a: string, b: string) => a + b })
    .edge(START, "a")
    .edge("a", "b")
    .edge("b", "c")
    .edge("c", END)
    .reduce({ total: (a, b) => a + b })
    .compile();
  const { state } = await flow.run({ messages: [], total: 0 });
  expectTypeOf(state).toEqualTypeOf<State>();
  expect(state).toEqual({ messages: ["x"], total: 1, note: "y" });
});

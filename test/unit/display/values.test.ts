import { expect, test } from "vitest";
import { isInternalKey, splitKeys } from "../../../src/display/values/internals.ts";
import { follow, partsOf, summaryOf } from "../../../src/display/values/parts.ts";
import { previewOf } from "../../../src/display/values/preview.ts";
import { checkRenderers, Renderers } from "../../../src/display/values/renderers.ts";
import { isSame } from "../../../src/display/values/same.ts";

test.each([
  [
    { role: "user", content: "What is the weather like in Lisbon today?" },
    '{ role: "user", content: "What is the weathe…" }',
  ],
  [{ id: 7, note: "x", zone: 1, role: "tool" }, '{ role: "tool", id: 7, note: "x", zone: 1 }'],
  [[1, 2, 3], "[1, 2, 3]"],
  [[], "[]"],
  [new Map([["a", 1]]), 'Map { "a" → 1 }'],
  [new Set(["a"]), 'Set { "a" }'],
  [new Date(0), "1970-01-01T00:00:00.000Z"],
  [12n, "12n"],
  [-0, "-0"],
  [{ lc: "HumanMessage", content: "Hi", kw: "cari" }, 'HumanMessage { content: "Hi" }'],
  [new Uint8Array(3), "Uint8Array of 3 bytes"],
  ["two\nlines", '"two lines"'],
])("%o is previewed on a line", (value, text) => {
  expect(previewOf(value, 60)).toBe(text);
});

test("a preview stays about as long as it may, however large the value", () => {
  const large = Array.from({ length: 1000 }, (_, index) => ({
    index,
    text: "x".repeat(100),
    inner: { list: [1, 2, 3] },
  }));
  for (const most of [20, 80, 200]) expect(previewOf(large, most).length).toBeLessThan(most + 30);
  expect(previewOf(large, 80)).toContain("+99");
});

test("LangChain's instances have a name and fields, without the marks of their storage", () => {
  const message = { lc: "AIMessage", content: "x", kw: "icturva" };
  expect(summaryOf(message)).toMatchObject({ type: "class", title: "AIMessage", parts: 1 });
  expect(partsOf(message, 0, 10).map(({ label }) => label)).toEqual(["content"]);
  const escaped = { lc: "object", value: { lc: "mine" } };
  expect(partsOf(escaped, 0, 10)).toEqual([{ step: "lc", label: "lc", value: "mine" }]);
  expect(follow({ a: [escaped] }, ["a", 0, "lc"])).toEqual({ found: true, value: "mine" });
  expect(follow(message, ["kw"])).toEqual({ found: true, value: "icturva" });
});

test("LangGraph's own keys are told from its user's, in its states only", () => {
  const state = { messages: [], "branch:to:agent": null, __pregel_tasks: [], __langgraph__: {}, total: 1 };
  expect(splitKeys(state)).toEqual({
    shown: ["messages", "total"],
    internal: ["branch:to:agent", "__pregel_tasks", "__langgraph__"],
  });
  expect(splitKeys({ __mine: 1, "branch:x": 2 }).internal).toEqual([]);
  expect(isInternalKey("branching")).toBe(false);
});

test("renderers that are given come first, and one that fails is passed over", () => {
  const renderers = new Renderers([
    {
      name: "broken",
      matches: (): boolean => {
        throw new Error("no");
      },
    },
    {
      name: "money",
      matches: (value) => (value as { currency?: string }).currency !== undefined,
      title: () => "Money",
      text: (value) => `${(value as { amount: number }).amount} €`,
      fields: (value) => ({ amount: (value as { amount: number }).amount }),
    },
  ]);
  expect(summaryOf({ amount: 5, currency: "EUR" }, 200, renderers)).toEqual({
    type: "class",
    title: "Money",
    text: "5 €",
    parts: 1,
  });
  expect(previewOf([{ amount: 5, currency: "EUR" }], 80, renderers)).toBe("[Money 5 €]");
  expect(summaryOf({ lc: "AIMessage" }, 200, renderers).title).toBe("AIMessage");
});

test.each([
  [undefined],
  [{}],
  [[1]],
  [[{ name: "x" }]],
  [[{ matches: String }]],
  [[{ name: "x", matches: Boolean, text: "no" }]],
])("%j are no renderers", (given) => {
  expect(() => checkRenderers(given)).toThrow(TypeError);
});

test("values are equal by their contents", () => {
  expect(isSame({ a: [new Map([["x", new Date(1)]])] }, { a: [new Map([["x", new Date(1)]])] })).toBe(true);
  expect(isSame(new Uint8Array([1]), new Uint8Array([2]))).toBe(false);
  expect(isSame({ a: undefined }, {})).toBe(false);
  expect(isSame(0, -0)).toBe(false);
});

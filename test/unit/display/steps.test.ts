import { expect, test } from "vitest";
import { changeSummary } from "../../../src/display/steps/changes.ts";
import { failureKey, failuresIn } from "../../../src/display/steps/failure.ts";
import { questionsOf } from "../../../src/display/steps/question.ts";
import { resumeCode } from "../../../src/display/steps/resume-code.ts";
import { ranIn, stepName, stepTitle, taskLabels } from "../../../src/display/steps/step-name.ts";
import { pictureIn } from "../../../src/display/steps/topology.ts";
import type { CheckpointInfo } from "../../../src/model/checkpoint.ts";

const user = { role: "user", content: "What is the weather like?" };
const answer = { lc: "AIMessage", content: "It is 18 °C\nand sunny." };
const calling = { lc: "AIMessage", content: "", tool_calls: [{ id: "1", name: "get_weather", args: {} }] };

test.each([
  [{ total: 12 }, { total: 5 }, "total 12 → 5"],
  [{ messages: [user] }, { messages: [user, answer] }, "+1 message: It is 18 °C and sunny."],
  [{ messages: [user] }, { messages: [user, calling, answer] }, "+2 messages: It is 18 °C and sunny."],
  [{ messages: [user] }, { messages: [user, calling] }, "+1 message: calls get_weather"],
  [{ log: ["a"] }, { log: ["a", "wrote a draft"] }, "log +1: wrote a draft"],
  [
    { messages: [user] },
    { messages: [user, { ...user, content: "# Sky\n\n- **sunny**, [more](http://a) `x`" }] },
    "+1 message: Sky sunny, more x",
  ],
  [
    { messages: [user] },
    { messages: [user, { ...user, content: "2 * 3 * 4, a_b_c" }] },
    "+1 message: 2 * 3 * 4, a_b_c",
  ],
  [{ a: 1, b: 2 }, { a: 1 }, "− b"],
  [{ a: 1 }, { a: 1 }, ""],
  [{ notes: new Map() }, { notes: new Map([["moon", "x"]]) }, "notes +1: moon"],
  [{ tags: new Set(["a"]) }, { tags: new Set(["a", "b"]) }, "tags +1: b"],
  [{ customer: { name: "Ada", age: 1 } }, { customer: { name: "Ann", age: 1 } }, 'customer.name "Ada" → "Ann"'],
  [{ list: [1, 2, 3] }, { list: [1] }, "list −2"],
  [undefined, { question: "Tides?", log: [], plan: undefined }, 'question "Tides?"'],
  [undefined, { messages: [user], n: 1 }, "+1 message: What is the weather like? · n 1"],
  [{ a: 1, b: 1, c: 1, d: 1 }, { a: 2, b: 2, c: 2, d: 2 }, "a 1 → 2 · b 1 → 2 · c 1 → 2 · +1 more"],
  [{ __langgraph__: { v: 1 }, "branch:to:a": null }, { __langgraph__: { v: 2 }, "branch:to:b": null }, ""],
])("from %o to %o", (before, after, text) => {
  expect(changeSummary(before, after)).toBe(text);
});

const write = { task: "t", node: null, index: -1, channel: "error" };

test("a failure names the node that runs next, with its causes", () => {
  const error = new Error("outer", { cause: new TypeError("inner") });
  const [failure] = failuresIn([{ ...write, value: error }], [{ node: "publish" }]);
  expect(failure).toMatchObject({
    node: "publish",
    name: "Error",
    message: "outer",
    cause: { name: "TypeError", message: "inner" },
  });
  expect(failuresIn([{ ...write, value: "plain" }], [])).toMatchObject([{ node: null, message: "plain" }]);
  expect(failuresIn([{ ...write, index: 0, value: "no" }], [])).toEqual([]);
});

test("equal failures share a key, whatever ids and numbers they name", () => {
  const key = (message: string): string =>
    failureKey({ task: "", node: "load", name: "Error", code: undefined, message, stack: undefined, cause: undefined });
  expect(key('No order 17 for "Ada"')).toBe(key('No order 2931 for "Ann"'));
  expect(key("timeout after 30s")).toBe(key("timeout after 60s"));
  expect(key("The file is gone")).not.toBe(key("The disk is full"));
});

const ask = (value: unknown) =>
  questionsOf({ interrupts: [{ id: "q", node: "review", value }], next: [{ node: "review" }] }, [])[0];

test.each([
  ["Publish this?", { kind: "yes-no" }],
  [{ question: "Which parcel?" }, { kind: "text" }],
  [{ question: "Red or blue?" }, { kind: "text" }],
  ["Ann, how much?", { kind: "text" }],
  ["Ann, yes or no?", { kind: "yes-no" }],
  [
    { question: "Colour?", choices: ["red", { label: "Blue", value: 2 }] },
    {
      kind: "choices",
      choices: [
        { label: "red", value: "red" },
        { label: "Blue", value: 2 },
      ],
    },
  ],
  [
    {
      question: "Ok?",
      schema: {
        type: "object",
        properties: { approve: { type: "boolean" }, by: { type: "string" } },
        required: ["by"],
      },
    },
    {
      kind: "form",
      fields: [
        { name: "approve", type: "flag", required: false },
        { name: "by", type: "text", required: true },
      ],
    },
  ],
  [{ question: "Ok?", schema: { enum: ["a", "b"] } }, { kind: "choices" }],
  [
    { actionRequests: [{ name: "send" }], reviewConfigs: [{ allowedDecisions: ["approve", "edit", "reject"] }] },
    {
      kind: "choices",
      choices: [{ label: "approve", value: { decisions: [{ type: "approve" }] } }, { label: "reject" }],
    },
  ],
])("%j is answered as it asks", (value, form) => {
  expect(ask(value)?.form).toMatchObject(form);
});

test("LangGraph's questions come from its writes, while something is next and until they are answered", () => {
  const asked = {
    ...write,
    index: -3,
    channel: "__interrupt__",
    value: [{ id: "i1", value: { question: "Refund 12?" } }],
  };
  const at = { interrupts: [], next: [{ node: "approve" }] };
  expect(questionsOf(at, [asked])).toMatchObject([{ id: "i1", node: "approve", text: "Refund 12?", langgraph: true }]);
  expect(questionsOf({ ...at, next: [] }, [asked])).toEqual([]);
  expect(questionsOf(at, [asked, { ...write, index: -4, channel: "__resume__", value: [true] }])).toEqual([]);
  expect(questionsOf(at, [asked, { ...write, index: 0, channel: "x", value: 1 }])).toEqual([]);
});

const row = { node: null, source: "loop", step: 3, metadata: {} } as unknown as CheckpointInfo;

test.each([
  [{ node: "agent" }, [{ node: "agent" }], "step 3 · agent"],
  [{ node: "rank" }, [{ node: "search" }, { node: "rank" }], "step 3 · search, rank"],
  [{ node: "read" }, [{ node: "read" }, { node: "read" }], "step 3 · read ×2"],
  [{}, [{ node: "__start__" }], "step 3 · start"],
  [{}, undefined, "step 3"],
  [{ node: "other" }, [{ node: "planned" }], "step 3 · other"],
  [{ source: "input", node: "agent" }, undefined, "step 3 · input"],
  [{ source: "update", node: null }, [{ node: "agent" }], "step 3 · update"],
  [
    {
      node: "b",
      metadata: {
        flow: {
          tasks: [
            ["a", 9, 3],
            ["b", 9, 8],
          ],
        },
      },
    },
    undefined,
    "step 3 · a, b",
  ],
  [{ node: "b", metadata: { flow: { tasks: ["?", [1, 2, 3]] } } }, undefined, "step 3 · b"],
] as const)("a step of %j after %j is called %j", (info, before, title) => {
  const checkpoint = { ...row, ...info } as CheckpointInfo;
  expect(stepTitle(checkpoint, ranIn(checkpoint, before))).toBe(title);
});

test("a step is called by where it came from when no node made it", () => {
  expect(stepName({ node: null, source: "fork" })).toBe("fork");
});

test("parallel tasks are told apart by their arguments", () => {
  expect(taskLabels([{ node: "read", arg: "moon" }, { node: "read", arg: { id: 1 } }, { node: "rank" }])).toEqual([
    "read moon",
    "read { id: 1 }",
    "rank",
  ]);
  expect(taskLabels([{ node: "read", arg: "moon" }])).toEqual([]);
});

test("the picture of a graph is read from metadata, of a nested graph by its namespace, and never from nonsense", () => {
  const graph = {
    nodes: ["a", "b"],
    edges: [[0, 1], [1, 2, 1], [2, 3], [2, 9], "x"],
    nested: { b: { nodes: [], edges: [] } },
  };
  expect(pictureIn({ flow: { graph } }, [])).toEqual({
    nodes: ["a", "b"],
    edges: [
      { from: "__start__", to: "a", sometimes: false },
      { from: "a", to: "b", sometimes: true },
      { from: "b", to: "__end__", sometimes: false },
    ],
  });
  expect(pictureIn({ flow: { graph } }, ["b", "1.0"])).toEqual({ nodes: [], edges: [] });
  expect(pictureIn({ flow: { graph } }, ["a", "1.0"])).toBeUndefined();
  expect(pictureIn({ flow: { graph: { nodes: [1], edges: [] } } }, [])).toBeUndefined();
  expect(pictureIn({ flow: null }, [])).toBeUndefined();
});

const named = "0123456789abcdef0123456789abcdef";

test.each([
  [named, undefined, true, "…"],
  [named, { value: "yes" }, true, '"yes"'],
  [named, { value: "yes" }, false, `{ "${named}": "yes" }`],
  [named, { value: false }, true, `{ "${named}": false }`],
  [named, { value: "" }, true, `{ "${named}": "" }`],
  [named, undefined, false, `{ "${named}": … }`],
  ["task#0", { value: false }, false, "false"],
])("the code that answers %s with %j, alone: %s, resumes with %s", (id, answer, isOnly, resume) => {
  expect(resumeCode("t", id, answer, isOnly)).toBe(
    `graph.invoke(new Command({ resume: ${resume} }), { configurable: { thread_id: "t" } })`,
  );
});

import { expect, test } from "vitest";
import { open } from "../../src/index.ts";
import { append, END, graph, START, send } from "../../src/runtime/index.ts";

interface State {
  found: string[];
  question?: string;
}

const inner = graph<State>("look-up")
  .reduce({ found: append })
  .node("query", () => ({}))
  .edge(START, "query")
  .edge("query", END);

const outer = graph<State>("research")
  .reduce({ found: append })
  .node("plan", () => ({}))
  .node("read", (_, ctx) => ({ found: [String(ctx.arg)] }))
  .graph("look up", inner, { output: () => ({}) })
  .node("write", () => ({}), { goto: ["plan"] })
  .edge(START, "plan")
  .branch("plan", () => ["moon", "sun"].map((topic) => send("read", topic)), ["read"])
  .edge("read", "look up")
  .edge("look up", "write")
  .edge("write", END);

test("a thread keeps the picture of its compiled graph once, with its first checkpoint", async () => {
  const store = await open<State>("memory:");
  const flow = outer.compile({ store: store as never });
  await flow.run({ found: [] }, { thread: "t" });
  await flow.run({ found: [] }, { thread: "t" });
  const kept: unknown[] = [];
  for await (const { metadata, seq } of store.thread("t").history()) {
    const { graph: picture } = (metadata["flow"] ?? {}) as { graph?: unknown };
    if (picture !== undefined) kept.push([seq, picture]);
  }
  expect(kept).toEqual([
    [
      1,
      {
        nodes: ["plan", "read", "look up", "write"],
        edges: [
          [0, 1],
          [1, 2, 1],
          [2, 3],
          [3, 4],
          [4, 5],
          [4, 1, 1],
        ],
        nested: {
          "look up": {
            nodes: ["query"],
            edges: [
              [0, 1],
              [1, 2],
            ],
          },
        },
      },
    ],
  ]);
});

test("a parallel step stores when each of its tasks ran, a step of one task does not", async () => {
  const store = await open<State>("memory:");
  await outer.compile({ store: store as never }).run({ found: [] }, { thread: "t" });
  const tasks: Record<string, unknown> = {};
  for await (const { metadata, node } of store.thread("t").history()) {
    const { tasks: times } = (metadata["flow"] ?? {}) as { tasks?: unknown };
    if (times !== undefined) tasks[node ?? ""] = times;
  }
  const time = ["read", expect.any(Number), expect.any(Number)];
  expect(tasks).toEqual({ read: [time, time] });
});

test("a step that was interrupted is told once, by the checkpoint that began it", async () => {
  const store = await open<State>("memory:");
  const asking = graph<State>("asks")
    .node("ask", (_, ctx) => ({ question: String(ctx.interrupt("Which?")) }))
    .edge(START, "ask")
    .edge("ask", END)
    .compile({ store: store as never });
  await asking.run({ found: [] }, { thread: "t" });
  let pictures = 0;
  for await (const { metadata } of store.thread("t").history())
    if ((metadata["flow"] as { graph?: unknown } | undefined)?.graph !== undefined) pictures += 1;
  expect(pictures).toBe(1);
});

test("a failed task keeps the stack of its error and the errors that caused it", async () => {
  const store = await open<State>("memory:");
  const failing = graph<State>("fails")
    .node("fetch", () => {
      throw new TypeError("fetch failed", { cause: new Error("no such host", { cause: "the cable" }) });
    })
    .edge(START, "fetch")
    .edge("fetch", END)
    .compile({ store: store as never });
  await failing.run({ found: [] }, { thread: "t" }).catch(() => undefined);
  const head = await store.thread("t").latest();
  const [write] = await store.thread("t").writes(head?.id ?? "");
  expect(write?.value).toEqual({
    code: "NODE_FAILED",
    name: "TypeError",
    message: "fetch failed",
    stack: expect.stringMatching(/^TypeError: fetch failed\n +at /),
    cause: { name: "Error", message: "no such host", cause: { name: "Error", message: "the cable" } },
  });
});

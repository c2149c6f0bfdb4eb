import { Document } from "@langchain/core/documents";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import type { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import { newThread, onEveryBackend } from "../support/saver.ts";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  made: Annotation<Record<string, unknown>>,
  turn: Annotation<number>,
});

/** Returns every type that a node may put into a state. */
function everything(): Record<string, unknown> {
  return {
    bigint: 2n ** 64n,
    date: new Date(1e12),
    map: new Map<unknown, unknown>([["k", new Map([[1n, new Set(["deep"])]])]]),
    set: new Set<unknown>([new Date(0)]),
    url: new URL("https://example.com/?q=1#f"),
    bytes: new Uint8Array([0, 128, 255]),
    numbers: [Number.NaN, -0, Number.POSITIVE_INFINITY],
    nothing: [undefined, null],
    documents: [new Document({ pageContent: "page", metadata: { at: new Date(5), source: new URL("https://a.b/") } })],
  };
}

function graphOf(checkpointer: ThreadmarkSaver, make: (turn: number) => Partial<typeof State.State>) {
  return new StateGraph(State)
    .addNode("make", (state) => make(state.turn))
    .addNode("after", () => ({}))
    .addEdge(START, "make")
    .addEdge("make", "after")
    .addEdge("after", END)
    .compile({ checkpointer });
}

onEveryBackend("types in a graph", (savers) => {
  it("what a node makes comes back exact to whoever opens the store later", async () => {
    const saver = await savers.fresh();
    const config = { configurable: { thread_id: newThread() } };
    const messages: BaseMessage[] = [
      new AIMessage({
        content: [
          { type: "text", text: "calling" },
          { type: "image_url", image_url: { url: "https://example.com/i.png", detail: "low" } } as never,
        ],
        id: "a1",
        name: "planner",
        tool_calls: [{ name: "search", args: { since: new Date(7), limit: 10n }, id: "c1", type: "tool_call" }],
        response_metadata: { finish_reason: "tool_calls", latency: Number.NaN },
        usage_metadata: {
          input_tokens: 10,
          output_tokens: 3,
          total_tokens: 13,
          input_token_details: { cache_read: 4 },
          output_token_details: { reasoning: 1 },
        } as never,
      }),
      new ToolMessage({
        content: "2 rows",
        id: "t1",
        name: "search",
        tool_call_id: "c1",
        status: "success",
        artifact: { rows: [everything()], documents: [new Document({ pageContent: "hit", id: "d1" })] },
        additional_kwargs: { cached: false },
      }),
    ];
    const question = new HumanMessage({ content: "find it", id: "h1" });
    const graph = graphOf(saver, () => ({ made: everything(), messages }));
    const result = await graph.invoke({ turn: 1, messages: [question] }, config);
    expect(result).toStrictEqual({ turn: 1, made: everything(), messages: [question, ...messages] });
    const again = graphOf(await savers.again(), () => ({}));
    expect((await again.getState(config)).values).toStrictEqual(result);
    // Every older state too, and the writes it went on from.
    for await (const { values, next } of again.getStateHistory(config)) {
      if (next[0] === "after") expect(values["made"]).toStrictEqual(everything());
      if (next[0] === "make") expect(values["messages"]).toStrictEqual([question]);
    }
  });

  it("what cannot be stored fails in the step that made it, naming channel and path, and the thread goes on", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    // In "async", what was before the failing step may still be on its way when the run rejects.
    const config = { configurable: { thread_id: id }, durability: "sync" as const };
    const bad = new ToolMessage({ content: "x", tool_call_id: "c", artifact: { rows: [{ close: () => undefined }] } });
    const makes: readonly (readonly [Partial<typeof State.State>, string])[] = [
      [{ made: { client: { socket: new WeakMap() } } }, "made.client.socket"],
      [{ made: { list: [1, { call: () => 1 }] } }, "made.list[1].call"],
      [{ messages: [bad] }, "messages[0].artifact.rows[0].close"],
    ];
    let ran = 0;
    const graph = graphOf(saver, (turn) => {
      ran += 1;
      return makes[turn]?.[0] ?? { made: { fine: true } };
    });
    for (const [turn, [, path]] of makes.entries()) {
      const failure = await graph.invoke({ turn, messages: [] }, config).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "SERIALIZE", thread: id, path });
      expect((failure as Error).message).toContain(`Channel "${path.split(/[.[]/)[0]}"`);
      expect((failure as Error).message).toContain(path);
      expect(ran).toBe(turn + 1);
      const { values, next } = await graph.getState(config);
      expect([values["made"], next]).toEqual([undefined, ["make"]]);
    }
    expect(await graph.invoke({ turn: 99, messages: [] }, config)).toMatchObject({ made: { fine: true } });
  });
});

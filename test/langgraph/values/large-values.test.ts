import { randomBytes } from "node:crypto";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { ThreadmarkSaver } from "../../../src/langgraph/index.ts";

it("tool results take at most 1.1 times the change: the task's write and the checkpoint share them", async () => {
  const backend = memory();
  const store = await open(backend);
  const checkpointer = new ThreadmarkSaver(store as Store);
  let changed = 0;
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("tool", () => {
      const content = randomBytes(7_500 + Math.floor(Math.random() * 67_500)).toString("base64");
      changed += content.length;
      return { messages: [new ToolMessage({ content, tool_call_id: "1" })] };
    })
    .addEdge("__start__", "tool")
    .compile({ checkpointer });
  const config = { configurable: { thread_id: "a" } };
  for (let n = 0; n < 40; n++) await graph.invoke({ messages: [new HumanMessage(`go ${n}`)] }, config);
  const { tables } = await backend.size();
  const bytes = Object.values(tables).reduce((sum, table) => sum + table.bytes, 0);
  expect(bytes / changed).toBeLessThan(1.1);
  const { values } = await graph.getState(config);
  expect(values.messages).toHaveLength(80);
  expect(await (await open(backend)).verify()).toEqual({ ok: true, faults: [] });
});

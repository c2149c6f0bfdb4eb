// Runs in a project that has the packed package and some version of LangGraph's, and is type-checked there.
import assert from "node:assert/strict";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { open } from "threadmark";
import { ThreadmarkSaver } from "threadmark/langgraph";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  found: Annotation<string[]>({ reducer: (before, added) => [...before, ...added].sort(), default: () => [] }),
});

/** A question, a fan-out, a person's answer, and time travel: the same on any saver. */
async function play(checkpointer: BaseCheckpointSaver): Promise<unknown[]> {
  const graph = new StateGraph(State)
    .addNode("plan", (state) => ({
      messages: [new AIMessage({ content: `${state.messages.length} so far`, id: "a" })],
    }))
    .addNode("search", (state: { readonly query: string }) => ({ found: [`found ${state.query}`] }))
    .addNode("ask", () => ({ messages: [new HumanMessage({ content: String(interrupt("which one?")), id: "h2" })] }))
    .addEdge(START, "plan")
    .addConditionalEdges("plan", () => ["x", "y"].map((query) => new Send("search", { query })))
    .addEdge("search", "ask")
    .addEdge("ask", END)
    .compile({ checkpointer });
  const config = { configurable: { thread_id: "t" } };
  await graph.invoke({ messages: [new HumanMessage({ content: "hello", id: "h1" })] }, config);
  const waiting = await graph.getState(config);
  const answered = await graph.invoke(new Command({ resume: "the second" }), config);
  const states: (typeof waiting)[] = [];
  for await (const state of graph.getStateHistory(config)) states.push(state);
  const older = states.find((state) => state.next.includes("ask"))?.config ?? config;
  const fork = await graph.updateState(older, { found: ["by hand"] }, "search");
  return [
    waiting.next,
    waiting.tasks.map((task) => task.interrupts.map((each) => each.value as unknown)),
    shown(answered),
    states.map((state) => [state.next, shown(state.values as typeof State.State)]),
    shown((await graph.getState(fork)).values as typeof State.State),
    shown((await graph.getState(states[0]?.config ?? config)).values as typeof State.State),
  ];
}

function shown(values: Partial<typeof State.State>): unknown {
  const messages = (values.messages ?? []).map((message: BaseMessage) => [
    message.getType(),
    message.id,
    message.content,
  ]);
  return { messages, found: values.found ?? [] };
}

const saver: BaseCheckpointSaver = await ThreadmarkSaver.open("sqlite:graph.db");
const results = await play(saver);
assert.deepEqual(results, await play(new MemorySaver()));

const store = await open("sqlite:graph.db");
const again = new ThreadmarkSaver(store, { exclusive: { ttl: 10_000 } });
const tuple = await again.getTuple({ configurable: { thread_id: "t" } });
const messages = tuple?.checkpoint.channel_values["messages"];
assert.ok(Array.isArray(messages) && messages[0] instanceof HumanMessage && messages[1] instanceof AIMessage);
for await (const { id } of again.threads()) assert.equal(id, "t");
await again.copyThread("t", "copy");
await again.prune("copy", { keepLast: 1 });
await again.close();
await store.close();

import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Store } from "../../../src/index.ts";
import { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import { append, START as BEGIN, graph, END as STOP } from "../../../src/runtime/index.ts";
import type { State } from "./seed.ts";

const answer = `It is **18 °C** and sunny in Lisbon, with a light breeze.

- Morning: 14 °C
- Afternoon: 18 °C

| hour | °C |
| --- | --- |
| 9 | 14 |
| 15 | 18 |

\`\`\`json
{ "wind": "W 12 km/h" }
\`\`\``;

/** A chat with a tool, by LangGraph: two questions, each with a call and its result. */
export async function seedChat(store: Store<State>, thread = "weather-chat"): Promise<void> {
  const cities = ["Lisbon", "Reykjavík"];
  let turn = 0;
  const chat = new StateGraph(MessagesAnnotation)
    .addNode("agent", ({ messages }) => {
      if (messages.at(-1) instanceof ToolMessage)
        return {
          messages: [
            Object.assign(
              new AIMessage({
                content: turn === 1 ? answer : "It is 4 °C in Reykjavík, with rain.",
                response_metadata: { model_name: "scripted-1" },
              }),
              { usage_metadata: { input_tokens: 412, output_tokens: 58, total_tokens: 470 } },
            ),
          ],
        };
      const call = { id: `call_${turn + 1}`, name: "get_weather", args: { city: cities[turn++]!, unit: "C" } };
      return { messages: [new AIMessage({ content: turn === 1 ? "Let me look that up." : "", tool_calls: [call] })] };
    })
    .addNode("tools", ({ messages }) => {
      const [call] = (messages.at(-1) as AIMessage).tool_calls ?? [];
      const content = JSON.stringify({ city: call?.args["city"], temperature: 18, sky: "sunny", wind: { speed: 12 } });
      return { messages: [new ToolMessage({ content, tool_call_id: call?.id ?? "", name: "get_weather" })] };
    })
    .addEdge(START, "agent")
    .addConditionalEdges("agent", ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? "tools" : END))
    .addEdge("tools", "agent")
    .compile({ checkpointer: new ThreadmarkSaver(store as unknown as Store) });
  const config = { configurable: { thread_id: thread } };
  await chat.invoke(
    {
      messages: [
        new SystemMessage("Answer briefly, in metric units."),
        new HumanMessage("What is the weather like in Lisbon today?"),
      ],
    },
    config,
  );
  await chat.invoke({ messages: [new HumanMessage("And in Reykjavík?")] }, config);
}

/** A refund by LangGraph that stops at interrupt(), and the graph to go on with it. */
export async function seedRefund(store: Store<State>, thread = "refund-19") {
  const Refund = Annotation.Root({
    ...MessagesAnnotation.spec,
    amount: Annotation<number>,
    approved: Annotation<boolean>,
  });
  const refund = new StateGraph(Refund)
    .addNode("check", () => ({ amount: 129.9 }))
    .addNode("approve", ({ amount }) => ({
      approved: interrupt({ question: `Refund ${amount} euros for order 17?`, amount }) as boolean,
    }))
    .addEdge(START, "check")
    .addEdge("check", "approve")
    .addEdge("approve", END)
    .compile({ checkpointer: new ThreadmarkSaver(store as unknown as Store) });
  const config = { configurable: { thread_id: thread } };
  await refund.invoke({ messages: [new HumanMessage("I want my money back for order 17.")] }, config);
  return { refund, config };
}

/** Threads of the runtime whose last step failed, all but one with the same error. */
export async function seedFailures(store: Store<State>, count = 6): Promise<void> {
  const article = graph<{ claims: string[]; log: string[]; id: number }>("article")
    .reduce({ log: append })
    .node("draft", () => ({ log: ["drafted"], claims: ["tides follow the moon", "the river is salt"] }))
    .node("check", async () => ({ log: ["checked"] }))
    .node("publish", ({ id }) => {
      if (id === 0) throw new TypeError("fetch failed", { cause: new Error("getaddrinfo ENOTFOUND cms.example") });
      throw new Error(`The site answered 503 for article ${id}`);
    })
    .edge(BEGIN, "draft")
    .edge("draft", "check")
    .edge("check", "publish")
    .edge("publish", STOP)
    .compile({ store: store as unknown as Store });
  for (let id = 0; id < count; id += 1)
    await article.run({ claims: [], log: [], id }, { thread: `article-${id}` }).catch(() => undefined);
}

/** Threads of the runtime that ask: with choices, with a schema, for a text, for yes or no. */
export async function seedQuestions(store: Store<State>): Promise<void> {
  const ask = (value: unknown) =>
    graph<{ answer?: unknown }>("desk")
      .node("ask", (_, ctx) => ({ answer: ctx.interrupt(value) }))
      .edge(BEGIN, "ask")
      .edge("ask", STOP)
      .compile({ store: store as unknown as Store });
  const questions: Record<string, unknown> = {
    "ticket-choices": {
      question: "How shall this ticket go on?",
      choices: ["refund", "replace", "close"],
      ticket: 4711,
    },
    "ticket-form": {
      question: "Who approves the refund, and how much?",
      schema: {
        type: "object",
        properties: { by: { type: "string", title: "By" }, amount: { type: "number" }, urgent: { type: "boolean" } },
        required: ["by"],
      },
    },
    "ticket-text": { question: "Which parcel is it about?" },
    "ticket-yes": "Publish the draft now?",
  };
  for (const [thread, question] of Object.entries(questions)) await ask(question).run({}, { thread });
}

import { HumanMessage } from "@langchain/core/messages";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { collect } from "../../support/collect.ts";
import { on, type Scenario } from "./scenario.ts";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  steps: Annotation<number>({ reducer: (left, right) => left + right, default: () => 0 }),
});

function durability(mode: "sync" | "async" | "exit"): Scenario {
  return {
    name: `durability ${mode}`,
    async run(checkpointer, thread) {
      const say = (id: string) => () => ({ messages: [new HumanMessage({ content: `said ${id}`, id })], steps: 1 });
      const graph = new StateGraph(State)
        .addNode("one", say("1"))
        .addNode("two", say("2"))
        .addNode("three", say("3"))
        .addEdge(START, "one")
        .addEdge("one", "two")
        .addEdge("two", "three")
        .addEdge("three", END)
        .compile({ checkpointer });
      const config = { ...on(thread), durability: mode };
      const first = await graph.invoke({ messages: [new HumanMessage({ content: "hello", id: "0" })] }, config);
      const second = await graph.invoke({ messages: [{ role: "user", content: "again", id: "4" }] }, config);
      return [first, second];
    },
  };
}

export const durabilities: readonly Scenario[] = [durability("sync"), durability("async"), durability("exit")];

export const streaming: Scenario = {
  name: "streams of values, updates and tasks",
  async run(checkpointer, thread) {
    const graph = new StateGraph(State)
      .addNode("one", () => ({ steps: 1 }))
      .addNode("two", (_, config) => {
        config.writer?.({ progress: 50 });
        return { steps: 2 };
      })
      .addEdge(START, "one")
      .addEdge("one", "two")
      .addEdge("two", END)
      .compile({ checkpointer });
    const config = on(thread);
    return [
      await collect(await graph.stream({ steps: 1 }, { ...config, streamMode: "values" })),
      await collect(await graph.stream({ steps: 1 }, { ...config, streamMode: ["updates", "custom"] })),
    ];
  },
};

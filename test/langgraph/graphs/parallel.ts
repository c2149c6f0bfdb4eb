import { Annotation, END, Send, START, StateGraph } from "@langchain/langgraph";
import { on, type Scenario } from "./scenario.ts";

const State = Annotation.Root({
  items: Annotation<number[]>,
  done: Annotation<string[]>({ reducer: (left, right) => left.concat(right).sort(), default: () => [] }),
});

export const failingBranch: Scenario = {
  name: "parallel branches, one of which fails and is run again",
  async run(checkpointer, thread) {
    let attempts = 0;
    const runs: string[] = [];
    const branch = (name: string) => () => {
      runs.push(name);
      if (name === "b" && attempts++ === 0) throw new Error("b is down");
      return { done: [name] };
    };
    const graph = new StateGraph(State)
      .addNode("a", branch("a"))
      .addNode("b", branch("b"))
      .addNode("c", branch("c"))
      .addNode("join", (state) => ({ done: [`join ${state.done.length}`] }))
      .addEdge(START, "a")
      .addEdge(START, "b")
      .addEdge(START, "c")
      .addEdge(["a", "b", "c"], "join")
      .addEdge("join", END)
      .compile({ checkpointer });
    const failure = await graph.invoke({ items: [] }, on(thread)).then(
      () => "none",
      (error: Error) => error.message,
    );
    const state = await graph.getState(on(thread));
    const result = await graph.invoke(null, on(thread));
    return [failure, state.next, result, runs];
  },
};

export const fanOut: Scenario = {
  name: "a fan-out with Send",
  async run(checkpointer, thread) {
    const graph = new StateGraph(State)
      .addNode("split", () => ({}))
      .addNode("work", (state: { item: number }) => ({ done: [`item ${state.item}`] }))
      .addNode("collect", (state) => ({ done: [`collected ${state.done.length}`] }))
      .addEdge(START, "split")
      .addConditionalEdges("split", (state) => state.items.map((item) => new Send("work", { item })))
      .addEdge("work", "collect")
      .addEdge("collect", END)
      .compile({ checkpointer });
    return [
      await graph.invoke({ items: [3, 1, 2] }, on(thread)),
      await graph.invoke({ items: [9] }, { ...on(thread), durability: "exit" }),
    ];
  },
};

import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { collect } from "../../support/collect.ts";
import { on, type Scenario } from "./scenario.ts";

const State = Annotation.Root({
  topic: Annotation<string>,
  log: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
});

export const interrupts: Scenario = {
  name: "two interrupts in one node, and answers to them",
  async run(checkpointer, thread) {
    const graph = new StateGraph(State)
      .addNode("ask", (state) => {
        const name: string = interrupt({ question: `Who writes about ${state.topic}?` });
        const sure: boolean = interrupt({ question: `${name}, are you sure?`, choices: ["yes", "no"] });
        return { log: [`${name}:${sure}`] };
      })
      .addNode("write", (state) => ({ log: [`written after ${state.log.length}`] }))
      .addEdge(START, "ask")
      .addEdge("ask", "write")
      .addEdge("write", END)
      .compile({ checkpointer });
    const first = await graph.invoke({ topic: "storage" }, on(thread));
    const state = await graph.getState(on(thread));
    const second = await graph.invoke(new Command({ resume: "Ada" }), on(thread));
    const third = await graph.invoke(new Command({ resume: true }), on(thread));
    return [first, state.next, state.tasks.map((task) => task.interrupts), second, third];
  },
};

export const breakpoints: Scenario = {
  name: "breakpoints before and after nodes, with an edit between",
  async run(checkpointer, thread) {
    const graph = new StateGraph(State)
      .addNode("draft", () => ({ log: ["draft"] }))
      .addNode("publish", (state) => ({ log: [`publish ${state.topic}`] }))
      .addNode("announce", () => ({ log: ["announce"] }))
      .addEdge(START, "draft")
      .addEdge("draft", "publish")
      .addEdge("publish", "announce")
      .addEdge("announce", END)
      .compile({ checkpointer, interruptBefore: ["publish"], interruptAfter: ["publish"] });
    await graph.invoke({ topic: "a" }, on(thread));
    const before = await graph.getState(on(thread));
    await graph.updateState(on(thread), { topic: "b" });
    const streamed = await collect(await graph.stream(null, { ...on(thread), streamMode: "updates" }));
    const after = await graph.getState(on(thread));
    return [before.next, before.values, streamed, after.next, await graph.invoke(null, on(thread))];
  },
};

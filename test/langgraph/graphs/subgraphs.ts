import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { collect } from "../../support/collect.ts";
import { on, type Scenario } from "./scenario.ts";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
});
const Inner = Annotation.Root({
  log: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
  visits: Annotation<number>({ reducer: (left, right) => left + right, default: () => 0 }),
});

function inner() {
  return new StateGraph(Inner)
    .addNode("first", (state) => ({ log: [`inner first ${state.visits}`], visits: 1 }))
    .addNode("second", () => ({ log: [`inner second ${interrupt<string, string>("go on?")}`] }))
    .addEdge(START, "first")
    .addEdge("first", "second")
    .addEdge("second", END);
}

function outer(memory: boolean): Scenario["run"] {
  return async (checkpointer, thread) => {
    const graph = new StateGraph(State)
      .addNode("before", () => ({ log: ["before"] }))
      .addNode("nested", inner().compile(memory ? { checkpointer: true } : {}))
      .addNode("after", (state) => ({ log: [`after ${state.log.length}`] }))
      .addEdge(START, "before")
      .addEdge("before", "nested")
      .addEdge("nested", "after")
      .addEdge("after", END)
      .compile({ checkpointer });
    const first = await graph.invoke({ log: ["in"] }, on(thread));
    const paused = await graph.getState(on(thread), { subgraphs: true });
    const nested = paused.tasks[0]?.state as { readonly values?: unknown; readonly next?: unknown } | undefined;
    const resumed = await collect(
      await graph.stream(new Command({ resume: "yes" }), { ...on(thread), streamMode: "updates", subgraphs: true }),
    );
    const again = await graph.invoke({ log: ["once more"] }, { ...on(thread), durability: "sync" });
    const final = await graph.invoke(new Command({ resume: "again" }), { ...on(thread), durability: "exit" });
    return [first, nested?.values, nested?.next, resumed, again, final];
  };
}

export const subgraph: Scenario = { name: "a subgraph that is interrupted", run: outer(false) };
export const rememberingSubgraph: Scenario = { name: "a subgraph with a memory of its own", run: outer(true) };

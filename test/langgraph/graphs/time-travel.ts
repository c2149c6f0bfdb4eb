import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { checkpointIdsOf, on, type Scenario } from "./scenario.ts";

const State = Annotation.Root({
  n: Annotation<number>,
  log: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
});

function counter(checkpointer: Parameters<Scenario["run"]>[0]) {
  return new StateGraph(State)
    .addNode("add", (state) => ({ n: state.n + 1, log: [`add ${state.n}`] }))
    .addNode("double", (state) => ({ n: state.n * 2, log: [`double ${state.n}`] }))
    .addEdge(START, "add")
    .addEdge("add", "double")
    .addEdge("double", END)
    .compile({ checkpointer });
}

export const updateOfOlder: Scenario = {
  name: "an update of an older checkpoint, and on from there, twice",
  async run(checkpointer, thread) {
    const graph = counter(checkpointer);
    await graph.invoke({ n: 1 }, on(thread));
    await graph.invoke({ n: 10 }, on(thread));
    const ids = await checkpointIdsOf(checkpointer, thread);
    const older = on(thread, { checkpoint_id: ids.at(-3), checkpoint_ns: "" });
    const results: unknown[] = [];
    for (const n of [100, 200]) {
      const forked = await graph.updateState(older, { n, log: [`fork ${n}`] }, "add");
      results.push(await graph.invoke(null, forked), (await graph.getState(on(thread))).values);
    }
    // Each branch shows its own values, though their channels' versions are the same.
    for (const id of await checkpointIdsOf(checkpointer, thread)) {
      results.push((await graph.getState(on(thread, { checkpoint_id: id, checkpoint_ns: "" }))).values);
    }
    return results;
  },
};

export const updateOfHalfAStep: Scenario = {
  name: "an update while one task has finished and another waits",
  async run(checkpointer, thread) {
    const graph = new StateGraph(State)
      .addNode("done", () => ({ log: ["done"] }))
      .addNode("ask", () => ({ log: [interrupt<string, string>("sure?")] }))
      .addNode("edit", () => ({}))
      .addEdge(START, "done")
      .addEdge(START, "ask")
      .addEdge("done", END)
      .addEdge("ask", "edit")
      .addEdge("edit", END)
      .compile({ checkpointer });
    await graph.invoke({ n: 1, log: ["in"] }, on(thread));
    const updated = await graph.updateState(on(thread), { n: 2 }, "edit");
    const { values, next } = await graph.getState(updated);
    return [values, next, await graph.invoke({ n: 3 }, on(thread))];
  },
};

export const replay: Scenario = {
  name: "a replay from a checkpoint's id, and a copy of one",
  async run(checkpointer, thread) {
    const graph = counter(checkpointer);
    await graph.invoke({ n: 3 }, on(thread));
    const ids = await checkpointIdsOf(checkpointer, thread);
    const replayed = await graph.invoke(null, on(thread, { checkpoint_id: ids.at(-2), checkpoint_ns: "" }));
    const copied = await graph.updateState(
      on(thread, { checkpoint_id: ids.at(1), checkpoint_ns: "" }),
      null,
      "__copy__",
    );
    const copy = await graph.getState(copied);
    const root = await graph.updateState(
      on(thread, { checkpoint_id: ids.at(-1), checkpoint_ns: "" }),
      null,
      "__copy__",
    );
    const ended = await graph.updateState(on(thread), null, "__end__");
    return [replayed, copy.values, copy.next, (await graph.getState(root)).next, (await graph.getState(ended)).values];
  },
};

export const bulkUpdate: Scenario = {
  name: "a thread made of updates alone",
  async run(checkpointer, thread) {
    const graph = counter(checkpointer);
    await graph.bulkUpdateState(on(thread), [
      { updates: [{ values: { n: 5 }, asNode: "__input__" }] },
      { updates: [{ values: { n: 6, log: ["one"] }, asNode: "add" }] },
      { updates: [{ values: { n: 12, log: ["two"] }, asNode: "double" }] },
    ]);
    const { values, next } = await graph.getState(on(thread));
    return [values, next];
  },
};

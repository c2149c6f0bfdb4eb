import { HumanMessage } from "@langchain/core/messages";
import { Annotation, DeltaChannel, END, messagesDeltaReducer, START, StateGraph } from "@langchain/langgraph";
import { checkpointIdsOf, on, type Scenario } from "./scenario.ts";

function delta(name: string, snapshotFrequency: number, durability: "async" | "exit"): Scenario {
  return {
    name,
    async run(checkpointer, thread) {
      const State = Annotation.Root({
        messages: (() => new DeltaChannel(messagesDeltaReducer, { snapshotFrequency })) as never,
        turn: Annotation<number>,
      });
      type Values = { readonly messages: readonly HumanMessage[]; readonly turn: number };
      const graph = new StateGraph(State)
        .addNode("reply", (state) => {
          const { turn, messages } = state as unknown as Values;
          return {
            messages: [new HumanMessage({ content: `reply after ${messages.length}`, id: `r${turn}` })],
          } as never;
        })
        .addNode("note", () => ({}))
        .addEdge(START, "reply")
        .addEdge("reply", "note")
        .addEdge("note", END)
        .compile({ checkpointer });
      const results: unknown[] = [];
      for (let turn = 0; turn < 5; turn++) {
        const input = { turn, messages: [new HumanMessage({ content: `turn ${turn}`, id: `h${turn}` })] } as never;
        results.push(await graph.invoke(input, { ...on(thread), durability }));
      }
      const ids = await checkpointIdsOf(checkpointer, thread);
      const older = on(thread, { checkpoint_id: ids[Math.floor(ids.length / 2)], checkpoint_ns: "" });
      const forked = await graph.updateState(older, { turn: 100 } as never, "note");
      results.push((await graph.getState(forked)).values);
      const input = { turn: 101, messages: [new HumanMessage({ content: "on the fork", id: "f" })] } as never;
      results.push(await graph.invoke(input, { ...on(thread), durability }));
      for (const id of await checkpointIdsOf(checkpointer, thread)) {
        results.push((await graph.getState(on(thread, { checkpoint_id: id, checkpoint_ns: "" }))).values);
      }
      return results;
    },
  };
}

export const deltas: readonly Scenario[] = [
  delta("a channel that keeps only its writes", 1000, "async"),
  delta("a channel that keeps its writes and snapshots", 3, "async"),
  delta("a channel that keeps only its writes, durability exit", 1000, "exit"),
];

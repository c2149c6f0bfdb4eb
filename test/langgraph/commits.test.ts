import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { open } from "../../src/api/open.ts";
import { memory } from "../../src/backends/memory/index.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { counted } from "../support/counted.ts";
import { newThread, thread } from "./support/saver.ts";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});

const node = (name: string) => async () => ({ log: [name] });

it.each(["sync", "async"] as const)("a step of a graph is one commit, with durability %s", async (durability) => {
  const { backend, taken } = counted(memory());
  const saver = new ThreadmarkSaver(await open(backend));
  const graph = new StateGraph(State)
    .addNode("one", node("one"))
    .addNode("two", node("two"))
    .addNode("three", node("three"))
    .addEdge(START, "one")
    .addEdge("one", "two")
    .addEdge("two", "three")
    .addEdge("three", END)
    .compile({ checkpointer: saver });
  const config = thread(newThread());
  await graph.invoke({ log: ["input"] }, { ...config, durability });
  // Each checkpoint is one commit: the writes of a step's tasks go with the checkpoint they lead to.
  expect(taken().commits).toBe(5);
  expect((await graph.getState(config)).values).toEqual({ log: ["input", "one", "two", "three"] });
  const history = [];
  for await (const { pendingWrites } of saver.list(config)) history.push(pendingWrites?.length ?? 0);
  expect(history).toEqual([0, 1, 2, 2, 2]);
});

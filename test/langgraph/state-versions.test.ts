import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { memory } from "../../src/backends/memory/index.ts";
import { open } from "../../src/index.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { sharedBackend } from "../support/shared-backend.ts";

test("a graph goes on with channels that a newer schema made of an older thread's", async () => {
  const backend = sharedBackend(memory());
  const config = { configurable: { thread_id: "t" } };
  const Old = Annotation.Root({ name: Annotation<string>(), seen: Annotation<number>() });
  const old = new StateGraph(Old)
    .addNode("look", ({ seen = 0 }) => ({ seen: seen + 1 }))
    .addEdge(START, "look")
    .compile({ checkpointer: new ThreadmarkSaver(await open(backend)) });
  await old.invoke({ name: "ada" }, config);

  const New = Annotation.Root({ names: Annotation<string[]>(), seen: Annotation<number>() });
  const schema = {
    version: 2,
    migrate: { 1: ({ name, ...rest }: { name: string }) => ({ ...rest, names: [name] }) },
  };
  const graph = new StateGraph(New)
    .addNode("look", ({ names, seen }) => ({ names: [...names, "bob"], seen: seen + 1 }))
    .addEdge(START, "look")
    .compile({ checkpointer: new ThreadmarkSaver(await open(backend, { schema })) });
  expect((await graph.getState(config)).values).toEqual({ names: ["ada"], seen: 1 });
  expect(await graph.invoke({ seen: 5 }, config)).toEqual({ names: ["ada", "bob"], seen: 6 });
  const state = await graph.getState(config);
  expect(state.config.configurable?.["checkpoint_id"]).toBeDefined();
});

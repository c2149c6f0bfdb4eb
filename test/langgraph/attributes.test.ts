import { Annotation, Command, interrupt, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { open } from "../../src/api/open.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";

const State = Annotation.Root({ answer: Annotation<string> });

async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of list) all.push(one);
  return all;
}

test("a graph that waits at interrupt() is waiting, its question is listed, and declared metadata finds its thread", async () => {
  const store = await open("memory:");
  const checkpointer = new ThreadmarkSaver(store, { attributes: ["tenant"] });
  const graph = new StateGraph(State)
    .addNode("ask", () => ({ answer: interrupt("Sure?") as string }))
    .addEdge("__start__", "ask")
    .compile({ checkpointer });
  const config = (id: string, tenant: string) => ({ configurable: { thread_id: id }, metadata: { tenant } });
  await graph.invoke({ answer: "" }, config("a", "acme"));
  await graph.invoke({ answer: "" }, config("b", "other"));
  expect((await collect(store.threads({ status: "waiting", where: { tenant: "acme" } }))).map(({ id }) => id)).toEqual([
    "a",
  ]);
  const questions = await collect(store.interrupts({ where: { tenant: "other" } }));
  expect(questions.map(({ thread, value }) => [thread, value])).toEqual([["b", "Sure?"]]);
  const listed = await collect(checkpointer.list({ configurable: {} }, { filter: { tenant: "acme" } }));
  expect(new Set(listed.map(({ config }) => config.configurable?.["thread_id"]))).toEqual(new Set(["a"]));
  expect(listed.length).toBeGreaterThan(0);
  await graph.invoke(new Command({ resume: "yes" }), config("a", "acme"));
  expect((await collect(store.threads({ status: "waiting" }))).map(({ id }) => id)).toEqual(["b"]);
  expect((await store.counts()).status.done).toBe(1);
  await store.close();
});

test("attributes that are no list of names are a TypeError", async () => {
  const store = await open("memory:");
  expect(() => new ThreadmarkSaver(store, { attributes: "tenant" as never })).toThrow(TypeError);
  await store.close();
});

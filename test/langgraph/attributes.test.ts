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

test("a node that asks a second question waits for its answer, and a parallel one for its own", async () => {
  const store = await open("memory:");
  const Two = Annotation.Root({ first: Annotation<string>, second: Annotation<string> });
  const graph = new StateGraph(Two)
    .addNode("twice", () => ({ first: `${interrupt("One?")} ${interrupt("Two?")}` }))
    .addNode("once", () => ({ second: interrupt("Other?") as string }))
    .addEdge("__start__", "twice")
    .addEdge("__start__", "once")
    .compile({ checkpointer: new ThreadmarkSaver(store) });
  const config = { configurable: { thread_id: "a" } };
  const questions = async () => (await collect(store.interrupts())).map(({ value }) => value).toSorted();
  const idOf = async (value: string) =>
    (await collect(store.interrupts())).find((one) => one.value === value)?.id ?? "";
  await graph.invoke({ first: "" }, config);
  expect(await questions()).toEqual(["One?", "Other?"]);
  await graph.invoke(new Command({ resume: { [await idOf("One?")]: "1" } }), config);
  expect(await questions()).toEqual(["Other?", "Two?"]);
  expect((await store.counts()).status.waiting).toBe(1);
  await graph.invoke(new Command({ resume: { [await idOf("Other?")]: "3" } }), config);
  expect(await questions()).toEqual(["Two?"]);
  await graph.invoke(new Command({ resume: "2" }), config);
  expect(await questions()).toEqual([]);
  expect((await store.counts()).status.done).toBe(1);
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  await store.close();
});

test("attributes that are no list of names are a TypeError", async () => {
  const store = await open("memory:");
  expect(() => new ThreadmarkSaver(store, { attributes: "tenant" as never })).toThrow(TypeError);
  await store.close();
});

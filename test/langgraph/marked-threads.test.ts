import { HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  DeltaChannel,
  END,
  MessagesAnnotation,
  messagesDeltaReducer,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { expect, test } from "vitest";
import { memory } from "../../src/backends/memory/index.ts";
import { open } from "../../src/index.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { forwarding } from "../../src/testing/index.ts";

const config = { configurable: { thread_id: "t" } };
const retention = { checkpoints: { keepLast: 1 } };

function deltaGraph(checkpointer: ThreadmarkSaver) {
  const State = Annotation.Root({
    messages: (() => new DeltaChannel(messagesDeltaReducer, { snapshotFrequency: 1000 })) as never,
  });
  return new StateGraph(State)
    .addNode("reply", () => ({ messages: [new HumanMessage("reply")] }) as never)
    .addEdge(START, "reply")
    .addEdge("reply", END)
    .compile({ checkpointer });
}

test("a thread with a DeltaChannel is left alone by prune and sweep without the saver, and read as before after a sweep with it", async () => {
  const backend = forwarding(memory(), { close: async () => {} });
  const saver = new ThreadmarkSaver(await open(backend, { retention }));
  const graph = deltaGraph(saver);
  for (let turn = 0; turn < 4; turn += 1) await graph.invoke({ messages: [new HumanMessage("turn")] } as never, config);
  const before = (await graph.getState(config)).values;

  const plain = await open(backend, { retention });
  const count = await plain.thread("t").count();
  await expect(plain.thread("t").prune({ keepLast: 1 })).rejects.toMatchObject({ code: "UNSUPPORTED" });
  expect(await plain.sweep()).toMatchObject({ checkpoints: 0, spared: 1 });
  const fork = await plain.thread("t").fork({ into: "fork" });
  await expect(fork.prune({ keepLast: 1 })).rejects.toMatchObject({ code: "UNSUPPORTED" });
  const elsewhere = await open("memory:");
  await elsewhere.import(plain.export());
  await expect(elsewhere.thread("t").prune({ keepLast: 1 })).rejects.toMatchObject({ code: "UNSUPPORTED" });
  expect(await plain.thread("t").count()).toBe(count);

  await plain.thread("fork").delete();
  expect((await saver.store.thread("t").prune({ keepLast: 3 })).deleted).toBeGreaterThan(0);
  expect((await graph.getState(config)).values).toEqual(before);
});

test("a sweep by a store that a saver uses prunes threads with a DeltaChannel, and they read as before", async () => {
  const saver = await ThreadmarkSaver.open("memory:", { retention });
  const graph = deltaGraph(saver);
  for (let turn = 0; turn < 4; turn += 1) await graph.invoke({ messages: [new HumanMessage("turn")] } as never, config);
  const before = (await graph.getState(config)).values;
  const { checkpoints, spared } = await saver.store.sweep();
  expect([checkpoints > 5, spared, await saver.store.thread("t").count()]).toEqual([true, 0, 1]);
  expect((await graph.getState(config)).values).toEqual(before);
  await saver.close();
});

test("a thread of plain channels is not marked, and anybody prunes it", async () => {
  const backend = forwarding(memory(), { close: async () => {} });
  const saver = new ThreadmarkSaver(await open(backend));
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("reply", () => ({ messages: [new HumanMessage("reply")] }))
    .addEdge(START, "reply")
    .addEdge("reply", END)
    .compile({ checkpointer: saver });
  await graph.invoke({ messages: [new HumanMessage("turn")] }, config);
  const plain = await open(backend);
  expect((await plain.thread("t").prune({ keepLast: 1 })).deleted).toBeGreaterThan(0);
});

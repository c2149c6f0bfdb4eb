import { setTimeout as sleep } from "node:timers/promises";
import {
  Annotation,
  END,
  GraphDrained,
  type LangGraphRunnableConfig,
  RunControl,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { expect, it } from "vitest";
import { listAll, newThread, onEveryBackend } from "../support/saver.ts";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});

/** A node that takes a while, unless it is told to stop. */
const slow = (name: string) => async (_state: unknown, config: LangGraphRunnableConfig) => {
  await sleep(50, undefined, { ...(config.signal && { signal: config.signal }) });
  return { log: [name] };
};

function steps() {
  return new StateGraph(State)
    .addNode("one", slow("one"))
    .addNode("two", slow("two"))
    .addEdge(START, "one")
    .addEdge("one", "two")
    .addEdge("two", END);
}

function outer() {
  return new StateGraph(State).addNode("inner", steps().compile()).addEdge(START, "inner").addEdge("inner", END);
}

onEveryBackend("cancellation", (savers) => {
  it.each(["async", "sync", "exit"] as const)(
    "a run cancelled after 10 ms, 60 ms or at once leaves a thread that goes on, with durability %s",
    async (durability) => {
      const saver = await savers.fresh();
      for (const builder of [steps(), outer()]) {
        const graph = builder.compile({ checkpointer: saver });
        for (const after of [0, 10, 60]) {
          const config = { configurable: { thread_id: newThread() }, durability };
          const signal = after === 0 ? AbortSignal.abort() : AbortSignal.timeout(after);
          await expect(graph.invoke({ log: ["input"] }, { ...config, signal })).rejects.toThrow(/abort/i);
          // Checkpoints saved before the cancellation are whole and readable.
          for (const tuple of await listAll(saver, config)) {
            expect((await saver.getTuple(tuple.config))?.checkpoint).toEqual(tuple.checkpoint);
          }
          const { log } = await graph.invoke({ log: ["again"] }, config);
          expect(log.slice(-3)).toEqual(["again", "one", "two"]);
          expect((await graph.getState(config)).values).toEqual({ log });
        }
      }
      expect((await saver.store.verify()).faults).toEqual([]);
    },
  );

  it("many runs cancelled at once on threads of their own leave nothing behind that ends the process or holds up a close", async () => {
    const saver = await savers.fresh();
    const graph = outer().compile({ checkpointer: saver });
    const runs = Array.from({ length: 20 }, (_, index) =>
      graph.invoke(
        { log: [] },
        { configurable: { thread_id: newThread() }, signal: AbortSignal.timeout(1 + 5 * index) },
      ),
    );
    const ends = await Promise.allSettled(runs);
    expect(ends.some(({ status }) => status === "rejected")).toBe(true);
    await saver.close();
    await saver.store.close();
  });

  it("a run that is drained goes on from where it was, in a nested graph too", async () => {
    const saver = await savers.fresh();
    for (const builder of [steps(), outer()]) {
      const graph = builder.compile({ checkpointer: saver });
      const config = { configurable: { thread_id: newThread() } };
      const control = new RunControl();
      const running = graph.invoke({ log: [] }, { ...config, control } as never);
      await sleep(10);
      control.requestDrain("stop");
      await expect(running).rejects.toBeInstanceOf(GraphDrained);
      expect(await graph.invoke(null, config)).toEqual({ log: ["one", "two"] });
    }
  });

  it("a node that succeeds when it is tried again leaves its result, and no error, in the thread", async () => {
    const saver = await savers.fresh();
    let attempts = 0;
    const graph = new StateGraph(State)
      .addNode(
        "flaky",
        () => {
          attempts += 1;
          if (attempts < 3) throw new Error("not yet");
          return { log: [`after ${attempts}`] };
        },
        { retryPolicy: { maxAttempts: 3, initialInterval: 1, logWarning: false } },
      )
      .addEdge(START, "flaky")
      .addEdge("flaky", END)
      .compile({ checkpointer: saver });
    const config = { configurable: { thread_id: newThread() } };
    expect(await graph.invoke({ log: [] }, config)).toEqual({ log: ["after 3"] });
    expect((await graph.getState(config)).values).toEqual({ log: ["after 3"] });
  });

  it("runs at once on many threads of one graph keep their states apart", async () => {
    const saver = await savers.fresh();
    const graph = steps().compile({ checkpointer: saver });
    const threads = Array.from({ length: 12 }, newThread);
    await Promise.all(threads.map((id) => graph.invoke({ log: [id] }, { configurable: { thread_id: id } })));
    for (const id of threads) {
      const { values } = await graph.getState({ configurable: { thread_id: id } });
      expect(values).toEqual({ log: [id, "one", "two"] });
    }
  });
});

import { Annotation, DeltaChannel, END, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import { newThread, thread } from "../support/saver.ts";

const lists = () => Annotation<string[]>({ reducer: (list, more) => list.concat(more), default: () => [] });

/** A channel that keeps its writes, and the whole list every so many steps. */
const kept = (snapshotFrequency: number) =>
  (() =>
    new DeltaChannel((list: string[], writes: string[][]) => list.concat(...writes), { snapshotFrequency })) as never;

describe.each(["memory:", "sqlite::memory:"])("a graph on %s", (url) => {
  it("with durability exit, what a finished task wrote counts once, however often the other fails", async () => {
    const saver = await ThreadmarkSaver.open(url);
    let failures = 2;
    const graph = new StateGraph(Annotation.Root({ log: lists() }))
      .addNode("good", () => ({ log: ["good"] }))
      .addNode("bad", () => {
        failures -= 1;
        if (failures >= 0) throw new Error("boom");
        return { log: ["bad"] };
      })
      .addEdge(START, "good")
      .addEdge(START, "bad")
      .addEdge("good", END)
      .addEdge("bad", END)
      .compile({ checkpointer: saver });
    const config = { ...thread(newThread()), durability: "exit" as const };
    await expect(graph.invoke({ log: ["in"] }, config)).rejects.toThrow("boom");
    await expect(graph.invoke(null, config)).rejects.toThrow("boom");
    expect(((await graph.invoke(null, config)) as { log: string[] }).log.toSorted()).toEqual(["bad", "good", "in"]);
    await saver.close();
  });

  it("a replay from before a nested graph's first checkpoint begins that graph with empty lists", async () => {
    const saver = await ThreadmarkSaver.open(url);
    const seen: unknown[] = [];
    const nested = new StateGraph(Annotation.Root({ items: kept(1000), plain: lists() }))
      .addNode("s", () => ({ items: ["s"], plain: ["s"] }) as never)
      .addEdge(START, "s")
      .addEdge("s", END)
      .compile({ checkpointer: true });
    const graph = new StateGraph(Annotation.Root({ n: Annotation<number> }))
      .addNode("a", () => ({}))
      .addNode("nested", async (_state, config) => {
        seen.push(await nested.invoke({} as never, config));
        return {};
      })
      .addEdge(START, "a")
      .addEdge("a", "nested")
      .addEdge("nested", END)
      .compile({ checkpointer: saver });
    const config = thread(newThread());
    await graph.invoke({ n: 1 }, config);
    for await (const snapshot of graph.getStateHistory(config)) {
      if (snapshot.next[0] !== "a") continue;
      await graph.invoke(null, snapshot.config);
      break;
    }
    expect(seen).toEqual([
      { items: ["s"], plain: ["s"] },
      { items: ["s"], plain: ["s"] },
    ]);
    await saver.close();
  });

  it("with durability exit, a step that fails while it is put together leaves the lists as they were", async () => {
    const saver = await ThreadmarkSaver.open(url);
    const graph = new StateGraph(Annotation.Root({ items: kept(1), last: Annotation<string> }))
      .addNode("z", () => ({ items: ["z"] }) as never)
      .addNode("a", () => ({ items: ["a"], last: "a" }) as never)
      .addNode("b", () => ({ last: "b" }) as never)
      .addEdge(START, "z")
      .addEdge("z", "a")
      .addEdge("z", "b")
      .compile({ checkpointer: saver, interruptBefore: ["a", "b"] });
    const config = thread(newThread());
    await graph.invoke({ items: ["in"] } as never, { ...config, durability: "exit" });
    // Two values for a channel that takes one.
    await expect(graph.invoke(null, { ...config, durability: "exit" })).rejects.toThrow("last");
    expect((await graph.getState(config)).values).toEqual({ items: ["in", "z"] });
    await saver.close();
  });
});

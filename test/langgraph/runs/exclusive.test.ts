import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import type { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import { collect } from "../../support/collect.ts";
import { memoryUnderTest, sqliteUnderTest } from "../../support/places.ts";
import { newThread, onEveryBackend } from "../support/saver.ts";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, added) => [...before, ...added], default: () => [] }),
});
type Values = typeof State.State;

/** Something to wait for. */
function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** A graph of one node, which does as told. */
function graphOf(checkpointer: ThreadmarkSaver, work: (state: Values) => Promise<Partial<Values>> | Partial<Values>) {
  const builder = new StateGraph(State).addNode("work", work).addEdge(START, "work").addEdge("work", END);
  return builder.compile({ checkpointer });
}

const on = (id: string): { configurable: { thread_id: string } } => ({ configurable: { thread_id: id } });

onEveryBackend(
  "one run at a time",
  (savers) => {
    it("a second run in the same process is refused while the first is under way; looking is not", async () => {
      const saver = await savers.fresh({ exclusive: { wait: 0 } });
      const id = newThread();
      const [begun, goOn] = [gate(), gate()];
      const graph = graphOf(saver, async () => {
        begun.open();
        await goOn.passed;
        return { log: ["done"] };
      });
      const first = graph.invoke({ log: ["a"] }, on(id));
      await begun.passed;
      await expect(graph.invoke({ log: ["b"] }, on(id))).rejects.toMatchObject({ code: "BUSY", thread: id });
      await expect(graph.updateState(on(id), { log: ["c"] })).rejects.toMatchObject({ code: "BUSY" });
      expect((await graph.getState(on(id))).next).toEqual(["work"]);
      const history = await collect(graph.getStateHistory(on(id)));
      expect(history.length).toBeGreaterThan(0);
      goOn.open();
      expect(await first).toEqual({ log: ["a", "done"] });
      expect(await graph.invoke({ log: ["d"] }, on(id))).toEqual({ log: ["a", "done", "d", "done"] });
      await graph.updateState(on(id), { log: ["e"] });
    });

    it("a run that fails for a value that cannot be stored gives its lease up, also to another store", async () => {
      const saver = await savers.fresh({ exclusive: { ttl: 600_000 } });
      const id = newThread();
      let bad = true;
      const graph = graphOf(saver, () => ({ log: [bad ? ((() => 1) as never) : "good"] }));
      await expect(graph.invoke({ log: [] }, on(id))).rejects.toMatchObject({ code: "SERIALIZE" });
      bad = false;
      expect(await graph.invoke({ log: ["a"] }, on(id))).toEqual({ log: ["a", "good"] });
      bad = true;
      await expect(graph.invoke({ log: [] }, on(id))).rejects.toMatchObject({ code: "SERIALIZE" });
      await expect
        .poll(() => saver.store.thread(id).acquire({ holder: "another", ttl: 1000 }), { timeout: 20_000 })
        .toMatchObject({ holder: "another" });
    });

    it("however a run ends, the next one may begin", async () => {
      const saver = await savers.fresh({ exclusive: true });
      const id = newThread();
      let mode = "finish";
      const graph = graphOf(saver, async () => {
        if (mode === "fail") throw new Error("down");
        if (mode === "ask") interrupt("well?");
        return { log: [mode] };
      });
      const run = (next: string): Promise<unknown> => {
        mode = next;
        return graph.invoke({ log: [] }, on(id));
      };
      await run("finish");
      await expect(run("fail")).rejects.toThrow("down");
      await run("ask");
      await expect(run("fail")).rejects.toThrow("down");
      mode = "left";
      for await (const _ of await graph.stream({ log: [] }, on(id))) break;
      expect(await run("finish")).toMatchObject({ log: expect.arrayContaining(["finish"]) });
    });

    it("a run that is aborted gives the thread up", async () => {
      const saver = await savers.fresh({ exclusive: true });
      const id = newThread();
      const abort = new AbortController();
      const begun = gate();
      let waits = true;
      const graph = graphOf(saver, async () => {
        begun.open();
        if (waits) await new Promise(() => undefined);
        return { log: ["done"] };
      });
      const first = graph.invoke({ log: ["a"] }, { ...on(id), signal: abort.signal });
      await begun.passed;
      abort.abort();
      await expect(first).rejects.toThrow(/abort/i);
      waits = false;
      expect(await graph.invoke({ log: ["b"] }, on(id))).toMatchObject({ log: expect.arrayContaining(["b", "done"]) });
    });

    it("nested graphs belong to the run, and threads do not hinder each other", async () => {
      const saver = await savers.fresh({ exclusive: { wait: 0 } });
      const inner = new StateGraph(State)
        .addNode("deep", () => ({ log: ["deep"] }))
        .addEdge(START, "deep")
        .addEdge("deep", END)
        .compile({ checkpointer: true });
      const graph = new StateGraph(State)
        .addNode("inner", inner)
        .addEdge(START, "inner")
        .addEdge("inner", END)
        .compile({ checkpointer: saver });
      const ids = Array.from({ length: 8 }, newThread);
      const results = await Promise.all(ids.map((id) => graph.invoke({ log: [] }, on(id))));
      for (const { log } of results) expect(log).toContain("deep");
    });
  },
  [memoryUnderTest, sqliteUnderTest],
);

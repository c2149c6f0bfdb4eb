import { HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  DeltaChannel,
  END,
  interrupt,
  messagesDeltaReducer,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { expect, it } from "vitest";
import type { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { memoryUnderTest, sqliteUnderTest } from "../support/places.ts";
import { listAll, newThread, onEveryBackend, thread, valuesAt } from "./support/saver.ts";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
  messages: (() => new DeltaChannel(messagesDeltaReducer, { snapshotFrequency: 3 })) as never,
});

/** A graph whose second node does as told. */
function graphOf(checkpointer: ThreadmarkSaver, work: () => string) {
  return new StateGraph(State)
    .addNode(
      "say",
      (state) => ({ messages: [new HumanMessage(`message ${state.log.length}`)], log: ["said"] }) as never,
    )
    .addNode("work", () => ({ log: [work()] }))
    .addEdge(START, "say")
    .addEdge("say", "work")
    .addEdge("work", END)
    .compile({ checkpointer });
}

onEveryBackend(
  "a run that makes no step, with durability exit",
  (savers) => {
    it("a run without a step asks again, fails again or has nothing to do, and leaves the thread as it was", async () => {
      const saver = await savers.fresh();
      const config = { configurable: { thread_id: newThread() }, durability: "exit" } as const;
      let fails = true;
      const graph = graphOf(saver, () => {
        if (fails) throw new Error("down");
        return interrupt("sure?");
      });
      const seen = async (): Promise<unknown> => {
        const { values, next, tasks, parentConfig, config: at } = await graph.getState(config);
        return { values, next, asked: tasks.map(({ interrupts }) => interrupts[0]?.value), parentConfig, at };
      };
      await expect(graph.invoke({ log: ["in"] }, config)).rejects.toThrow("down");
      const failed = await seen();
      await expect(graph.invoke(null, config)).rejects.toThrow("down");
      expect(await seen()).toEqual(failed);
      fails = false;
      await graph.invoke(null, config);
      const asked = await seen();
      expect(asked).toMatchObject({
        next: ["work"],
        asked: ["sure?"],
        values: { messages: [{ content: "message 1" }] },
      });
      await graph.invoke(null, config);
      expect(await seen()).toEqual(asked);
      expect((await graph.invoke(new Command({ resume: "yes" }), config)).log).toEqual(["in", "said", "yes"]);
      const done = await seen();
      await graph.invoke(null, config);
      expect(await seen()).toEqual(done);
      for await (const { status } of saver.threads()) expect(status).toBe("done");
    });

    it("a checkpoint that is put again keeps its copies from removed ancestors, its label and its run", async () => {
      const saver = await savers.fresh();
      const id = newThread();
      const config = { configurable: { thread_id: id }, metadata: { run_id: "first" } } as const;
      const graph = graphOf(saver, () => "worked");
      for (let turn = 0; turn < 4; turn++) await graph.invoke({ log: [] }, { ...config, durability: "sync" });
      await saver.prune(id, { keepLast: 1 });
      const [before] = await listAll(saver, thread(id));
      await saver.store.thread(id).label(before?.checkpoint.id ?? "", "kept");
      const { values } = await graph.getState(config);
      await graph.invoke(null, { ...config, metadata: { run_id: "second" }, durability: "exit" });
      const again = graphOf(await savers.again(), () => "worked");
      expect((await again.getState(config)).values).toEqual(values);
      expect((values as { messages: unknown[] }).messages).toHaveLength(4);
      expect(await saver.store.thread(id).latest()).toMatchObject({ label: "kept", run: "first" });
    });

    it("a checkpoint that is put again gets the new values, and is refused if it was deleted", async () => {
      const saver = await savers.fresh();
      const config = thread(newThread());
      await graphOf(saver, () => "worked").invoke({ log: [] }, { ...config, durability: "sync" });
      const [head] = await listAll(saver, config);
      if (head?.metadata === undefined) throw new Error("there is no checkpoint");
      const { checkpoint, metadata } = head;
      const versions = { ...checkpoint.channel_versions, log: 99 };
      const changed = {
        ...checkpoint,
        channel_values: { ...checkpoint.channel_values, log: ["new"] },
        channel_versions: versions,
      };
      await saver.put(head.config, changed, metadata, { log: 99 });
      expect(await valuesAt(saver, config)).toEqual(changed.channel_values);
      expect((await saver.getTuple(config))?.parentConfig).toEqual(head.parentConfig);
      await saver.deleteThread(String(config.configurable?.["thread_id"]));
      await expect(saver.put(head.config, changed, metadata, {})).rejects.toMatchObject({ code: "NOT_FOUND" });
    });
  },
  [memoryUnderTest, sqliteUnderTest],
);

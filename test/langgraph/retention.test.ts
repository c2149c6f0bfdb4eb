import { HumanMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { Annotation, DeltaChannel, END, messagesDeltaReducer, START, StateGraph } from "@langchain/langgraph";
import { TASKS } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { open } from "../../src/index.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { dumpThread } from "./support/dump.ts";
import { checkpointOf, listAll, loop, newThread, onEveryBackend, put, thread, valuesAt } from "./support/saver.ts";

async function line(saver: ThreadmarkSaver, id: string, length: number, run?: string): Promise<RunnableConfig[]> {
  const configs: RunnableConfig[] = [];
  const metadata = run === undefined ? {} : { metadata: { run_id: run } };
  for (let n = 0; n < length; n++) {
    const before = configs.at(-1) ?? thread(id);
    configs.push(
      await put(saver, { ...before, ...metadata }, { n, list: Array.from({ length: n }, (_, i) => i) }, n + 1),
    );
  }
  return configs;
}

onEveryBackend("what other savers lack", (savers) => {
  it("the saver lists threads with their status", async () => {
    const saver = await savers.fresh();
    await line(saver, "b", 2);
    await put(saver, thread("a"), { "branch:to:next": null });
    const found: unknown[] = [];
    for await (const { id, checkpoints, status } of saver.threads()) found.push([id, checkpoints, status]);
    expect(found).toEqual([
      ["a", 1, "paused"],
      ["b", 2, "done"],
    ]);
  });

  it("a pruned thread's remaining checkpoints read as before", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const configs = await line(saver, id, 6);
    const before = await listAll(saver, thread(id), { limit: 2 });
    expect((await saver.prune(id, { keepLast: 2, dryRun: true })).deleted).toBe(4);
    expect((await saver.prune(id, { keepLast: 2 })).deleted).toBe(4);
    const after = await listAll(await savers.again(), thread(id));
    expect(after.map((tuple) => tuple.checkpoint)).toEqual(before.map((tuple) => tuple.checkpoint));
    expect(after.at(-1)?.parentConfig).toBeUndefined();
    const onward = await put(saver, configs.at(-1) as RunnableConfig, { n: 100 }, 9);
    expect(await valuesAt(saver, onward)).toEqual({ n: 100 });
  });

  it("a copied thread and its source do not see each other's later checkpoints", async () => {
    const saver = await savers.fresh();
    const [source, target] = [newThread(), newThread()];
    const configs = await line(saver, source, 3);
    await saver.putWrites(configs[2] as RunnableConfig, [["n", 5]], "task");
    await saver.copyThread(source, target);
    expect(await dumpThread(saver, target)).toEqual(await dumpThread(saver, source));
    const last = (await saver.getTuple(thread(target)))?.config as RunnableConfig;
    await put(saver, last, { n: 77 }, 9);
    await saver.deleteThread(source);
    expect(await listAll(saver, thread(source))).toEqual([]);
    expect(await listAll(saver, thread(target))).toHaveLength(4);
    await expect(saver.copyThread(source, newThread())).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(saver.copyThread(target, target)).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("the saver forks a thread at a checkpoint", async () => {
    const saver = await savers.fresh();
    const [source, target] = [newThread(), newThread()];
    const configs = await line(saver, source, 4);
    const forked = await saver.forkThread(configs[1] as RunnableConfig, target);
    expect(forked.configurable?.["thread_id"]).toBe(target);
    expect(await valuesAt(saver, thread(target))).toEqual(await valuesAt(saver, configs[1] as RunnableConfig));
    await put(saver, forked, { n: 50 }, 9);
    expect(await listAll(saver, thread(target))).toHaveLength(3);
    expect(await listAll(saver, thread(source))).toHaveLength(4);
    const latest = await saver.forkThread(thread(source), newThread());
    expect((await valuesAt(saver, latest))["n"]).toBe(3);
    await expect(saver.forkThread(thread(source, "unknown"), newThread())).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("the saver deletes the checkpoints of runs in every thread", async () => {
    const saver = await savers.fresh();
    const [one, two] = [newThread(), newThread()];
    const configs = await line(saver, one, 2, "r1");
    const next = { ...(configs[1] as RunnableConfig), metadata: { run_id: "r2" } };
    await put(saver, next, { n: 2, list: [0, 1] }, 3);
    await line(saver, two, 2, "r1");
    await line(saver, two, 1);
    expect(await saver.deleteForRuns([])).toBe(0);
    expect(await saver.deleteForRuns(["r1", "unknown"])).toBe(4);
    expect((await listAll(saver, thread(one))).map((tuple) => tuple.checkpoint.channel_values)).toEqual([
      { n: 2, list: [0, 1] },
    ]);
    expect(await listAll(saver, thread(two))).toHaveLength(1);
  });

  it("a pruned thread keeps what channels that keep only their writes are made of", async () => {
    for (const snapshotFrequency of [1000, 4]) {
      const saver = await savers.fresh();
      const State = Annotation.Root({
        messages: (() => new DeltaChannel(messagesDeltaReducer, { snapshotFrequency })) as never,
        turn: Annotation<number>,
      });
      const graph = new StateGraph(State)
        .addNode("reply", () => ({ messages: [new HumanMessage("reply")] }) as never)
        .addNode("rest", () => ({}))
        .addEdge(START, "reply")
        .addEdge("reply", "rest")
        .addEdge("rest", END)
        .compile({ checkpointer: saver });
      const id = newThread();
      const say = (turn: number): Promise<unknown> =>
        graph.invoke(
          { turn, messages: [new HumanMessage({ content: `turn ${turn}`, id: `h${turn}` })] } as never,
          thread(id),
        );
      for (let turn = 0; turn < 4; turn++) await say(turn);
      const kept = await listAll(saver, thread(id), { limit: 3 });
      const states = async (of: ThreadmarkSaver): Promise<unknown[]> => {
        const compiled = Object.assign(graph, { checkpointer: of });
        return Promise.all(kept.map(async (tuple) => (await compiled.getState(tuple.config)).values));
      };
      const before = await states(saver);
      const { deleted } = await saver.prune(id, { keepLast: 3 });
      expect(deleted).toBeGreaterThan(5);
      expect(await states(await savers.again())).toEqual(before);
      await saver.prune(id, { keepLast: 1 });
      expect((await states(saver))[0]).toEqual(before[0]);
      await say(4);
      const { values } = await graph.getState(thread(id));
      expect((values as { messages: unknown[] }).messages).toHaveLength(10);
    }
  });

  it("a pruned thread keeps what checkpoints before version 4 read from their parents", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const old = (n: number): ReturnType<typeof checkpointOf> => checkpointOf({ n }, n, { v: 2 });
    let config: RunnableConfig = thread(id);
    for (let n = 1; n <= 4; n++) {
      config = await saver.put(config, old(n), loop, { n });
      await saver.putWrites(config, [[TASKS, `send ${n}`]], "task");
    }
    const before = await listAll(saver, thread(id), { limit: 2 });
    await saver.prune(id, { keepLast: 2 });
    const after = await listAll(saver, thread(id));
    expect(after.map((tuple) => tuple.checkpoint)).toEqual(before.map((tuple) => tuple.checkpoint));
    expect(after[1]?.checkpoint.channel_values[TASKS]).toEqual(["send 2"]);
  });
});

it("a prune by age of a thread that reads its ancestors goes by the store's clock", async () => {
  let now = Date.UTC(2020, 0, 1);
  await using store = await open("memory:", { clock: () => now });
  const saver = new ThreadmarkSaver(store);
  const id = newThread();
  let config: RunnableConfig = thread(id);
  for (let n = 0; n < 4; n++) {
    const checkpoint = { ...checkpointOf({ n }, n + 1), v: 3, ts: new Date(now).toISOString() };
    config = await saver.put(config, checkpoint, loop, checkpoint.channel_versions);
    now += 1_000;
  }
  expect((await saver.prune(id, { keepLast: 1, olderThan: 2_500 })).deleted).toBe(2);
});

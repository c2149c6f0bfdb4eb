import { Annotation, END, Send, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { open } from "../../../src/api/open.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import { counted } from "../../support/counted.ts";
import { newThread, onEveryBackend, put, thread } from "../support/saver.ts";

const State = Annotation.Root({
  log: Annotation<number[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});

/** Returns the cost of a step of so many tasks, all of which have written when one of them fails. */
async function costOf(tasks: number): Promise<{ readonly reads: number; readonly records: number }> {
  const { backend, taken } = counted(memory());
  const saver = new ThreadmarkSaver(await open(backend));
  const config = await put(saver, thread(newThread()), { a: 1 });
  taken();
  const one = (index: number): Promise<void> =>
    saver.putWrites(
      config,
      [
        ["log", [index]],
        ["__error__", { message: "no", name: "Error" }],
      ],
      `task ${index}`,
    );
  for (let index = 0; index < tasks; index++) await one(index);
  return taken();
}

it("the reads of a step in which tasks fail grow with their number, not with its square", async () => {
  const few = await costOf(20);
  const many = await costOf(200);
  expect(many.reads).toBeLessThanOrEqual(10 * few.reads + 10);
  expect(many.records).toBeLessThanOrEqual(10 * few.records + 10);
});

it("a task's value and its error are one commit", async () => {
  const { backend, taken } = counted(memory());
  const saver = new ThreadmarkSaver(await open(backend));
  const config = await put(saver, thread(newThread()), { a: 1 });
  taken();
  await saver.putWrites(
    config,
    [
      ["log", [1]],
      ["__error__", { message: "no", name: "Error" }],
    ],
    "task",
  );
  expect(taken().commits).toBe(1);
  expect((await saver.getTuple(config))?.pendingWrites).toHaveLength(2);
});

onEveryBackend("failed tasks", (savers) => {
  it("special writes beside ordinary ones leave what is there, and alone replace it", async () => {
    const saver = await savers.fresh();
    const config = await put(saver, thread(newThread()), { a: 1 });
    const special = async (): Promise<unknown> => {
      const writes = (await saver.getTuple(config))?.pendingWrites ?? [];
      return writes.find(([, channel]) => channel === "__resume__")?.[2];
    };
    await saver.putWrites(config, [["__resume__", ["first"]]], "task");
    await saver.putWrites(
      config,
      [
        ["log", [1]],
        ["__resume__", ["beside"]],
      ],
      "task",
    );
    expect(await special()).toEqual(["first"]);
    await saver.putWrites(config, [["__resume__", ["alone"]]], "task");
    expect(await special()).toEqual(["alone"]);
  });

  it("a fork's special writes beside ordinary ones leave what it inherited", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const config = await put(saver, thread(id), { a: 1 });
    await saver.putWrites(config, [["__resume__", ["source"]]], "task");
    const fork = await saver.forkThread(config, newThread());
    await saver.putWrites(
      fork,
      [
        ["log", [1]],
        ["__resume__", ["fork"]],
      ],
      "task",
    );
    const written = (await saver.getTuple(fork))?.pendingWrites?.map(([, channel, value]) => [channel, value]);
    expect(written).toEqual([
      ["__resume__", ["source"]],
      ["log", [1]],
    ]);
  });

  it("a run with one failed task among many keeps the results of the others for when it is resumed", async () => {
    const saver = await savers.fresh();
    let fails = true;
    const ran: number[] = [];
    const graph = new StateGraph(State)
      .addNode("begin", () => ({}))
      .addNode("work", async ({ index }: { index: number }) => {
        if (index === 7 && fails) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          throw new Error("seven");
        }
        ran.push(index);
        return { log: [index] };
      })
      .addEdge(START, "begin")
      .addConditionalEdges("begin", () => Array.from({ length: 20 }, (_, index) => new Send("work", { index })))
      .addEdge("work", END)
      .compile({ checkpointer: saver });
    const config = thread(newThread());
    await expect(graph.invoke({ log: [] }, config)).rejects.toThrow("seven");
    fails = false;
    ran.length = 0;
    const { log } = await graph.invoke(null, config);
    expect(ran).toEqual([7]);
    expect([...log].sort((left, right) => left - right)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });
});

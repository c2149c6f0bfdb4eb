import { expect, test } from "vitest";
import { append, type Durability, END, type Flow, graph, START, send } from "../../../src/runtime/index.ts";
import { deferred } from "../support/checkpoints.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: number[];
}

const thousand = Array.from({ length: 1000 }, (_, index) => index);

onMemoryAndSqlite("fan-out", ({ fresh }) => {
  function fan(store: unknown, work: (index: number) => void | Promise<void>): Flow<State> {
    return graph<State>("w")
      .reduce({ out: append })
      .node("work", async (_, ctx) => {
        await work(ctx.arg as number);
        return { out: [ctx.arg as number] };
      })
      .node("last", (state) => ({ out: [state.out.length] }))
      .branch(START, () => thousand.map((index) => send("work", index)), ["work"])
      .edge("work", "last")
      .edge("last", END)
      .compile({ store: store as never });
  }

  test.each(["sync", "async", "exit"] as const)(
    "%s: a thousand sends in a step, reduced in order",
    async (durability: Durability) => {
      const { store } = await fresh();
      const { state } = await fan(store, () => {}).run({ out: [] }, { thread: "t", durability });
      expect(state.out).toEqual([...thousand, 1000]);
    },
  );

  test("the writes of a step are committed in groups", async () => {
    const { store, medium } = await fresh();
    // Tasks that end one after the other, in turns of their own.
    const work = async (index: number): Promise<void> => {
      for (let turn = 0; turn < index % 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    await fan(store, work).run({ out: [] }, { thread: "t" });
    expect(medium.commits).toBeLessThan(60);
    const checkpoint = await store.thread("t").get({ step: 0 });
    expect((await store.thread("t").writes(checkpoint?.id as string)).length).toBe(2000);
  });

  test("concurrency bounds how many run at the same time", async () => {
    const { store } = await fresh();
    let running = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    };
    const { state } = await fan(store, work).run({ out: [] }, { thread: "t", concurrency: 7 });
    expect([state.out.length, most]).toEqual([1001, 7]);
  });

  test("after a failure in the middle the rest is resumed, and no finished task is run again", async () => {
    const { store } = await fresh();
    const counts = new Map<number, number>();
    let broken = true;
    const flow = fan(store, async (index) => {
      counts.set(index, (counts.get(index) ?? 0) + 1);
      await new Promise((resolve) => setImmediate(resolve));
      if (index === 500 && broken) throw new Error("broken");
    });
    await expect(flow.run({ out: [] }, { thread: "t", concurrency: 16 })).rejects.toThrow("broken");
    expect(counts.size).toBeLessThan(600);
    broken = false;
    expect((await flow.resume({ thread: "t", concurrency: 16 })).state.out).toEqual([...thousand, 1000]);
    expect([counts.size, counts.get(500), [...counts.values()].filter((count) => count > 1).length]).toEqual([
      1000, 2, 1,
    ]);
  });

  test("a bounded step does not wait for its slowest task before it begins others", async () => {
    const { store } = await fresh();
    const slow = deferred();
    const flow = fan(store, async (index) => {
      if (index === 0) await slow.promise;
      if (index === 999) slow.resolve();
    });
    expect((await flow.run({ out: [] }, { thread: "t", concurrency: 2 })).state.out).toHaveLength(1001);
  });
});

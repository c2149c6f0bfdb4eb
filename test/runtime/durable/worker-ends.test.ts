import { expect, test } from "vitest";
import { append, END, graph, START } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("workers that end", ({ store: fresh, fresh: freshPlace }) => {
  test("a worker that stops lets runs end, then aborts them, and leaves them runnable", async () => {
    const store = await fresh();
    let first = true;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("quick", async () => {
        await released;
        return { out: ["quick"] };
      })
      .node("long", async (_, ctx) => {
        if (first)
          await new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
        return { out: ["long"] };
      })
      .branch(START, (state) => (state.out.includes("long") ? "long" : "quick"), ["quick", "long"])
      .edge("quick", END)
      .edge("long", END)
      .compile({ store });
    await flow.start({ out: [] }, { thread: "q" });
    await flow.start({ out: ["long"] }, { thread: "l" });
    const worker = flow.worker({ grace: 200 });
    await expect.poll(() => worker.threads.length).toBe(2);
    const stopped = worker.stop();
    release();
    await stopped;
    expect((await flow.state("q"))?.status).toBe("done");
    expect((await flow.state("l"))?.status).toBe("paused");
    first = false;
    await using _next = flow.worker();
    await expect.poll(async () => (await flow.state("l"))?.state.out).toEqual(["long", "long"]);
  });

  test("a run whose workers die again and again is given up, with its error kept", async () => {
    let now = 1_000_000;
    const { store, medium } = await freshPlace({ clock: () => now });
    const flow = graph<State>("w")
      .node("deadly", () => {
        // The process dies: nothing that it wants to write arrives.
        medium.fails = () => true;
      })
      .edge(START, "deadly")
      .edge("deadly", END)
      .compile({ store });
    await flow.start({ out: [] }, { thread: "t" });
    const errors: unknown[] = [];
    for (let round = 0; round < 5; round += 1) {
      const worker = flow.worker({ maxRecoveries: 2, onRun: ({ error }) => errors.push(error) });
      await expect.poll(() => errors.length).toBe(round + 1);
      await worker.stop();
      medium.fails = () => false;
      now += 60_000;
      if ((await flow.state("t"))?.status === "failed") break;
    }
    expect(errors.map((error) => (error as { code: string }).code)).toEqual([
      "BACKEND",
      "BACKEND",
      "BACKEND",
      "GAVE_UP",
    ]);
    expect(await flow.state("t")).toMatchObject({ status: "failed", errors: [{ node: "deadly" }] });
    expect(await flow.recover()).toEqual([]);
  });
});

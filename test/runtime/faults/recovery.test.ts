import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { append, END, type Flow, graph, START } from "../../../src/runtime/index.ts";
import { forwarding } from "../../../src/testing/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("recovery", ({ fresh }) => {
  function counting(store: unknown, ran: string[], fails: () => boolean = () => false): Flow<State> {
    return graph<State>("w")
      .reduce({ out: append })
      .node("a", (_, ctx) => {
        ran.push(`a ${ctx.thread}`);
        return { out: ["a"] };
      })
      .node("b", (_, ctx) => {
        ran.push(`b ${ctx.thread}`);
        if (fails()) throw new Error("broken");
        return { out: ["b"] };
      })
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store: store as never });
  }

  test("several workers that recover at once pass no breakpoint and try no failed run again", async () => {
    const { store, medium } = await fresh();
    const stores = [store, await open(medium), await open(medium), await open(medium)];
    const ran: string[] = [];
    let failing = true;
    const flow = counting(store, ran, () => failing);
    const threads = Array.from({ length: 30 }, (_, index) => `t${index}`);
    // Another has moved each thread to a breakpoint or a failure between the look at it and the lease.
    for (const thread of threads) {
      await flow.run({ out: [] }, { thread, breakBefore: ["a"] });
    }
    const flows = stores.map((each) => counting(each, ran, () => failing));
    await Promise.all([
      ...threads.map(async (thread, index) => {
        const options = index % 2 === 0 ? { breakBefore: ["b"] } : {};
        await flow.resume({ thread, ifBusy: "wait", ...options }).catch(() => {});
      }),
      ...flows.map(async (each) => {
        for (let round = 0; round < 8; round += 1) await each.recover();
      }),
    ]);
    failing = false;
    const shown = await Promise.all(threads.map(async (thread) => (await flow.state(thread))?.status));
    expect(shown).toEqual(threads.map((_, index) => (index % 2 === 0 ? "paused" : "failed")));
    expect(ran.filter((name) => name.startsWith("b"))).toHaveLength(15);
  });

  test.each(["breakpoint", "failure"] as const)(
    "a run that another moves to a %s between the look at it and its lease is left alone",
    async (end) => {
      const { store, medium } = await fresh();
      const ran: string[] = [];
      const flow = counting(store, ran, () => end === "failure");
      await flow.start({ out: [] }, { thread: "t" });
      let moved: Promise<unknown> | undefined;
      const between = forwarding(medium, {
        async commit(batches) {
          // The first commit is that of the lease: the run is judged by then.
          moved ??= flow.resume({ thread: "t", ...(end === "breakpoint" && { breakBefore: ["b"] }) }).catch(() => {});
          await moved;
          return medium.commit(batches);
        },
        close: async () => {},
      });
      await using other = await open(between);
      const ranThere: string[] = [];
      expect(await counting(other, ranThere).recover()).toEqual([]);
      expect(moved).toBeDefined();
      expect(ran).toEqual(end === "breakpoint" ? ["a t"] : ["a t", "b t"]);
      expect(ranThere).toEqual([]);
      expect((await flow.state("t"))?.status).toBe(end === "breakpoint" ? "paused" : "failed");
    },
  );

  test("an aborted run has not failed: recover resumes it", async () => {
    const { store } = await fresh();
    const controller = new AbortController();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", async (_, ctx) => {
        if (controller.signal.aborted) return { out: ["a"] };
        setTimeout(() => controller.abort(new Error("SIGTERM")), 5);
        return new Promise<never>((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
      })
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    const aborted = flow.run({ out: [] }, { thread: "t", signal: controller.signal });
    await expect(aborted).rejects.toMatchObject({ code: "ABORTED" });
    expect((await flow.state("t"))?.status).toBe("paused");
    for await (const { status } of store.threads()) expect(status).toBe("paused");
    expect(await flow.recover()).toMatchObject([{ thread: "t", result: { status: "done", state: { out: ["a"] } } }]);
  });

  test("a failed run that is resumed, and whose holder then dies, is recovered", async () => {
    let now = 1_000_000;
    const { store, medium } = await fresh({ clock: () => now });
    let failing = true;
    const flow = counting(store, [], () => failing);
    await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toThrow("broken");
    expect(await flow.recover()).toEqual([]);
    failing = false;
    let commits = 0;
    // The lease, and the mark that the failure is being tried again, which takes two attempts.
    medium.fails = () => {
      commits += 1;
      return commits > 3;
    };
    await expect(flow.resume({ thread: "t" })).rejects.toMatchObject({ code: "BACKEND" });
    medium.fails = () => false;
    now += 60_000;
    for await (const { status } of store.threads()) expect(status).toBe("paused");
    expect(await flow.recover()).toMatchObject([{ thread: "t", result: { state: { out: ["a", "b"] } } }]);
  });
});

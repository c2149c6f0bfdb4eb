import { expect, test } from "vitest";
import { append, END, graph, START } from "../../../src/runtime/index.ts";
import { deferred } from "../support/checkpoints.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("attempts", ({ store: fresh }) => {
  test("a node is tried again as often as it may, with the waits it asks for, and only for errors worth it", async () => {
    const store = await fresh();
    const attempts: [number, string][] = [];
    const times: number[] = [];
    const flow = graph<State>("w")
      .node(
        "a",
        (_, ctx) => {
          attempts.push([ctx.attempt, ctx.task]);
          times.push(performance.now());
          if (ctx.attempt < 3) throw new Error(`attempt ${ctx.attempt}`);
          return { out: [`${ctx.attempt}`] };
        },
        { retry: { attempts: 3, backoff: 10 } },
      )
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    expect((await flow.run({ out: [] }, { thread: "t" })).state.out).toEqual(["3"]);
    expect(attempts.map(([attempt]) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(attempts.map(([, task]) => task)).size).toBe(1);
    // Timers may fire a little early by the other clock; never by half.
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(5);
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThan(10);
    let tries = 0;
    const picky = graph<State>("w")
      .node(
        "a",
        () => {
          tries += 1;
          throw new RangeError("never again");
        },
        { retry: { attempts: 5, when: (error) => !(error instanceof RangeError) } },
      )
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    await expect(picky.run({ out: [] }, { thread: "u" })).rejects.toThrow("never again");
    expect(tries).toBe(1);
  });

  test("an attempt that takes too long is aborted and fails with TIMEOUT; its late result is not taken", async () => {
    const store = await fresh();
    let aborted = 0;
    const late = deferred();
    let quick = false;
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node(
        "slow",
        async (_, ctx) => {
          ctx.signal.addEventListener("abort", () => {
            aborted += 1;
          });
          if (!quick) await late.promise;
          return { out: ["slow"] };
        },
        { timeout: 10, retry: { attempts: 2 } },
      )
      .node("side", () => ({ out: ["side"] }))
      .edge(START, "slow")
      .edge(START, "side")
      .edge("slow", END)
      .edge("side", END)
      .compile({ store });
    await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toMatchObject({
      code: "TIMEOUT",
      node: "slow",
      step: 1,
    });
    expect(aborted).toBe(2);
    late.resolve();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await flow.state("t"))?.next.map(({ node }) => node)).toEqual(["slow"]);
    quick = true;
    expect((await flow.resume({ thread: "t" })).state.out).toEqual(["slow", "side"]);
  });
});

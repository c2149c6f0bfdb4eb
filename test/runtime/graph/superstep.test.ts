import fc from "fast-check";
import { expect, test } from "vitest";
import { append, END, graph, merge, START, send } from "../../../src/runtime/index.ts";
import { deferred, head, line } from "../support/checkpoints.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
  seen?: string[];
}

onMemoryAndSqlite("super-steps", ({ store: fresh }) => {
  test("tasks of a step run at the same time, on the same state", async () => {
    const both = deferred();
    let running = 0;
    const together = async (state: Readonly<State>): Promise<Partial<State>> => {
      running += 1;
      if (running === 2) both.resolve();
      await both.promise;
      return { seen: [state.out.join()] };
    };
    const flow = graph<State>("w")
      .reduce({ out: append, seen: append })
      .node("a", () => ({ out: ["a"] }))
      .node("b", together)
      .node("c", together)
      .edge(START, "a")
      .edge("a", "b")
      .edge("a", "c")
      .edge("b", END)
      .edge("c", END)
      .compile({ store: await fresh() });
    const { state } = await flow.run({ out: [] }, { thread: "t" });
    expect(state).toEqual({ out: ["a"], seen: ["a", "a"] });
  });

  test("updates are reduced in activation order, whatever order the tasks end in", async () => {
    const store = await fresh();
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }), async (order) => {
        const gates = order.map(() => deferred());
        const started = deferred();
        let running = 0;
        const flow = graph<State>("w")
          .reduce({ out: append })
          .node("fan", async (_, ctx) => {
            running += 1;
            if (running === order.length) started.resolve();
            await gates[ctx.arg as number]?.promise;
            return { out: [`${ctx.arg}`] };
          })
          .branch(START, () => order.map((_, index) => send("fan", index)), ["fan"])
          .edge("fan", END)
          .compile({ store });
        count += 1;
        const run = flow.run({}, { thread: `t${count}` });
        await started.promise;
        for (const index of order) {
          gates[index]?.resolve();
          await new Promise((resolve) => setImmediate(resolve));
        }
        expect((await run).state.out).toEqual(["0", "1", "2", "3", "4"]);
      }),
      { numRuns: 15 },
    );
  });

  test("a task's result is saved when it ends, while its siblings still run", async () => {
    const store = await fresh();
    const slow = deferred();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("quick", () => ({ out: ["quick"] }))
      .node("slow", async () => {
        await slow.promise;
        return { out: ["slow"] };
      })
      .edge(START, "slow")
      .edge(START, "quick")
      .edge("quick", END)
      .edge("slow", END)
      .compile({ store });
    const run = flow.run({ out: [] }, { thread: "t" });
    const thread = store.thread("t");
    const saved = async (): Promise<unknown[]> => {
      const checkpoint = await thread.latest();
      return checkpoint === undefined ? [] : [...(await thread.writes(checkpoint.id))];
    };
    while ((await saved()).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(await saved()).toMatchObject([
      { node: "quick", index: 0, channel: "goto", value: null },
      { node: "quick", index: 1, channel: "out", value: ["quick"] },
    ]);
    slow.resolve();
    expect((await run).state.out).toEqual(["slow", "quick"]);
  });

  test("a boundary is one checkpoint: state, what is next, arrivals and path", async () => {
    const store = await fresh();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", () => ({ out: ["a"] }))
      .node("b", () => ({ out: ["b"] }))
      .node("b2", () => ({ out: ["b2"] }))
      .node("join", () => ({ out: ["join"] }))
      .edge(START, "a")
      .edge(START, "b")
      .edge("b", "b2")
      .edge(["a", "b2"], "join")
      .edge("join", END)
      .compile({ store });
    const { state } = await flow.run({ out: [] }, { thread: "t", run: "r1" });
    expect(state.out).toEqual(["a", "b", "b2", "join"]);
    const checkpoints = await line(store, "t");
    expect(checkpoints.map(({ step, source, node, run, workflow }) => [step, source, node, run, workflow])).toEqual([
      [0, "input", null, "r1", "w"],
      [1, "loop", "b", "r1", "w"],
      [2, "loop", "b2", "r1", "w"],
      [3, "loop", "join", "r1", "w"],
    ]);
    const first = await store.thread("t").get({ step: 1 });
    expect([first?.next, first?.barriers, first?.path]).toEqual([
      [{ node: "b2", task: "1.0" }],
      [{ node: "join", arrived: ["a"] }],
      ["a", "b"],
    ]);
    const second = await store.thread("t").get({ step: 2 });
    expect([second?.next, second?.barriers, second?.path]).toEqual([
      [{ node: "join", task: "2.0" }],
      [],
      ["a", "b", "b2"],
    ]);
  });

  test("a node that several lead to runs once; each send is a task of its own", async () => {
    const runs: unknown[] = [];
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", () => undefined)
      .node("b", () => null)
      .node("c", (_, ctx) => {
        runs.push(ctx.arg);
      })
      .edge(START, "a")
      .edge(START, "b")
      .edge("a", "c")
      .branch("b", () => ["c", send("c", 1), send("c", 2)])
      .edge("c", END)
      .compile({ store: await fresh() });
    await flow.run({ out: [] }, { thread: "t" });
    expect(runs).toEqual([undefined, 1, 2]);
  });

  test("a branch is asked once for a node, however many of its tasks ran", async () => {
    let asked = 0;
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("fan", () => undefined)
      .node("after", (_, ctx) => ({ out: [`${ctx.arg}`] }))
      .branch(START, () => [send("fan", 1), send("fan", 2), send("fan", 3)], ["fan"])
      .branch("fan", () => {
        asked += 1;
        return send("after", "once");
      }, ["after"])
      .edge("after", END)
      .compile({ store: await fresh() });
    expect([(await flow.run({ out: [] }, { thread: "t" })).state.out, asked]).toEqual([["once"], 1]);
  });

  test("a node goes where its goto says instead of along its edges, with arguments", async () => {
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", (state) =>
        state.out.length < 2 ? { update: { out: ["a"] }, goto: "a" } : { goto: [send("b", 7), END] },
      )
      .node("b", (_, ctx) => ({ out: [`b${ctx.arg}`] }))
      .node("never", () => ({ out: ["never"] }))
      .edge(START, "a")
      .edge("a", "never")
      .edge("never", "b")
      .edge("b", END)
      .compile({ store: await fresh() });
    expect((await flow.run({ out: [] }, { thread: "t" })).state.out).toEqual(["a", "a", "b7"]);
  });

  test("a loop over a join waits anew for all it names", async () => {
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", () => ({ out: ["a"] }))
      .node("b", () => ({ out: ["b"] }))
      .node("join", () => ({ out: ["j"] }))
      .edge(START, "a")
      .edge(START, "b")
      .edge(["a", "b"], "join")
      .branch("join", (state) => (state.out.length < 6 ? ["b", "a"] : END), ["a", "b", END])
      .compile({ store: await fresh() });
    expect((await flow.run({ out: [] }, { thread: "t" })).state.out).toEqual(["a", "b", "j", "b", "a", "j"]);
  });

  test("a node cannot change the state its siblings see, nor what was returned earlier", async () => {
    const kept: { list: string[] } = { list: ["x"] };
    const flow = graph<{ items: { list: string[] }[] }>("w")
      .reduce({ items: append })
      .node("a", () => ({ items: [kept] }))
      .node("b", () => {
        kept.list.push("changed later");
        return { items: [] };
      })
      .node("c", (state) => {
        (state.items as unknown[]).push("no");
      })
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", "c")
      .edge("c", END)
      .compile({ store: await fresh() });
    const failure = await flow.run({ items: [] }, { thread: "t" }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "NODE_FAILED", node: "c", cause: expect.any(TypeError) });
    expect((await flow.state("t"))?.state).toEqual({ items: [{ list: ["x"] }] });
  });

  test("what a run returns is the caller's own", async () => {
    const store = await fresh();
    const flow = graph<State>("w")
      .node("a", () => ({ out: ["a"] }))
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    const { state } = await flow.run({ out: [] }, { thread: "t" });
    state.out.push("mine");
    expect((await head<State>(store, "t")).state.out).toEqual(["a"]);
  });

  test("rich values pass through nodes, writes and boundaries as they are", async () => {
    const rich = {
      map: new Map([["k", new Set([1n])]]),
      date: new Date(5),
      bytes: new Uint8Array([1, 2]),
      nan: Number.NaN,
    };
    const store = await fresh();
    const flow = graph<{ rich?: typeof rich; scores: Record<string, number>; same?: boolean }>("w")
      .reduce({ scores: merge })
      .node("a", () => ({ rich, scores: { a: 1 } }))
      .node("b", (state) => ({ scores: { b: -0 }, same: state.rich?.map instanceof Map }))
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store });
    const { state } = await flow.run({ scores: {} }, { thread: "t" });
    expect(state).toEqual({ rich, scores: { a: 1, b: -0 }, same: true });
    expect((await head(store, "t")).state).toEqual(state);
  });

  test("a run without a thread keeps nothing", async () => {
    const store = await fresh();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", (_, ctx) => ({ out: [`${ctx.thread} ${ctx.task === `${ctx.run}/0.0`}`] }))
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    const result = await flow.run({ out: [] });
    expect(result).toMatchObject({ status: "done", state: { out: ["undefined true"] }, checkpoint: undefined });
    expect((await store.stats()).checkpoints).toBe(0);
    expect(
      (
        await graph<State>("x")
          .node("a", () => ({ out: ["b"] }))
          .edge(START, "a")
          .edge("a", END)
          .compile()
          .run()
      ).state,
    ).toEqual({
      out: ["b"],
    });
  });
});

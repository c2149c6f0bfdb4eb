import { expect, test } from "vitest";
import { append, END, type Flow, graph, START, send } from "../../../src/runtime/index.ts";
import { line } from "../../runtime/support/checkpoints.ts";
import { carriesCheckpoint } from "../../runtime/support/medium.ts";
import { onMemoryAndSqlite } from "../../runtime/support/places.ts";
import { collect } from "../../support/collect.ts";

interface State {
  log: string[];
  n?: number;
}

onMemoryAndSqlite("tinyagents", ({ store: fresh, fresh: freshPlace }) => {
  function two(store: unknown): Flow<State> {
    return graph<State>("two")
      .reduce({ log: append })
      .node("a", () => ({ log: ["a"] }))
      .node("b", () => ({ log: ["b"] }))
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store: store as never });
  }

  test("tinyagents 13: sync writes two checkpoints after the input's, chained; exit one; async as sync, and fails at the next boundary", async () => {
    const { store, medium } = await freshPlace();
    const flow = two(store);
    for (const durability of ["sync", "async"] as const) {
      await flow.run({ log: [] }, { thread: durability, durability });
      const [input, first, second, ...rest] = await line(store, durability);
      expect([input?.source, first?.parent, second?.parent, second?.pending, rest]).toEqual([
        "input",
        input?.id,
        first?.id,
        0,
        [],
      ]);
    }
    await flow.run({ log: [] }, { thread: "exit", durability: "exit" });
    expect((await line(store, "exit")).map(({ pending, step }) => [pending, step])).toEqual([[0, 2]]);
    const ran: string[] = [];
    const three = graph<State>("three").reduce({ log: append });
    for (const name of ["a", "b", "c"]) three.node(name, () => void ran.push(name));
    three.edge(START, "a").edge("a", "b").edge("b", "c").edge("c", END);
    let commits = 0;
    medium.fails = (batches) => {
      commits += carriesCheckpoint(batches) ? 1 : 0;
      return carriesCheckpoint(batches) && commits === 2;
    };
    const failing = three.compile({ store }).run({ log: [] }, { thread: "failing", durability: "async" });
    await expect(failing).rejects.toMatchObject({ code: "BACKEND" });
    // The boundary after a was lost while b ran; at the boundary after b the run knew.
    expect(ran).toEqual(["a", "b"]);
    expect((await line(store, "failing")).map(({ step }) => step)).toEqual([0]);
    const quiet = medium.commits;
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(medium.commits).toBe(quiet);
  });

  test("tinyagents 14: interrupted at 10, resumed adding 5, it is 15; an interrupt without a thread is an error", async () => {
    const flow = graph<State>("sum")
      .node("ten", () => ({ n: 10 }))
      .node("add", (state, ctx) => ({ n: (state.n ?? 0) + ctx.interrupt<number>("how much?") }))
      .edge(START, "ten")
      .edge("ten", "add")
      .edge("add", END)
      .compile({ store: await fresh() });
    expect((await flow.run({ log: [] }, { thread: "t" })).state.n).toBe(10);
    expect((await flow.resume({ thread: "t", value: 5 })).state.n).toBe(15);
    await expect(flow.run({ log: [] })).rejects.toThrow("needs a thread");
  });

  test("tinyagents 15: one of three parallel tasks fails: a retry runs only that one, whichever its position; fan-out too", async () => {
    for (const failing of [0, 1, 2]) {
      for (const fan of [false, true]) {
        const store = await fresh();
        const ran: number[] = [];
        let broken = true;
        const work = (index: number): Partial<State> => {
          ran.push(index);
          if (index === failing && broken) throw new Error("broken");
          return { log: [`${index}`] };
        };
        const builder = graph<State>("three").reduce({ log: append });
        if (fan) {
          builder.node("work", (_, ctx) => work((ctx.arg as { index: number }).index)).edge("work", END);
          builder.branch(START, () => [0, 1, 2].map((index) => send("work", { index })), ["work"]);
        } else {
          for (const index of [0, 1, 2])
            builder
              .node(`n${index}`, () => work(index))
              .edge(START, `n${index}`)
              .edge(`n${index}`, END);
        }
        const flow = builder.compile({ store });
        await expect(flow.run({ log: [] }, { thread: "t" })).rejects.toThrow("broken");
        broken = false;
        ran.length = 0;
        expect((await flow.resume({ thread: "t" })).state.log).toEqual(["0", "1", "2"]);
        expect(ran).toEqual([failing]);
      }
    }
  });

  test("tinyagents 16: a join that waits for two branches survives an interrupt between their arrivals", async () => {
    const store = await fresh();
    const flow = graph<State>("join")
      .reduce({ log: append })
      .node("quick", () => ({ log: ["quick"] }))
      .node("slow", () => ({ log: ["slow"] }))
      .node("ask", (_, ctx) => ({ log: [ctx.interrupt<string>("?")] }))
      .node("join", () => ({ log: ["joined"] }))
      .edge(START, "quick")
      .edge(START, "slow")
      .edge("slow", "ask")
      .edge(["quick", "ask"], "join")
      .edge("join", END)
      .compile({ store });
    await flow.run({ log: [] }, { thread: "t" });
    expect((await store.thread("t").latest())?.barriers).toEqual([{ node: "join", arrived: ["quick"] }]);
    expect((await flow.resume({ thread: "t", value: "yes" })).state.log).toEqual(["quick", "slow", "yes", "joined"]);
  });

  test("tinyagents 17: resume from nowhere is NOT_FOUND; from an older checkpoint new ones are appended, none rewritten", async () => {
    const store = await fresh();
    const flow = two(store);
    await flow.run({ log: [] }, { thread: "t" });
    await expect(flow.resume({ thread: "t", from: "nope" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    const before = await collect(store.thread("t").history({ states: true }));
    await flow.resume({ thread: "t", from: before[2]?.id as string });
    const after = await collect(store.thread("t").history({ states: true }));
    expect(after.length).toBeGreaterThan(before.length);
    expect(after.slice(-before.length)).toEqual(before);
  });

  test("tinyagents 18: update as a node goes through the reducers; other pending branches keep running; an unknown node is an error", async () => {
    const store = await fresh();
    const flow = graph<State>("branches")
      .reduce({ log: append })
      .node("a", () => ({ log: ["a"] }))
      .node("a2", () => ({ log: ["a2"] }))
      .node("b", () => ({ log: ["b"] }))
      .edge(START, "a")
      .edge(START, "b")
      .edge("a", "a2")
      .edge("a2", END)
      .edge("b", END)
      .compile({ store });
    await flow.run({ log: ["in"] }, { thread: "t", breakBefore: ["a"] });
    const info = await flow.update("t", { log: ["by hand"] }, { as: "a" });
    expect([info.source, (await store.thread("t").latest())?.state]).toEqual(["update", { log: ["in", "by hand"] }]);
    // @ts-expect-error: no such node.
    await expect(flow.update("t", { log: [] }, { as: "zz" })).rejects.toMatchObject({
      code: "UNKNOWN_NODE",
      node: "zz",
    });
    expect((await flow.resume({ thread: "t" })).state.log).toEqual(["in", "by hand", "b", "a2"]);
  });

  test("tinyagents 19: a nested graph's checkpoints are in its namespace; a fan-out of one does not share one", async () => {
    const store = await fresh();
    const inner = graph<State>("inner")
      .node("work", (state) => ({ n: (state.n ?? 0) + 1 }))
      .edge(START, "work")
      .edge("work", END);
    const flow = graph<State>("outer")
      .reduce({ log: append })
      .graph("inner", inner, { input: (_, arg) => ({ n: arg as number }), output: ({ n }) => ({ log: [`${n}`] }) })
      .branch(START, () => [send("inner", 10), send("inner", 20)], ["inner"])
      .edge("inner", END)
      .compile({ store });
    expect((await flow.run({ log: [] }, { thread: "t" })).state.log).toEqual(["11", "21"]);
    const nested = (await store.thread("t").namespaces()).filter(({ length }) => length > 0);
    expect(nested).toHaveLength(2);
    const states = await Promise.all(nested.map((namespace) => store.thread("t", { namespace }).latest()));
    expect(states.map((checkpoint) => checkpoint?.state)).toEqual([{ n: 11 }, { n: 21 }]);
    expect((await line(store, "t")).every(({ namespace }) => namespace.length === 0)).toBe(true);
  });
});

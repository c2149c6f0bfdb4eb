import { expect, test } from "vitest";
import { append, END, graph, START } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../../runtime/support/places.ts";

interface State {
  log: string[];
}

onMemoryAndSqlite("atomr", ({ store: fresh }) => {
  test("atomr 7: layer 2 fails and the run is started again: layer 1 runs 0 times more", async () => {
    for (const again of ["run", "resume"] as const) {
      const store = await fresh();
      const ran: string[] = [];
      let broken = true;
      const flow = graph<State>("layers")
        .reduce({ log: append })
        .node("one", () => {
          ran.push("one");
          return { log: ["one"] };
        })
        .node("two", () => {
          ran.push("two");
          if (broken) throw new Error("broken");
          return { log: ["two"] };
        })
        .edge(START, "one")
        .edge("one", "two")
        .edge("two", END)
        .compile({ store });
      const start = (): Promise<unknown> => flow.run({ log: [] }, { thread: "layers/r1", run: "r1" });
      await expect(start()).rejects.toThrow("broken");
      broken = false;
      ran.length = 0;
      await (again === "run" ? start() : flow.resume({ thread: "layers/r1" }));
      expect([ran, (await flow.state("layers/r1"))?.state.log]).toEqual([["two"], ["one", "two"]]);
    }
  });

  test("atomr 8: the value of resume(true) reaches the interrupted task only, and stays out of the state", async () => {
    const store = await fresh();
    const got: unknown[] = [];
    const flow = graph<State>("ask")
      .reduce({ log: append })
      .node("ask", (_, ctx) => {
        got.push(ctx.interrupt("go on?"));
        return { log: ["asked"] };
      })
      .node("side", () => ({ log: ["side"] }))
      .edge(START, "ask")
      .edge(START, "side")
      .edge("ask", END)
      .edge("side", END)
      .compile({ store });
    await flow.run({ log: [] }, { thread: "t" });
    const { state } = await flow.resume({ thread: "t", value: true });
    expect([got, state]).toEqual([[true], { log: ["asked", "side"] }]);
    expect((await store.thread("t").latest())?.state).toEqual({ log: ["asked", "side"] });
  });

  test("atomr 9: paused before b, continued, it is done; an edit between is seen by b", async () => {
    const store = await fresh();
    const flow = graph<State>("edit")
      .reduce({ log: append })
      .node("a", () => ({ log: ["a"] }))
      .node("b", (state) => ({ log: [`b saw ${state.log.join()}`] }))
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store });
    await flow.run({ log: [] }, { thread: "t", breakBefore: ["b"] });
    await flow.update("t", { log: ["edit"] });
    const done = await flow.resume({ thread: "t" });
    expect([done.status, done.state.log]).toEqual(["done", ["a", "edit", "b saw a,edit"]]);
  });

  test("atomr 10: after a pause, get(id) of the paused checkpoint equals latest", async () => {
    const store = await fresh();
    const flow = graph<State>("pause")
      .reduce({ log: append })
      .node("a", () => ({ log: ["a"] }))
      .node("ask", (_, ctx) => ({ log: [ctx.interrupt<string>("?")] }))
      .edge(START, "a")
      .edge("a", "ask")
      .edge("ask", END)
      .compile({ store });
    for (const [thread, options] of [
      ["breakpoint", { breakBefore: ["a"] }],
      ["interrupt", {}],
    ] as const) {
      const { checkpoint, status } = await flow.run({ log: [] }, { thread, ...options });
      const latest = await store.thread(thread).latest();
      expect([status, latest?.id]).toEqual(["interrupted", checkpoint?.id]);
      expect(await store.thread(thread).get(checkpoint?.id as string)).toEqual(latest);
    }
  });

  test("atomr 11: a breakpoint on b fires after an interrupt in a; after a backward goto latest is the new one; a nested graph called twice runs twice", async () => {
    const store = await fresh();
    let deep = 0;
    const inner = graph<State>("inner")
      .node("deep", () => {
        deep += 1;
      })
      .edge(START, "deep")
      .edge("deep", END);
    const flow = graph<State>("last")
      .reduce({ log: append })
      .node("a", (_, ctx) => ({ log: [ctx.interrupt<string>("?")] }))
      .node("b", () => ({ log: ["b"] }))
      .graph("nested", inner, { input: () => ({ log: [] }), output: () => ({ log: ["nested"] }) })
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", "nested")
      .edge("nested", END)
      .compile({ store });
    await flow.run({ log: [] }, { thread: "t", breakBefore: ["b"] });
    const paused = await flow.resume({ thread: "t", value: "answered" });
    expect([paused.status, paused.state.log, paused.interrupts]).toEqual(["interrupted", ["answered"], []]);
    await flow.resume({ thread: "t" });
    expect(deep).toBe(1);
    const back = await flow.resume({ thread: "t", goto: "nested" });
    expect([back.state.log, deep]).toEqual([["answered", "b", "nested", "nested"], 2]);
    const latest = await store.thread("t").latest();
    expect([latest?.id, latest?.state]).toEqual([back.checkpoint?.id, back.state]);
  });
});

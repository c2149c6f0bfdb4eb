import { expect, test } from "vitest";
import { append, type Durability, END, type Flow, graph, START } from "../../../src/runtime/index.ts";
import { collect } from "../../support/collect.ts";
import { head, line } from "../support/checkpoints.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

const modes: readonly Durability[] = ["sync", "async", "exit"];

onMemoryAndSqlite("breakpoints", ({ store: fresh }) => {
  function line3(store: unknown, ran: string[] = [], options: object = {}): Flow<State> {
    const builder = graph<State>("w").reduce({ out: append });
    for (const name of ["a", "b", "c"]) {
      builder.node(name, () => {
        ran.push(name);
        return { out: [name] };
      });
    }
    return builder
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", "c")
      .edge("c", END)
      .compile({ store: store as never, ...options });
  }

  test.each(modes)("%s: before a node: stops there, once; the paused checkpoint is the head", async (durability) => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = line3(store, ran);
    const paused = await flow.run({ out: [] }, { thread: "t", breakBefore: ["b"], durability });
    expect([paused.status, paused.interrupts, paused.state.out, ran]).toEqual(["interrupted", [], ["a"], ["a"]]);
    const latest = await head(store, "t");
    expect(latest).toEqual(await store.thread("t").get(paused.checkpoint?.id as string));
    expect(latest.next.map(({ node }) => node)).toEqual(["b"]);
    expect((await collect(store.threads())).map(({ status }) => status)).toEqual(["paused"]);
    const done = await flow.resume({ thread: "t", durability });
    expect([done.status, ran]).toEqual(["done", ["a", "b", "c"]]);
  });

  test.each(modes)("%s: after a node, and on the entry node", async (durability) => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = line3(store, ran);
    const entry = await flow.run({ out: [] }, { thread: "t", breakBefore: ["a"], breakAfter: ["a"], durability });
    expect([entry.status, ran]).toEqual(["interrupted", []]);
    const after = await flow.resume({ thread: "t", durability });
    expect([after.status, ran, (await head(store, "t")).next.map(({ node }) => node)]).toEqual([
      "interrupted",
      ["a"],
      ["b"],
    ]);
    expect((await flow.resume({ thread: "t", durability })).state.out).toEqual(["a", "b", "c"]);
    expect(ran).toEqual(["a", "b", "c"]);
  });

  test("a breakpoint costs no checkpoint of its own", async () => {
    const store = await fresh();
    const flow = line3(store);
    await flow.run({ out: [] }, { thread: "t", breakBefore: ["a", "b", "c"] });
    for (let count = 0; count < 3; count += 1) await flow.resume({ thread: "t" });
    expect((await line(store, "t")).map(({ step }) => step)).toEqual([0, 1, 2, 3]);
  });

  test("a breakpoint fires once per arrival: again when a loop comes back, not again when a failed step is resumed", async () => {
    const store = await fresh();
    let broken = true;
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", () => ({ out: ["a"] }))
      .node("b", () => {
        if (broken) throw new Error("broken");
        return { out: ["b"] };
      })
      .edge(START, "a")
      .edge("a", "b")
      .branch("b", (state) => (state.out.length < 4 ? "a" : END), ["a", END])
      .compile({ store });
    expect((await flow.run({ out: [] }, { thread: "t", breakBefore: ["b"] })).status).toBe("interrupted");
    await expect(flow.resume({ thread: "t" })).rejects.toThrow("broken");
    broken = false;
    const second = await flow.resume({ thread: "t" });
    expect([second.status, second.state.out]).toEqual(["interrupted", ["a", "b", "a"]]);
    expect((await flow.resume({ thread: "t" })).state.out).toEqual(["a", "b", "a", "b"]);
  });

  test("a resumed run keeps its breakpoints, unless it is given others", async () => {
    const store = await fresh();
    const flow = line3(store);
    const first = await flow.run({ out: [] }, { thread: "t", breakBefore: ["b", "c"] });
    const second = await flow.resume({ thread: "t" });
    expect([first.state.out, second.status, second.state.out]).toEqual([["a"], "interrupted", ["a", "b"]]);
    await flow.run({ out: [] }, { thread: "u", breakBefore: ["b", "c"] });
    expect((await flow.resume({ thread: "u", breakBefore: [] })).status).toBe("done");
  });

  test("a breakpoint that a resume brings fires where the run stands, if none did", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = line3(store, ran);
    await expect(flow.run({ out: [] }, { thread: "t", maxSteps: 1 })).rejects.toMatchObject({ code: "STEP_LIMIT" });
    expect((await flow.resume({ thread: "t", breakBefore: ["b"] })).status).toBe("interrupted");
    expect(ran).toEqual(["a"]);
    expect((await flow.resume({ thread: "t", breakBefore: ["b"] })).status).toBe("done");
    expect(ran).toEqual(["a", "b", "c"]);
  });

  test("a breakpoint on b fires after an interrupt in a was answered", async () => {
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", (_, ctx) => ({ out: [ctx.interrupt<string>("?")] }))
      .node("b", () => ({ out: ["b"] }))
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store: await fresh() });
    expect((await flow.run({ out: [] }, { thread: "t", breakBefore: ["b"] })).interrupts).toHaveLength(1);
    const paused = await flow.resume({ thread: "t", value: "A" });
    expect([paused.status, paused.interrupts, paused.state.out]).toEqual(["interrupted", [], ["A"]]);
    expect((await flow.resume({ thread: "t" })).state.out).toEqual(["A", "b"]);
  });

  test("an answer given together with a new breakpoint is kept until the run goes on", async () => {
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("ask", (_, ctx) => ({ out: [ctx.interrupt<string>("?")] }))
      .node("fail", (state) => {
        if (!state.out.includes("mended")) throw new Error("broken");
        return { out: ["ran"] };
      })
      .edge(START, "ask")
      .edge(START, "fail")
      .edge("ask", END)
      .edge("fail", END)
      .compile({ store: await fresh() });
    await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toThrow("broken");
    const paused = await flow.resume({ thread: "t", value: "A", breakBefore: ["fail"] });
    expect([paused.status, paused.interrupts]).toEqual(["interrupted", []]);
    expect((await flow.resume({ thread: "t", update: { out: ["mended"] } })).state.out).toEqual(["mended", "A", "ran"]);
  });

  test("breakpoints of compile hold for every run; one on an unknown node, or without a thread, is a TypeError", async () => {
    const store = await fresh();
    const flow = line3(store, [], { breakAfter: ["b"] });
    expect((await flow.run({ out: [] }, { thread: "t" })).state.out).toEqual(["a", "b"]);
    await expect(flow.run({ out: [] }, { thread: "u", breakBefore: ["x"] })).rejects.toThrow(TypeError);
    await expect(flow.run({ out: [] })).rejects.toThrow(TypeError);
  });
});

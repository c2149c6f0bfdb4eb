import { expect, test } from "vitest";
import { z } from "zod";
import { append, END, type Flow, type Graph, graph, type Schema, START, send } from "../../../src/runtime/index.ts";
import { collect } from "../../support/collect.ts";
import { head, line } from "../support/checkpoints.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
  n?: number;
}

onMemoryAndSqlite("what is wrong at run time", (places) => {
  const fresh = places.store;
  function simple(store: unknown, name = "w"): Flow<State> {
    return graph<State>(name)
      .reduce({ out: append })
      .node("a", () => ({ out: ["a"] }))
      .edge(START, "a")
      .edge("a", END)
      .compile({ store: store as never });
  }

  test("a schema refuses the input before anything is touched, says where, and may transform", async () => {
    const store = await fresh();
    const schema = z.object({ out: z.array(z.string()).default([]), n: z.coerce.number() });
    const flow = graph<State>("w", { schema })
      .node("a", (state) => ({ out: [typeof state.n] }))
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    const refused = await flow.run({ n: "x" as never }, { thread: "t" }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "INVALID_INPUT",
      issues: [{ path: ["n"] }],
      message: expect.stringContaining("n: "),
    });
    expect((await store.stats()).threads).toBe(0);
    expect((await flow.run({ n: "5" as never }, { thread: "t" })).state).toEqual({ out: ["number"], n: 5 });
    await expect(flow.run(undefined, { thread: "u" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  test("a schema of any make will do, also one that takes its time", async () => {
    const schema: Schema<Partial<State>> = {
      "~standard": {
        version: 1,
        vendor: "by hand",
        validate: async (value) =>
          (value as State).n === 1
            ? { value: { out: ["one"] } }
            : { issues: [{ message: "not one", path: [{ key: "n" }] }, { message: "sorry" }] },
      },
    };
    const flow = graph<State>("w", { schema })
      .node("a", () => undefined)
      .edge(START, "a")
      .edge("a", END)
      .compile();
    expect((await flow.run({ n: 1 })).state).toEqual({ out: ["one"] });
    await expect(flow.run({ n: 2 })).rejects.toThrow("n: not one; sorry");
  });

  test("an input that is no object is a TypeError", async () => {
    const flow = simple(await fresh());
    for (const input of ["text", 1, ["a"]])
      await expect(flow.run(input as never, { thread: "t" })).rejects.toThrow(TypeError);
  });

  test("another workflow's thread is refused, whatever is asked of it, and stays as it is", async () => {
    const store = await fresh();
    await simple(store, "other").run({ out: [] }, { thread: "t" });
    const before = await store.thread("t").tuple();
    const flow = simple(store);
    const refused = { code: "OTHER_WORKFLOW", thread: "t", message: expect.stringContaining('"other"') };
    await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toMatchObject(refused);
    await expect(flow.resume({ thread: "t" })).rejects.toMatchObject(refused);
    await expect(flow.resume({ thread: "t", goto: "a" })).rejects.toMatchObject(refused);
    await expect(flow.update("t", { out: [] })).rejects.toMatchObject(refused);
    expect(await store.thread("t").tuple()).toEqual(before);
  });

  test("a stored next that names a node the graph lacks is refused; goto leads out", async () => {
    const store = await fresh();
    await store.thread("t").put({ state: { out: [] }, next: ["gone"], workflow: "w" });
    const flow = simple(store);
    const refused = { code: "UNKNOWN_NODE", node: "gone", thread: "t" };
    await expect(flow.resume({ thread: "t" })).rejects.toMatchObject(refused);
    await expect(flow.run(undefined, { thread: "t" })).rejects.toMatchObject(refused);
    expect((await line(store, "t")).length).toBe(1);
    expect((await flow.resume({ thread: "t", goto: "a" })).state.out).toEqual(["a"]);
  });

  test("a goto or a branch to an unknown node fails the step and commits nothing of it", async () => {
    const store = await fresh();
    const build = (leads: "goto" | "send" | "branch" | "nothing"): Flow<State> =>
      (graph<State>("w") as Graph<State>)
        .node("a", () =>
          leads === "goto" ? { update: { out: ["x"] }, goto: "zz" } : leads === "send" ? { goto: send("zz") } : {},
        )
        .edge(START, "a")
        .branch("a", () => (leads === "branch" ? "zz" : (undefined as never)))
        .compile({ store });
    for (const leads of ["goto", "send", "branch"] as const) {
      const error = await build(leads)
        .run({ out: [] }, { thread: leads })
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "UNKNOWN_NODE", node: "a", message: expect.stringContaining('"zz"') });
      expect(await head(store, leads)).toMatchObject({ step: 0, state: { out: [] } });
    }
    await expect(build("nothing").run({ out: [] }, { thread: "n" })).rejects.toMatchObject({
      code: "NODE_FAILED",
      message: expect.stringContaining("undefined as a target"),
    });
  });

  test("a start that leads nowhere, or throws, commits nothing", async () => {
    const store = await fresh();
    const build = (start: () => string): Flow<State> =>
      graph<State>("w")
        .node("a", () => undefined)
        .branch(START, start)
        .edge("a", END)
        .compile({ store });
    await expect(build(() => "zz").run({ out: [] }, { thread: "t" })).rejects.toMatchObject({ code: "UNKNOWN_NODE" });
    const broken = build(() => {
      throw new Error("no start");
    });
    await expect(broken.run({ out: [] }, { thread: "t" })).rejects.toMatchObject({
      code: "NODE_FAILED",
      cause: { message: "no start" },
    });
    expect(await collect(store.threads())).toEqual([]);
  });

  test("a node that returns anything but a partial state or a command fails", async () => {
    const store = await fresh();
    for (const [index, returned] of ["text", 5, ["a"], new Map(), { update: 3, goto: END }, { goto: 7 }].entries()) {
      const flow = graph<State>("w")
        .node("a", () => returned as never)
        .edge(START, "a")
        .edge("a", END)
        .compile({ store });
      await expect(flow.run({ out: [] }, { thread: `t${index}` })).rejects.toMatchObject({
        code: "NODE_FAILED",
        node: "a",
      });
    }
  });

  test("a state that is no object cannot be run on", async () => {
    const store = await fresh();
    await store.thread("t").put({ state: [1, 2], next: ["a"] });
    await expect(simple(store).resume({ thread: "t" })).rejects.toThrow("no plain object");
  });

  test("a thread with an unfinished run takes a new input only when told what to do with it", async () => {
    const store = await fresh();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("ask", (_, ctx) => ({ out: [ctx.interrupt<string>("?")] }))
      .edge(START, "ask")
      .edge("ask", END)
      .compile({ store });
    const asked = await flow.run({ out: ["one"] }, { thread: "t", run: "r1" });
    const before = await store.thread("t").tuple();
    await expect(flow.run({ out: ["two"] }, { thread: "t" })).rejects.toMatchObject({
      code: "UNFINISHED",
      thread: "t",
    });
    expect(await store.thread("t").tuple()).toEqual(before);
    for (const options of [{ ifUnfinished: "continue" }, { run: "r1" }] as const) {
      expect((await flow.run({ out: ["two"] }, { thread: "t", ...options })).interrupts).toEqual(asked.interrupts);
    }
    expect((await flow.run(undefined, { thread: "t" })).interrupts).toEqual(asked.interrupts);
    const restarted = await flow.run({ out: ["two"] }, { thread: "t", ifUnfinished: "restart" });
    expect([restarted.status, restarted.state.out, restarted.checkpoint?.step]).toEqual([
      "interrupted",
      ["one", "two"],
      1,
    ]);
    expect((await flow.resume({ thread: "t", value: "yes" })).state.out).toEqual(["one", "two", "yes"]);
  });

  test("the id of a finished run gives its result again, and runs nothing", async () => {
    const store = await fresh();
    const flow = simple(store);
    const first = await flow.run({ out: ["in"] }, { thread: "t", run: "r1" });
    expect(await flow.run({ out: ["in"] }, { thread: "t", run: "r1" })).toEqual(first);
    expect((await flow.run({ out: [] }, { thread: "t", run: "r2" })).state.out).toEqual(["in", "a", "a"]);
  });

  test("options that make no sense are TypeErrors, before anything is touched", async () => {
    const store = await fresh();
    const flow = simple(store);
    const options = [
      { durability: "never" },
      { maxSteps: 0 },
      { maxSteps: Number.NaN },
      { concurrency: 0 },
      { breakBefore: ["zz"] },
    ];
    for (const wrong of options)
      await expect(flow.run({ out: [] }, { thread: "t", ...wrong } as never)).rejects.toThrow(TypeError);
    await expect(flow.resume({} as never)).rejects.toThrow(TypeError);
    await expect(flow.update("t", 5 as never)).rejects.toThrow(TypeError);
    await expect(flow.run({ out: [] }, { thread: "" })).rejects.toThrow(TypeError);
    await expect(simple(undefined).run({ out: [] }, { thread: "t" })).rejects.toThrow(
      "compile the graph with { store }",
    );
    await expect(simple(undefined).recover()).rejects.toThrow(TypeError);
    expect((await store.stats()).threads).toBe(0);
  });

  test("an update that is no object is refused by resume; an option given as undefined is not given", async () => {
    const { store, medium } = await places.fresh();
    const flow = graph<State>("w")
      .node("a", () => ({ out: ["a"] }))
      .edge(START, "a")
      .edge("a", END)
      .compile({ store, durability: "exit" });
    await flow.run({ out: [] }, { thread: "t", durability: undefined } as never);
    expect(medium.checkpointCommits).toBe(1);
    await expect(flow.resume({ thread: "t", update: 5 as never })).rejects.toThrow(TypeError);
  });

  test("a step limit is an error that can be resumed from with a higher one", async () => {
    const store = await fresh();
    const flow = graph<State>("w")
      .node("a", (state) => ({ n: (state.n ?? 0) + 1 }))
      .edge(START, "a")
      .branch("a", (state) => (state.n === 5 ? END : "a"), ["a", END])
      .compile({ store });
    await expect(flow.run({ out: [] }, { thread: "t", maxSteps: 3 })).rejects.toMatchObject({
      code: "STEP_LIMIT",
      thread: "t",
      step: 3,
    });
    expect((await flow.state("t"))?.state.n).toBe(3);
    expect((await flow.resume({ thread: "t", maxSteps: 10 })).state.n).toBe(5);
  });
});

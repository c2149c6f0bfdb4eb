import { expect, test } from "vitest";
import { append, type Durability, END, type Flow, graph, START, send } from "../../../src/runtime/index.ts";
import { deferred, line } from "../support/checkpoints.ts";
import { onMemoryAndSqlite } from "../support/places.ts";
import { type Inner, type Outer, research, team } from "../support/research-team.ts";

const modes: readonly Durability[] = ["sync", "async", "exit"];

onMemoryAndSqlite("nested graphs", ({ store: fresh }) => {
  test("the checkpoints of a nested graph are in a namespace of its task, and fan-out keeps them apart", async () => {
    const store = await fresh();
    const flow = team(store, research([]));
    const { state } = await flow.run({ topics: ["x", "y"], found: [] }, { thread: "t" });
    expect(state.found).toEqual(["x: saw x, checked", "y: saw y, checked", "reported"]);
    const namespaces = await store.thread("t").namespaces();
    expect(namespaces).toEqual([[], ["research", "1.0"], ["research", "1.1"]]);
    for (const [index, topic] of ["x", "y"].entries()) {
      const handle = store.thread("t", { namespace: ["research", `1.${index}`] });
      expect((await handle.latest())?.state).toEqual({ topic, notes: [`saw ${topic}`, "checked"] });
      expect((await line(store, "t", handle.namespace)).map(({ step, workflow }) => [step, workflow])).toEqual([
        [0, "research"],
        [1, "research"],
        [2, "research"],
      ]);
    }
  });

  test.each(modes)(
    "%s: interrupted inside, resumed from outside; what had finished inside is not run again",
    async (durability) => {
      const store = await fresh();
      const ran: string[] = [];
      const flow = team(store, research(ran, true), durability);
      const asked = await flow.run({ topics: ["x", "y"], found: [] }, { thread: "t" });
      expect(asked.interrupts).toEqual([
        { id: "1.0~.1.0~0", node: "research/check", value: "use x?" },
        { id: "1.1~.1.0~0", node: "research/check", value: "use y?" },
      ]);
      ran.length = 0;
      const half = await flow.resume({ thread: "t", answers: { "1.1~.1.0~0": "Y" } });
      expect([half.interrupts.map(({ id }) => id), ran]).toEqual([["1.0~.1.0~0"], ["check y"]]);
      ran.length = 0;
      const done = await flow.resume({ thread: "t", value: "X" });
      expect([done.state.found, ran]).toEqual([["x: saw x, asked X", "y: saw y, asked Y", "reported"], ["check x"]]);
    },
  );

  test("several questions inside one nested graph can be answered one by one", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const inner = graph<{ got: string[] }>("inner")
      .reduce({ got: append })
      .node("ask", (_, ctx) => {
        ran.push(String(ctx.arg));
        return { got: [`${ctx.arg}=${ctx.interrupt<string>(ctx.arg)}`] };
      })
      .branch(START, () => [send("ask", 1), send("ask", 2)], ["ask"])
      .edge("ask", END);
    const flow = graph<{ got: string[] }>("outer")
      .graph("inner", inner, { input: () => ({ got: [] }) })
      .edge(START, "inner")
      .edge("inner", END)
      .compile({ store });
    const { interrupts } = await flow.run({ got: [] }, { thread: "t" });
    expect(interrupts).toHaveLength(2);
    ran.length = 0;
    await flow.resume({ thread: "t", answers: { [interrupts[1]?.id as string]: "two" } });
    expect(ran).toEqual(["2"]);
    const done = await flow.resume({ thread: "t", answers: { [interrupts[0]?.id as string]: "one" } });
    expect([done.state.got, ran]).toEqual([
      ["1=one", "2=two"],
      ["2", "1"],
    ]);
  });

  test("an answer to what is not asked yet is no answer: the question is put when it comes", async () => {
    const store = await fresh();
    const inner = graph<{ got: string[] }>("inner").reduce({ got: append });
    for (const name of ["first", "second"]) inner.node(name, (_, ctx) => ({ got: [ctx.interrupt<string>(name)] }));
    inner.edge(START, "first").edge("first", "second").edge("second", END);
    const flow = graph<{ got: string[] }>("outer")
      .graph("inner", inner, { input: () => ({ got: [] }) })
      .edge(START, "inner")
      .edge("inner", END)
      .compile({ store });
    const { checkpoint } = await flow.run({ got: [] }, { thread: "t" });
    for (const task of ["0.0~.0.0~0", "0.0~.1.0~0"]) {
      const writes = [{ channel: "answer", value: "too early", index: -4 }];
      await store.thread("t").putWrites(checkpoint?.id as string, { task, writes });
    }
    const asked = await flow.resume({ thread: "t" });
    expect([asked.status, asked.interrupts]).toMatchObject(["interrupted", [{ id: "0.0~.1.0~0", value: "second" }]]);
    expect((await flow.resume({ thread: "t", value: "now" })).state.got).toEqual(["too early", "now"]);
  });

  test("a nested graph that is called again runs afresh", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = graph<Outer>("loop")
      .reduce({ found: append })
      .graph("research", research(ran), {
        input: (state) => ({ topic: `${state.round ?? 0}`, notes: [] }),
        output: ({ topic, notes }, state) => ({ found: [`${topic}: ${notes.length}`], round: (state.round ?? 0) + 1 }),
      })
      .edge(START, "research")
      .branch("research", (state) => (state.round === 2 ? END : "research"), ["research", END])
      .compile({ store });
    expect((await flow.run({ topics: [], found: [] }, { thread: "t" })).state.found).toEqual(["0: 2", "1: 2"]);
    expect(ran).toEqual(["look 0", "check 0", "look 1", "check 1"]);
    expect(await store.thread("t").namespaces()).toHaveLength(3);
    ran.length = 0;
    await flow.run({ round: 1 }, { thread: "t" });
    expect(ran).toEqual(["look 1", "check 1"]);
  });

  test.each(modes)(
    "%s: a failure inside names both nodes; a resume, and a retry, go on where the graph stood",
    async (durability) => {
      for (const retry of [false, true]) {
        const store = await fresh();
        const ran: string[] = [];
        let failures = 1;
        const inner = graph<Inner>("inner")
          .reduce({ notes: append })
          .node("first", () => {
            ran.push("first");
            return { notes: ["first"] };
          })
          .node("second", () => {
            ran.push("second");
            failures -= 1;
            if (failures >= 0) throw new Error("deep trouble");
            return { notes: ["second"] };
          })
          .edge(START, "first")
          .edge("first", "second")
          .edge("second", END);
        const flow = graph<Inner>("outer")
          .graph("sub", inner, { input: () => ({ notes: [] }), ...(retry ? { retry: { attempts: 2 } } : {}) })
          .edge(START, "sub")
          .edge("sub", END)
          .compile({ store, durability });
        const run = flow.run({ topic: "x", notes: [] }, { thread: "t" });
        if (retry) {
          expect((await run).state.notes).toEqual(["first", "second"]);
        } else {
          await expect(run).rejects.toMatchObject({
            node: "sub",
            cause: { node: "second", cause: { message: "deep trouble" } },
          });
          expect((await flow.resume({ thread: "t" })).state.notes).toEqual(["first", "second"]);
        }
        expect(ran).toEqual(["first", "second", "second"]);
      }
    },
  );

  test("a task of a nested graph that finished beside a failure is not run again", async () => {
    const store = await fresh();
    const ran: string[] = [];
    let broken = true;
    const inner = graph<Inner>("inner").reduce({ notes: append });
    for (const name of ["good", "bad"]) {
      inner.edge(START, name).edge(name, END);
      inner.node(name, () => {
        ran.push(name);
        if (name === "bad" && broken) throw new Error("broken");
        return { notes: [name] };
      });
    }
    const flow = graph<Inner>("outer")
      .graph("sub", inner, { input: () => ({ notes: [] }) })
      .edge(START, "sub")
      .edge("sub", END)
      .compile({ store });
    await expect(flow.run({ topic: "", notes: [] }, { thread: "t" })).rejects.toThrow("broken");
    broken = false;
    expect((await flow.resume({ thread: "t" })).state.notes).toEqual(["good", "bad"]);
    expect(ran).toEqual(["good", "bad", "bad"]);
  });

  test("a question asked three levels deep is answered at the top", async () => {
    const store = await fresh();
    const ran: string[] = [];
    let flow = research(ran, true);
    for (const name of ["middle", "top"]) {
      flow = graph<Inner>(name).graph("down", flow, {}).edge(START, "down").edge("down", END);
    }
    const compiled = flow.compile({ store });
    const { interrupts } = await compiled.run({ topic: "deep", notes: [] }, { thread: "t" });
    expect(interrupts).toEqual([{ id: "0.0~.0.0~.1.0~0", node: "down/down/check", value: "use deep?" }]);
    ran.length = 0;
    const { state } = await compiled.resume({ thread: "t", value: "yes" });
    expect([state.notes, ran]).toEqual([["saw deep", "asked yes"], ["check deep"]]);
    expect(new Set(await store.thread("t").namespaces())).toEqual(
      new Set([[], ["down", "0.0"], ["down", "0.0", "down", "0.0"]]),
    );
  });

  test("a nested graph's time limit stops it, and its next attempt goes on", async () => {
    const store = await fresh();
    const ran: string[] = [];
    let endless = true;
    const inner = graph<Inner>("inner")
      .reduce({ notes: append })
      .node("first", () => {
        ran.push("first");
        return { notes: ["first"] };
      })
      .node("second", async () => {
        ran.push("second");
        if (endless) await deferred().promise;
        return { notes: ["second"] };
      })
      .edge(START, "first")
      .edge("first", "second")
      .edge("second", END);
    const within = (timeout: number): Flow<Inner> =>
      graph<Inner>("outer")
        .graph("sub", inner, { input: () => ({ notes: [] }), timeout })
        .edge(START, "sub")
        .edge("sub", END)
        .compile({ store });
    const run = within(100).run({ topic: "", notes: [] }, { thread: "t" });
    await expect(run).rejects.toMatchObject({ code: "TIMEOUT", node: "sub" });
    const begun = ran.includes("second");
    endless = false;
    expect((await within(60_000).resume({ thread: "t" })).state.notes).toEqual(["first", "second"]);
    if (begun) expect(ran.filter((name) => name === "first")).toHaveLength(1);
  });

  test("without a thread nested graphs run too, and keep nothing", async () => {
    const store = await fresh();
    const flow = team(store, research([]));
    expect((await flow.run({ topics: ["x"], found: [] })).state.found).toEqual(["x: saw x, checked", "reported"]);
    expect((await store.stats()).checkpoints).toBe(0);
  });

  test("a compiled flow can be nested too; what is wrong inside is said at compile", async () => {
    const store = await fresh();
    const inner = research([]).compile();
    const flow = graph<Inner>("outer").graph("sub", inner).edge(START, "sub").edge("sub", END).compile({ store });
    expect((await flow.run({ topic: "z", notes: [] }, { thread: "t" })).state.notes).toEqual(["saw z", "checked"]);
    const wrong = graph<Inner>("wrong")
      .node("a", () => undefined)
      .edge(START, "a");
    expect(() => graph<Inner>("outer").graph("sub", wrong).edge(START, "sub").edge("sub", END).compile()).toThrow(
      'in graph node "sub": node "a" has no way to END',
    );
  });
});

import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { append, type Durability, END, type Flow, graph, START, send } from "../../../src/runtime/index.ts";
import { collect } from "../../support/collect.ts";
import { head, line } from "../support/checkpoints.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

const modes: readonly Durability[] = ["sync", "async", "exit"];

onMemoryAndSqlite("interrupts", ({ store: fresh, fresh: freshPlace }) => {
  /** Three tasks of one step, of which those named ask. */
  function asking(store: unknown, names: readonly string[], ran: string[] = []): Flow<State> {
    const builder = graph<State>("w").reduce({ out: append });
    for (const name of ["a", "b", "c"]) {
      builder
        .node(name, (_, ctx) => {
          ran.push(name);
          return { out: [names.includes(name) ? `${name}=${ctx.interrupt<string>({ ask: name })}` : name] };
        })
        .edge(START, name)
        .edge(name, "last");
    }
    builder.node("last", () => ({ out: ["last"] })).edge("last", END);
    return builder.compile({ store: store as never });
  }

  test.each(modes)(
    "%s: the run stops with the question; the answer reaches its task and stays out of the state",
    async (durability) => {
      const store = await fresh();
      const ran: string[] = [];
      const flow = asking(store, ["b"], ran);
      const asked = await flow.run({ out: [] }, { thread: "t", durability });
      expect(asked).toMatchObject({
        status: "interrupted",
        state: { out: [] },
        interrupts: [{ node: "b", value: { ask: "b" } }],
      });
      expect((await collect(store.threads())).map(({ status }) => status)).toEqual(["waiting"]);
      expect(await head(store, "t")).toMatchObject({
        id: asked.checkpoint?.id,
        interrupts: asked.interrupts,
        state: { out: [] },
      });
      ran.length = 0;
      const done = await flow.resume({ thread: "t", value: "yes", durability });
      expect([done.status, done.state, ran]).toEqual(["done", { out: ["a", "b=yes", "c", "last"] }, ["b"]]);
      expect(done.run).toBe(asked.run);
    },
  );

  test.each(modes)("%s: one of several is answered: only that one goes on", async (durability) => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = asking(store, ["a", "c"], ran);
    const asked = await flow.run({ out: [] }, { thread: "t", durability });
    expect(asked.interrupts.map(({ node }) => node)).toEqual(["a", "c"]);
    const [first, second] = asked.interrupts;
    ran.length = 0;
    const half = await flow.resume({ thread: "t", answers: { [second?.id ?? ""]: "C" }, durability });
    expect([half.status, half.interrupts, ran]).toEqual(["interrupted", [first], ["c"]]);
    expect((await head(store, "t")).interrupts).toEqual([first]);
    expect((await flow.state("t"))?.next.map(({ node }) => node)).toEqual(["a"]);
    ran.length = 0;
    const done = await flow.resume({ thread: "t", value: "A", durability });
    expect([done.state.out, ran]).toEqual([["a=A", "b", "c=C", "last"], ["a"]]);
  });

  test("a plain value answers all that are open; answers by id answer theirs", async () => {
    const flow = asking(await fresh(), ["a", "b"]);
    await flow.run({ out: [] }, { thread: "all" });
    expect((await flow.resume({ thread: "all", value: "x" })).state.out).toEqual(["a=x", "b=x", "c", "last"]);
    const { interrupts } = await flow.run({ out: [] }, { thread: "each" });
    const answers = Object.fromEntries(interrupts.map(({ id, node }) => [id, node.toUpperCase()]));
    expect((await flow.resume({ thread: "each", answers })).state.out).toEqual(["a=A", "b=B", "c", "last"]);
  });

  test.each(modes)("%s: several questions of one task are asked and answered in order", async (durability) => {
    const store = await fresh();
    let runs = 0;
    const flow = graph<State>("w")
      .node("quiz", async (_, ctx) => {
        runs += 1;
        const answers: string[] = [];
        for (const question of ["one", "two", "three"]) answers.push(await ctx.interrupt<string>(question));
        return { out: answers };
      })
      .edge(START, "quiz")
      .edge("quiz", END)
      .compile({ store, durability });
    let result = await flow.run({ out: [] }, { thread: "t" });
    const asked: unknown[] = [];
    while (result.status === "interrupted") {
      asked.push(result.interrupts[0]?.value);
      result = await flow.resume({ thread: "t", value: `${asked.length}` });
    }
    expect([asked, result.state.out, runs]).toEqual([["one", "two", "three"], ["1", "2", "3"], 4]);
  });

  test("a resume without an answer asks again, runs nothing and commits no checkpoint", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = asking(store, ["b"], ran);
    const asked = await flow.run({ out: [] }, { thread: "t" });
    ran.length = 0;
    const again = await flow.resume({ thread: "t" });
    expect([again.status, again.interrupts, again.checkpoint, ran]).toEqual([
      "interrupted",
      asked.interrupts,
      asked.checkpoint,
      [],
    ]);
    expect((await line(store, "t")).length).toBe(2);
  });

  test("an answer to nothing, or to another's question, is refused and changes nothing", async () => {
    const store = await fresh();
    const flow = asking(store, ["b"]);
    const { interrupts } = await flow.run({ out: [] }, { thread: "t" });
    const before = await store.thread("t").tuple();
    const wrong = flow.resume({ thread: "t", answers: { [interrupts[0]?.id ?? ""]: 1, other: 2 } });
    await expect(wrong).rejects.toMatchObject({ code: "NO_INTERRUPT", thread: "t" });
    expect(await store.thread("t").tuple()).toEqual(before);
    await flow.resume({ thread: "t", value: "yes" });
    await expect(flow.resume({ thread: "t", value: "more" })).rejects.toMatchObject({ code: "NO_INTERRUPT" });
  });

  test("an answer that is an object is the answer; null and false are answers too", async () => {
    const flow = graph<{ got: unknown[] }>("w")
      .reduce({ got: append })
      .node("ask", (_, ctx) => ({ got: [ctx.interrupt("?")] }))
      .edge(START, "ask")
      .edge("ask", END)
      .compile({ store: await fresh() });
    for (const value of [{ approve: true, by: new Date(1) }, null, false, 0, ""]) {
      await flow.run({ got: [] }, { thread: "t" });
      expect((await flow.resume({ thread: "t", value })).state.got.at(-1)).toEqual(value);
    }
  });

  test("a question survives a sibling's failure, and the failure its answer", async () => {
    const store = await fresh();
    let broken = true;
    const ran: string[] = [];
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("ask", (_, ctx) => {
        ran.push("ask");
        return { out: [ctx.interrupt<string>("?")] };
      })
      .node("fail", () => {
        ran.push("fail");
        if (broken) throw new Error("broken");
        return { out: ["fixed"] };
      })
      .edge(START, "ask")
      .edge(START, "fail")
      .edge("ask", END)
      .edge("fail", END)
      .compile({ store });
    await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toThrow("broken");
    expect((await flow.state("t"))?.interrupts).toMatchObject([{ node: "ask" }]);
    ran.length = 0;
    await expect(flow.resume({ thread: "t" })).rejects.toThrow("broken");
    expect(ran).toEqual(["fail"]);
    ran.length = 0;
    await expect(flow.resume({ thread: "t", value: "yes" })).rejects.toThrow("broken");
    broken = false;
    const done = await flow.resume({ thread: "t" });
    expect([done.state.out, ran]).toEqual([
      ["yes", "fixed"],
      ["ask", "fail", "fail"],
    ]);
  });

  test("a node that catches the interruption is interrupted all the same", async () => {
    const flow = graph<State>("w")
      .node("ask", (_, ctx) => {
        try {
          return { out: [ctx.interrupt<string>("?")] };
        } catch {
          return { out: ["swallowed"] };
        }
      })
      .edge(START, "ask")
      .edge("ask", END)
      .compile({ store: await fresh() });
    expect((await flow.run({ out: [] }, { thread: "t" })).status).toBe("interrupted");
    expect((await flow.resume({ thread: "t", value: "heard" })).state.out).toEqual(["heard"]);
  });

  test("an answer stored by somebody else is picked up, without a lease and without a value", async () => {
    const store = await fresh();
    const flow = asking(store, ["b"]);
    const { interrupts, checkpoint } = await flow.run({ out: [] }, { thread: "t" });
    const task = interrupts[0]?.id as string;
    const writes = [{ channel: "answer", value: "from a page", index: -4 }];
    await store.thread("t").putWrites(checkpoint?.id as string, { task, writes });
    expect((await flow.resume({ thread: "t" })).state.out).toEqual(["a", "b=from a page", "c", "last"]);
  });

  test("each task of a fan-out has its own question", async () => {
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("ask", (_, ctx) => ({ out: [`${ctx.arg}:${ctx.interrupt<string>(ctx.arg)}`] }))
      .branch(START, () => [1, 2, 3].map((id) => send("ask", id)), ["ask"])
      .edge("ask", END)
      .compile({ store: await fresh() });
    const { interrupts } = await flow.run({ out: [] }, { thread: "t" });
    expect(interrupts.map(({ value }) => value)).toEqual([1, 2, 3]);
    for (const { id, value } of [...interrupts].reverse())
      await flow.resume({ thread: "t", answers: { [id]: `${value}!` } });
    expect((await flow.state("t"))?.state.out).toEqual(["1:1!", "2:2!", "3:3!"]);
  });

  test("without a thread, or with a payload that cannot be stored, asking is the node's failure", async () => {
    const flow = graph<State>("w")
      .node("ask", (_, ctx) => ({ out: [ctx.interrupt<string>(() => 1)] }))
      .edge(START, "ask")
      .edge("ask", END)
      .compile({ store: await fresh() });
    await expect(flow.run({ out: [] })).rejects.toMatchObject({ node: "ask", cause: expect.any(TypeError) });
    for (const durability of ["sync", "async"] as const) {
      const run = flow.run({ out: [] }, { thread: durability, durability });
      await expect(run).rejects.toMatchObject({ node: "ask", cause: { code: "SERIALIZE" } });
    }
  });

  test("an interrupted thread, pruned to its head, is resumed with nothing lost", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = asking(store, ["b"], ran);
    await flow.run({ out: [] }, { thread: "t" });
    await store.thread("t").prune({ keepLast: 1 });
    ran.length = 0;
    expect((await flow.resume({ thread: "t", value: "yes" })).state.out).toEqual(["a", "b=yes", "c", "last"]);
    expect(ran).toEqual(["b"]);
  });

  test("a question survives the end of the process", async () => {
    const { store, medium } = await freshPlace();
    await asking(store, ["b"]).run({ out: [] }, { thread: "t" });
    // A second store on the same medium knows nothing but what was written.
    const other = await open(medium);
    expect((await asking(other, ["b"]).resume({ thread: "t", value: "later" })).state.out).toEqual([
      "a",
      "b=later",
      "c",
      "last",
    ]);
  });
});

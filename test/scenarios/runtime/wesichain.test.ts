import { expect, test } from "vitest";
import { append, END, type Flow, graph, START } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../../runtime/support/places.ts";

interface State {
  n: number;
  log: string[];
}

onMemoryAndSqlite("wesichain", ({ store: fresh }) => {
  function abc(store: unknown, ran: string[]): Flow<State> {
    const builder = graph<State>("abc").reduce({ log: append });
    for (const name of ["A", "B", "C"]) {
      builder.node(name, () => {
        ran.push(name);
        return { log: [name] };
      });
    }
    return builder
      .edge(START, "A")
      .edge("A", "B")
      .edge("B", "C")
      .edge("C", END)
      .compile({ store: store as never });
  }

  test("wesichain 11: a breakpoint after A: next has B; resumed, A, B and C ran once each", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = abc(store, ran);
    expect((await flow.run({ n: 0, log: [] }, { thread: "t", breakAfter: ["A"] })).status).toBe("interrupted");
    expect((await store.thread("t").latest())?.next).toMatchObject([{ node: "B" }]);
    expect((await flow.resume({ thread: "t" })).status).toBe("done");
    expect(ran).toEqual(["A", "B", "C"]);
  });

  test("wesichain 12: three runs on one thread continue the state; a thread given at run time is honoured, also for a fork", async () => {
    const store = await fresh();
    const flow = graph<State>("count")
      .node("add", (state, ctx) => {
        expect(ctx.thread).toBe(thread);
        return { n: state.n + 1 };
      })
      .edge(START, "add")
      .edge("add", END)
      .compile({ store });
    let thread = "t";
    const counts: number[] = [];
    for (const input of [{ n: 0 }, {}, {}]) counts.push((await flow.run(input, { thread })).state.n);
    expect(counts).toEqual([1, 2, 3]);
    expect((await store.thread("t").latest())?.step).toBe(5);
    const first = (await store.thread("t").get({ step: 0 }))?.id as string;
    thread = (await store.thread("t").fork({ at: first, into: "f", edits: { n: 100 } })).id;
    const resumed = await flow.resume({ thread });
    expect([resumed.state.n, resumed.checkpoint?.thread]).toEqual([101, "f"]);
    expect((await store.thread("t").latest())?.state).toEqual({ n: 3 });
  });

  test("wesichain 13: update keeps what was pending; a node that throws leaves a checkpoint to retry from", async () => {
    const store = await fresh();
    let broken = true;
    const flow = graph<State>("retry")
      .reduce({ log: append })
      .node("first", () => ({ log: ["first"] }))
      .node("second", (state) => {
        if (broken) throw new Error("broken");
        return { log: [`second saw ${state.n}`] };
      })
      .edge(START, "first")
      .edge("first", "second")
      .edge("second", END)
      .compile({ store });
    await expect(flow.run({ n: 0, log: [] }, { thread: "t" })).rejects.toThrow("broken");
    expect(await store.thread("t").latest()).toMatchObject({ state: { log: ["first"] }, next: [{ node: "second" }] });
    await flow.update("t", { n: 7 });
    expect((await store.thread("t").latest())?.next).toMatchObject([{ node: "second" }]);
    broken = false;
    expect((await flow.resume({ thread: "t" })).state.log).toEqual(["first", "second saw 7"]);
  });
});

import { expect, test } from "vitest";
import { append, END, type Flow, graph, START } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("from outside", ({ store: fresh, fresh: freshPlace }) => {
  function asking(store: unknown, ran: string[] = []): Flow<State> {
    return graph<State>("w")
      .reduce({ out: append })
      .node("ask", (_, ctx) => {
        const answer = ctx.interrupt<string>("go on?", { key: "go" });
        ran.push(answer);
        return { out: [answer] };
      })
      .node("other", (_, ctx) => ({ out: [ctx.interrupt<string>("and this?")] }))
      .edge(START, "ask")
      .edge(START, "other")
      .edge(["ask", "other"], END)
      .compile({ store: store as never });
  }

  test("an answer is kept until somebody goes on, and of two answers the first counts", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = asking(store, ran);
    const { interrupts } = await flow.run({ out: [] }, { thread: "t" });
    const [ask, other] = interrupts.map(({ id }) => id) as [string, string];
    await flow.answer("t", ask, "first");
    await expect(flow.answer("t", ask, "second")).rejects.toMatchObject({ code: "NO_INTERRUPT" });
    await expect(flow.resume({ thread: "t", answers: { [ask]: "third" } })).rejects.toMatchObject({
      code: "NO_INTERRUPT",
    });
    await expect(flow.answer("t", "9.9~0", "x")).rejects.toMatchObject({ code: "NO_INTERRUPT" });
    await expect(flow.answer("nobody", ask, "x")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await store.thread("t").prune({ keepLast: 1 });
    await store.compact();
    expect(await flow.recover()).toMatchObject([{ result: { status: "interrupted" } }]);
    expect(ran).toEqual(["first"]);
    await flow.answer("t", other, "too");
    expect(await flow.recover()).toMatchObject([{ result: { status: "done", state: { out: ["first", "too"] } } }]);
    await expect(flow.answer("t", other, "late")).rejects.toMatchObject({ code: "NO_INTERRUPT" });
    expect(ran).toEqual(["first"]);
  });

  test("an answer that comes while the run is at work on a sibling is used by that run", async () => {
    const store = await fresh();
    let answering: Promise<void> | undefined;
    const flow: Flow<State> = graph<State>("w")
      .reduce({ out: append })
      .node("ask", (_, ctx) => ({ out: [ctx.interrupt<string>("?")] }))
      .node("slow", async () => {
        for (;;) {
          await new Promise(setImmediate);
          const open = (await flow.state("t"))?.interrupts[0];
          if (open !== undefined) {
            answering = flow.answer("t", open.id, "meanwhile");
            await answering;
            return { out: ["slow"] };
          }
        }
      })
      .edge(START, "ask")
      .edge(START, "slow")
      .edge(["ask", "slow"], END)
      .compile({ store });
    const { status, state } = await flow.run({ out: [] }, { thread: "t" });
    expect([status, state.out]).toEqual(["done", ["meanwhile", "slow"]]);
  });

  test("a stale answer to a question of the same id on another branch is not used", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = asking(store, ran);
    const asked = await flow.run({ out: [] }, { thread: "t" });
    const [ask] = asked.interrupts.map(({ id }) => id) as [string];
    await flow.answer("t", ask, "for the old branch");
    await flow.resume({ thread: "t", from: asked.checkpoint?.parent as string });
    expect(ran).toEqual([]);
    expect((await flow.state("t"))?.interrupts).toHaveLength(2);
    await flow.answer("t", ask, "for the new branch");
    await flow.recover();
    expect(ran).toEqual(["for the new branch"]);
  });

  test("a signal is kept when nobody waits yet, counts once by its id, and wakes a wait", async () => {
    let now = 1_000_000;
    const { store } = await freshPlace({ clock: () => now });
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("pay", async (_, ctx) => {
        const first = await ctx.waitFor<{ amount: number }>("paid");
        const second = await ctx.waitFor<{ amount: number }>("paid", { timeout: 10_000 });
        const third = await ctx.waitFor("paid", { timeout: 5_000 });
        return { out: [`${first?.amount} ${second?.amount} ${third}`] };
      })
      .edge(START, "pay")
      .edge("pay", END)
      .compile({ store });
    expect(await flow.signal("t", "paid", { amount: 1 }, { id: "p1" })).toEqual({ stored: true });
    expect(await flow.signal("t", "paid", { amount: 1 }, { id: "p1" })).toEqual({ stored: false });
    await flow.signal("t", "unrelated", 7);
    const waiting = await flow.run({ out: [] }, { thread: "t" });
    expect([waiting.status, waiting.interrupts, waiting.due]).toEqual(["interrupted", [], now + 10_000]);
    expect(await flow.recover()).toEqual([]);
    expect(await flow.signal("t", "paid", { amount: 1 }, { id: "p1" })).toEqual({ stored: false });
    await flow.signal("t", "paid", { amount: 2 }, { id: "p2" });
    expect(await flow.recover()).toMatchObject([{ result: { status: "interrupted", due: now + 5_000 } }]);
    now += 5_000;
    expect(await flow.recover()).toMatchObject([{ result: { status: "done", state: { out: ["1 2 undefined"] } } }]);
  });

  test("a signal goes to one of two waits, also in nested graphs", async () => {
    const store = await fresh();
    const inner = graph<State>("inner")
      .node("wait", async (_, ctx) => ({ out: [`got ${await ctx.waitFor("go")}`] }))
      .edge(START, "wait")
      .edge("wait", END);
    const flow = graph<State>("w")
      .reduce({ out: append })
      .graph("a", inner, { input: () => ({ out: [] }) })
      .graph("b", inner, { input: () => ({ out: [] }) })
      .edge(START, "a")
      .edge(START, "b")
      .edge(["a", "b"], END)
      .compile({ store });
    await flow.run({ out: [] }, { thread: "t" });
    await flow.signal("t", "go", 1);
    expect(await flow.recover()).toMatchObject([{ result: { status: "interrupted" } }]);
    await flow.signal("t", "go", 2);
    const [done] = await flow.recover();
    expect(done?.result?.state.out.sort()).toEqual(["got 1", "got 2"]);
  });

  test("cancel ends a run that nobody holds, and says when the run had ended", async () => {
    const store = await fresh();
    const flow = asking(store);
    await flow.run({ out: [] }, { thread: "t" });
    expect(await flow.cancel("t", { reason: "not needed" })).toEqual({ cancelled: true, status: "cancelled" });
    expect(await flow.state("t")).toMatchObject({ status: "cancelled", interrupts: [], next: [] });
    expect((await flow.state("t"))?.errors).toMatchObject([{ message: "not needed" }]);
    for await (const { status } of store.threads({ status: "cancelled" })) expect(status).toBe("cancelled");
    expect(await flow.cancel("t")).toEqual({ cancelled: true, status: "cancelled" });
    expect(await flow.recover({ failed: true })).toEqual([]);
    // The next run on the thread begins as after any other.
    expect((await flow.run({ out: ["again"] }, { thread: "t" })).status).toBe("interrupted");
    await flow.resume({ thread: "t", value: "x" });
    expect(await flow.cancel("t")).toEqual({ cancelled: false, status: "done" });
    await expect(flow.cancel("nobody")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("cancel aborts the signal of a run at work, and its holder commits that", async () => {
    const store = await fresh();
    let reached = (): void => {};
    const begun = new Promise<void>((resolve) => {
      reached = resolve;
    });
    let reason: unknown;
    const flow = graph<State>("w")
      .node("work", async (_, ctx) => {
        reached();
        await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
        reason = ctx.signal.reason;
        ctx.signal.throwIfAborted();
      })
      .edge(START, "work")
      .edge("work", END)
      .compile({ store });
    const running = flow.run({ out: ["kept"] }, { thread: "t" });
    await begun;
    expect(await flow.cancel("t", { reason: "the user left" })).toEqual({ cancelled: true, status: "cancelled" });
    expect(await running).toMatchObject({ status: "cancelled", state: { out: ["kept"] } });
    expect(String(reason)).toContain("the user left");
    expect((await store.verify()).faults).toEqual([]);
  });
});

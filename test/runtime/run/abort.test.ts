import { expect, test } from "vitest";
import { append, END, type Flow, graph, START } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("abort", ({ store: fresh }) => {
  function waiting(store: Awaited<ReturnType<typeof fresh>>, begun: () => void): Flow<State> {
    return graph<State>("w")
      .reduce({ out: append })
      .node("first", () => ({ out: ["first"] }))
      .node("quick", () => ({ out: ["quick"] }))
      .node("endless", async (state, ctx) => {
        if (state.out.length > 1) return { out: ["ended"] };
        begun();
        await new Promise<void>((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
        return undefined;
      })
      .edge(START, "first")
      .edge("first", "quick")
      .edge("first", "endless")
      .edge("quick", END)
      .edge("endless", END)
      .compile({ store });
  }

  test.each(["sync", "async", "exit"] as const)(
    "%s: a signal aborts what runs; the rest is resumed later",
    async (durability) => {
      const store = await fresh();
      const controller = new AbortController();
      const reason = new Error("shutting down");
      const flow = waiting(store, () => setTimeout(() => controller.abort(reason), 2));
      const run = flow.run({ out: [] }, { thread: "t", signal: controller.signal, durability });
      await expect(run).rejects.toMatchObject({ code: "ABORTED", node: "endless", thread: "t", cause: reason });
      const shown = await flow.state("t");
      expect([shown?.status, shown?.next.map(({ node }) => node)]).toEqual(["paused", ["endless"]]);
      const done = await flow.resume({ thread: "t", update: { out: ["more"] } });
      expect(done.state.out).toEqual(["first", "more", "quick", "ended"]);
    },
  );

  test("an aborted run begins no further task of its step", async () => {
    const controller = new AbortController();
    const begun: string[] = [];
    const flow = graph<State>("w")
      .node("a", () => void begun.push("a"))
      .node("b", () => void begun.push("b"))
      .edge(START, "a")
      .edge(START, "b")
      .edge("a", END)
      .edge("b", END)
      .compile({ store: await fresh(), concurrency: 1 });
    const on = ({ type }: { type: string }): void => {
      if (type === "update") controller.abort();
    };
    const run = flow.run({}, { thread: "t", signal: controller.signal, on });
    await expect(run).rejects.toMatchObject({ code: "ABORTED", node: "b" });
    expect(begun).toEqual(["a"]);
    await flow.resume({ thread: "t" });
    expect(begun).toEqual(["a", "b"]);
  });

  test("a run whose signal is aborted already does nothing but say so", async () => {
    const store = await fresh();
    const flow = waiting(store, () => {});
    const run = flow.run({ out: [] }, { thread: "t", signal: AbortSignal.abort(new Error("too late")) });
    await expect(run).rejects.toMatchObject({ code: "ABORTED" });
    expect((await flow.state("t"))?.next.map(({ node }) => node)).toEqual(["first"]);
  });
});

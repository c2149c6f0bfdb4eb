import { expect, test } from "vitest";
import { append, END, type Flow, graph, START } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("recover", ({ fresh }) => {
  function asking(store: unknown, name = "w", broken: () => boolean = () => false): Flow<State> {
    return graph<State>(name)
      .reduce({ out: append })
      .node("a", () => ({ out: ["a"] }))
      .node("b", (state, ctx) => {
        if (broken()) throw new Error("broken");
        return { out: [state.out.includes("ask") ? ctx.interrupt<string>("?") : "b"] };
      })
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store: store as never });
  }

  test("recover resumes abandoned runs and no others", async () => {
    let now = 1_000_000;
    const { store, medium } = await fresh({ clock: () => now });
    let broken = false;
    const flow = asking(store, "w", () => broken);
    const other = asking(store, "other");
    // A holder that died: its medium failed at the second boundary, and even giving up the lease did.
    for (const [thread, run] of [
      ["died", flow],
      ["died elsewhere", other],
    ] as const) {
      let commits = 0;
      medium.fails = () => {
        commits += 1;
        return commits > 3;
      };
      await expect(run.run({ out: [] }, { thread })).rejects.toMatchObject({ code: "BACKEND" });
    }
    medium.fails = () => false;
    await flow.run({ out: [] }, { thread: "done" });
    await flow.run({ out: ["ask"] }, { thread: "waiting" });
    const answered = await flow.run({ out: ["ask"] }, { thread: "answered" });
    await store.thread("answered").putWrites(answered.checkpoint?.id as string, {
      task: answered.interrupts[0]?.id as string,
      writes: [{ channel: "answer", value: "yes", index: -4 }],
    });
    await flow.run({ out: [] }, { thread: "at breakpoint", breakBefore: ["b"] });
    broken = true;
    await expect(flow.run({ out: [] }, { thread: "failed" })).rejects.toThrow("broken");
    broken = false;
    expect(await flow.recover()).toMatchObject([
      { thread: "answered", result: { status: "done", state: { out: ["ask", "a", "yes"] } } },
    ]);
    now += 60_000;
    expect(await flow.recover({ concurrency: 2 })).toMatchObject([
      { thread: "died", result: { status: "done", state: { out: ["a", "b"] } } },
    ]);
    expect(await flow.recover()).toEqual([]);
    expect(await flow.recover({ failed: true })).toMatchObject([
      { thread: "failed", result: { state: { out: ["a", "b"] } } },
    ]);
    expect((await flow.state("at breakpoint"))?.status).toBe("paused");
    expect((await other.recover()).map(({ thread }) => thread)).toEqual(["died elsewhere"]);
  });

  test("a run that died after it left a breakpoint is resumed", async () => {
    let now = 1_000_000;
    const { store, medium } = await fresh({ clock: () => now });
    const flow = asking(store);
    await flow.run({ out: [] }, { thread: "t", breakBefore: ["b"] });
    let commits = 0;
    medium.fails = () => {
      commits += 1;
      // The lease, then the mark that the breakpoint was left.
      return commits > 2;
    };
    await expect(flow.resume({ thread: "t" })).rejects.toMatchObject({ code: "BACKEND" });
    medium.fails = () => false;
    now += 60_000;
    expect(await flow.recover()).toMatchObject([
      { thread: "t", result: { status: "done", state: { out: ["a", "b"] } } },
    ]);
  });

  test("a run that fails again is reported, and does not keep the others", async () => {
    let now = 1_000_000;
    const { store, medium } = await fresh({ clock: () => now });
    for (const thread of ["t1", "t2", "t3"]) {
      let commits = 0;
      medium.fails = () => {
        commits += 1;
        return commits > 3;
      };
      await expect(asking(store).run({ out: [] }, { thread })).rejects.toMatchObject({ code: "BACKEND" });
    }
    medium.fails = () => false;
    now += 60_000;
    let calls = 0;
    const flow = asking(store, "w", () => {
      calls += 1;
      return calls === 2;
    });
    const recovered = await flow.recover({ concurrency: 1 });
    expect(recovered.map(({ thread, error }) => [thread, error === undefined])).toEqual([
      ["t1", true],
      ["t2", false],
      ["t3", true],
    ]);
    expect(recovered[1]?.error).toMatchObject({ code: "NODE_FAILED", thread: "t2" });
  });
});

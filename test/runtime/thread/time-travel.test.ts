import { expect, test } from "vitest";
import { append, END, type Flow, graph, START } from "../../../src/runtime/index.ts";
import { collect } from "../../support/collect.ts";
import { head, line } from "../support/checkpoints.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
  mode?: string;
}

onMemoryAndSqlite("time travel", ({ store: fresh }) => {
  function line3(store: unknown, ran: string[] = [], keys: string[] = []): Flow<State> {
    const builder = graph<State>("w").reduce({ out: append });
    for (const name of ["a", "b", "c"]) {
      builder.node(name, (state, ctx) => {
        ran.push(name);
        keys.push(ctx.task);
        return { out: [`${name}${state.mode ?? ""}`] };
      });
    }
    return builder
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", "c")
      .edge("c", END)
      .compile({ store: store as never });
  }

  test("resume from an older checkpoint appends a branch, runs its step again and changes nothing that was", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const keys: string[] = [];
    const flow = line3(store, ran, keys);
    const first = await flow.run({ out: [] }, { thread: "t" });
    const before = await collect(store.thread("t").history({ states: true }));
    const older = await store.thread("t").get({ step: 1 });
    ran.length = 0;
    const branch = await flow.resume({ thread: "t", from: older?.id as string });
    expect([branch.state.out, ran, branch.run === first.run]).toEqual([["a", "b", "c"], ["b", "c"], false]);
    // Another course of events: its tasks are not those of the first.
    expect(new Set(keys).size).toBe(5);
    const after = await collect(store.thread("t").history({ states: true }));
    expect(after.slice(-before.length)).toEqual(before);
    expect(
      after.slice(0, -before.length).map(({ step, source, parent }) => [step, source, parent === older?.id]),
    ).toEqual([
      [3, "loop", false],
      [2, "loop", false],
      [1, "fork", true],
    ]);
  });

  test("from the head is an ordinary resume; from nowhere is NOT_FOUND and changes nothing", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = line3(store, ran);
    const paused = await flow.run({ out: [] }, { thread: "t", breakBefore: ["c"] });
    const count = (await line(store, "t")).length;
    await expect(flow.resume({ thread: "t", from: "nope" })).rejects.toMatchObject({
      code: "NOT_FOUND",
      checkpoint: "nope",
    });
    await expect(flow.resume({ thread: "nobody" })).rejects.toMatchObject({ code: "NOT_FOUND", thread: "nobody" });
    expect((await line(store, "t")).length).toBe(count);
    expect((await collect(store.threads())).map(({ id }) => id)).toEqual(["t"]);
    await flow.resume({ thread: "t", from: paused.checkpoint?.id as string });
    expect([ran, (await line(store, "t")).length]).toEqual([["a", "b", "c"], count + 1]);
  });

  test("update goes through the reducers, keeps what was pending, and is seen by what runs next", async () => {
    const store = await fresh();
    const flow = line3(store);
    await flow.run({ out: [] }, { thread: "t", breakBefore: ["b"] });
    const info = await flow.update("t", { out: ["by hand"], mode: "!" });
    expect(info).toMatchObject({ source: "update", step: 2, pending: 1, workflow: "w" });
    expect((await flow.resume({ thread: "t" })).state.out).toEqual(["a", "by hand", "b!", "c!"]);
  });

  test("update as a node follows its edges; other pending branches keep running", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const builder = graph<State>("w").reduce({ out: append });
    for (const name of ["a", "b", "after-a", "join"]) {
      builder.node(name, () => {
        ran.push(name);
        return { out: [name] };
      });
    }
    const flow = builder
      .edge(START, "a")
      .edge(START, "b")
      .edge("a", "after-a")
      .edge(["b", "after-a"], "join")
      .edge("join", END)
      .compile({ store });
    await flow.run({ out: [] }, { thread: "t", breakBefore: ["a"] });
    const info = await flow.update("t", { out: ["A by hand"] }, { as: "a" });
    expect(info).toMatchObject({ source: "update", node: "a" });
    expect((await head(store, "t")).next.map(({ node }) => node)).toEqual(["b", "after-a"]);
    expect((await flow.resume({ thread: "t" })).state.out).toEqual(["A by hand", "b", "after-a", "join"]);
    expect(ran).toEqual(["b", "after-a", "join"]);
    await expect(flow.update("t", { out: ["x"] }, { as: "zz" })).rejects.toMatchObject({
      code: "UNKNOWN_NODE",
      node: "zz",
    });
    await expect(flow.update("nobody", { out: [] })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("an update in the middle of a step leaves finished tasks finished and questions open", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("done", () => {
        ran.push("done");
        return { out: ["done"] };
      })
      .node("ask", (state, ctx) => {
        ran.push("ask");
        return { out: [`${ctx.interrupt<string>("?")}${state.mode}`] };
      })
      .edge(START, "done")
      .edge(START, "ask")
      .edge("done", END)
      .edge("ask", END)
      .compile({ store });
    const { interrupts } = await flow.run({ out: [] }, { thread: "t" });
    await flow.update("t", { mode: "!" });
    expect(await flow.state("t")).toMatchObject({ status: "waiting", interrupts });
    ran.length = 0;
    expect((await flow.resume({ thread: "t", value: "yes" })).state.out).toEqual(["done", "yes!"]);
    expect(ran).toEqual(["ask"]);
  });

  test("update of an older checkpoint is a branch; what was stays", async () => {
    const store = await fresh();
    const flow = line3(store);
    await flow.run({ out: [] }, { thread: "t" });
    const before = await collect(store.thread("t").history({ states: true }));
    const older = (await store.thread("t").get({ step: 1 }))?.id as string;
    const info = await flow.update("t", { mode: "!" }, { from: older });
    expect([info.parent, info.step]).toEqual([older, 2]);
    expect((await flow.resume({ thread: "t" })).state.out).toEqual(["a", "b!", "c!"]);
    expect((await collect(store.thread("t").history({ states: true }))).slice(-before.length)).toEqual(before);
    await expect(flow.update("t", {}, { from: "nope" })).rejects.toMatchObject({
      code: "NOT_FOUND",
      checkpoint: "nope",
    });
  });

  test("a question is answered differently: from the checkpoint, in a fork of it, and in a fork with edits", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("side", () => {
        ran.push("side");
        return { out: ["side"] };
      })
      .node("ask", (state, ctx) => {
        ran.push("ask");
        return { out: [`${ctx.interrupt<string>("?")}${state.mode ?? ""}`] };
      })
      .node("last", (state) => ({ out: [state.out.at(-1) as string] }))
      .edge(START, "side")
      .edge(START, "ask")
      .edge(["side", "ask"], "last")
      .edge("last", END)
      .compile({ store });
    const asked = await flow.run({ out: [] }, { thread: "t" });
    const at = asked.checkpoint?.id as string;
    expect((await flow.resume({ thread: "t", value: "yes" })).state.out).toEqual(["side", "yes", "yes"]);
    ran.length = 0;
    expect((await flow.resume({ thread: "t", from: at, value: "no" })).state.out).toEqual(["side", "no", "no"]);
    expect(ran).toEqual(["ask"]);
    await store.thread("t").fork({ at, into: "fork" });
    expect((await flow.state("fork"))?.interrupts).toEqual([]);
    expect((await flow.resume({ thread: "fork", value: "other" })).state.out).toEqual(["side", "other", "other"]);
    await store.thread("t").fork({ at, into: "same" });
    ran.length = 0;
    expect((await flow.resume({ thread: "same" })).state.out).toEqual(["side", "yes", "yes"]);
    expect(ran).toEqual([]);
    await store.thread("t").fork({ at, into: "edited", edits: { mode: "!" } });
    expect(await flow.state("edited")).toMatchObject({ status: "waiting", interrupts: asked.interrupts });
    expect((await flow.resume({ thread: "edited", value: "hm" })).state.out).toEqual(["side", "hm!", "hm!"]);
    expect((await flow.state("t"))?.state.out).toEqual(["side", "no", "no"]);
  });

  test("a fork with edits runs its step anew; the source does not see it", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = line3(store, ran);
    await flow.run({ out: [] }, { thread: "t" });
    await store.thread("t").fork({ at: { step: 1 }, into: "f", edits: { mode: "?" } });
    ran.length = 0;
    expect((await flow.resume({ thread: "f" })).state.out).toEqual(["a", "b?", "c?"]);
    expect(ran).toEqual(["b", "c"]);
    expect((await flow.state("t"))?.state.out).toEqual(["a", "b", "c"]);
  });

  test("resume with goto leaves the step; what its finished tasks did is kept", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("side", () => ({ out: ["side"] }))
      .node("ask", (_, ctx) => ({ out: [ctx.interrupt<string>("?")] }))
      .node("other", () => {
        ran.push("other");
        return { out: ["other"] };
      })
      .edge(START, "side")
      .edge(START, "ask")
      .edge("side", END)
      .edge("ask", "other")
      .edge("other", END)
      .compile({ store });
    await flow.run({ out: [] }, { thread: "t" });
    const before = await store.thread("t").tuple();
    // @ts-expect-error: no such node.
    await expect(flow.resume({ thread: "t", goto: "nowhere" })).rejects.toMatchObject({
      code: "UNKNOWN_NODE",
      node: "nowhere",
    });
    // @ts-expect-error: no such node.
    await expect(flow.resume({ thread: "t", value: 1, goto: ["other", "nowhere"] })).rejects.toMatchObject({
      node: "nowhere",
    });
    expect(await store.thread("t").tuple()).toEqual(before);
    await store.thread("t").copy("end");
    await store.thread("t").copy("all");
    expect((await flow.resume({ thread: "t", goto: "other", update: { out: ["edit"] } })).state.out).toEqual([
      "side",
      "edit",
      "other",
    ]);
    ran.length = 0;
    const ended = await flow.resume({ thread: "end", goto: END });
    expect([ended.status, ended.state.out, ended.interrupts, ran]).toEqual(["done", ["side"], [], []]);
    const all = await flow.resume({ thread: "all", value: "V", update: { out: ["edit"] }, goto: END });
    expect([all.status, all.state.out, ran]).toEqual(["done", ["edit", "side", "V"], []]);
  });

  test("a finished thread goes on with goto, and again with a backward one", async () => {
    const store = await fresh();
    const flow = line3(store);
    await flow.run({ out: [] }, { thread: "t" });
    const again = await flow.resume({ thread: "t", goto: "b" });
    expect(again.state.out).toEqual(["a", "b", "c", "b", "c"]);
    expect((await head(store, "t")).id).toBe(again.checkpoint?.id);
    expect((await flow.resume({ thread: "t" })).checkpoint?.id).toBe(again.checkpoint?.id);
  });
});

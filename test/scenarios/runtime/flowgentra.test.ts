import { expect, test } from "vitest";
import { append, END, graph, START } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../../runtime/support/places.ts";

interface State {
  log: string[];
}

onMemoryAndSqlite("flowgentra", ({ store: fresh }) => {
  test("flowgentra 11: a breakpoint before publish: draft and publish run once each; the entry node can have one too", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = graph<State>("blog")
      .reduce({ log: append })
      .node("draft", () => {
        ran.push("draft");
        return { log: ["draft"] };
      })
      .node("publish", () => {
        ran.push("publish");
        return { log: ["publish"] };
      })
      .edge(START, "draft")
      .edge("draft", "publish")
      .edge("publish", END)
      .compile({ store });
    const paused = await flow.run({ log: [] }, { thread: "t", breakBefore: ["publish"] });
    expect([paused.status, ran]).toEqual(["interrupted", ["draft"]]);
    expect((await flow.resume({ thread: "t" })).state.log).toEqual(["draft", "publish"]);
    expect(ran).toEqual(["draft", "publish"]);
    const entry = await flow.run({ log: [] }, { thread: "u", breakBefore: ["draft"] });
    expect([entry.status, entry.state.log]).toEqual(["interrupted", []]);
    expect((await flow.resume({ thread: "u" })).state.log).toEqual(["draft", "publish"]);
    expect(ran).toEqual(["draft", "publish", "draft", "publish"]);
  });

  test("flowgentra 12: an interrupt inside a parallel step keeps the siblings' updates and does not run them again", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = graph<State>("parallel")
      .reduce({ log: append })
      .node("left", () => {
        ran.push("left");
        return { log: ["left"] };
      })
      .node("ask", (_, ctx) => {
        ran.push("ask");
        return { log: [`said ${ctx.interrupt<string>("what?")}`] };
      })
      .node("right", () => {
        ran.push("right");
        return { log: ["right"] };
      })
      .edge(START, "left")
      .edge(START, "ask")
      .edge(START, "right")
      .edge("left", END)
      .edge("ask", END)
      .edge("right", END)
      .compile({ store });
    expect((await flow.run({ log: [] }, { thread: "t" })).status).toBe("interrupted");
    expect((await flow.resume({ thread: "t", value: "this" })).state.log).toEqual(["left", "said this", "right"]);
    expect(ran).toEqual(["left", "ask", "right", "ask"]);
  });

  test("flowgentra 13: resume with value, update and goto; goto END ends; an unknown goto is an error and changes nothing", async () => {
    const store = await fresh();
    const flow = graph<State>("ask")
      .reduce({ log: append })
      .node("ask", (state, ctx) => ({ log: [`${state.log.join("+")}:${ctx.interrupt<string>("?")}`] }))
      .node("next", () => ({ log: ["next"] }))
      .node("other", () => ({ log: ["other"] }))
      .edge(START, "ask")
      .branch("ask", () => "next", ["next", "other"])
      .edge("next", END)
      .edge("other", END)
      .compile({ store });
    for (const thread of ["all", "goto", "end", "unknown"]) await flow.run({ log: ["in"] }, { thread });
    const all = await flow.resume({ thread: "all", value: "yes", update: { log: ["edit"] }, goto: "other" });
    expect(all.state.log).toEqual(["in", "edit", "in+edit:yes", "other"]);
    expect((await flow.resume({ thread: "goto", goto: "other" })).state.log).toEqual(["in", "other"]);
    const end = await flow.resume({ thread: "end", goto: END });
    expect([end.status, end.state.log]).toEqual(["done", ["in"]]);
    const before = await store.thread("unknown").tuple();
    // @ts-expect-error: no such node.
    await expect(flow.resume({ thread: "unknown", goto: "nowhere" })).rejects.toMatchObject({
      code: "UNKNOWN_NODE",
      node: "nowhere",
    });
    expect(await store.thread("unknown").tuple()).toEqual(before);
    expect((await flow.resume({ thread: "unknown", value: "go" })).state.log).toEqual(["in", "in:go", "next"]);
  });
});

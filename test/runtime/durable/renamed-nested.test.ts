import { expect, test } from "vitest";
import { z } from "zod";
import type { Store } from "../../../src/index.ts";
import { append, END, type Flow, graph, START } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  log: string[];
}

/** A graph whose only node is a graph that works, then asks. `ran` is told of what runs. */
function review(store: Store<unknown>, [outerName, innerName]: readonly [string, string], ran: string[]): Flow<State> {
  const renamed = { renamed: { check: outerName, ask: innerName } };
  const nested = graph<State>("nested", renamed)
    .reduce({ log: append })
    .node("work", (_, ctx) => {
      ran.push(ctx.task);
      return { log: ["worked"] };
    })
    .node(
      innerName,
      async (_, ctx) => {
        await ctx.step("prepare", () => ran.push(ctx.task));
        return { log: [ctx.interrupt<string>("how?", { key: "how" })] };
      },
      { answer: z.string().min(2) },
    )
    .edge(START, "work")
    .edge("work", innerName)
    .edge(innerName, END);
  return graph<State>("review", renamed)
    .reduce({ log: append })
    .graph(outerName, nested, { input: () => ({ log: [] }), output: ({ log }) => ({ log }) })
    .edge(START, outerName)
    .edge(outerName, END)
    .compile({ store });
}

onMemoryAndSqlite("a nested graph under a new name of its node", ({ store: fresh }) => {
  test.each(["resume", "update", "answer"] as const)("goes on where it was: %s", async (how) => {
    const store = await fresh();
    const ran: string[] = [];
    await review(store, ["check", "ask"], ran).run({ log: [] }, { thread: "t", run: "r" });
    expect(ran).toEqual(["t/r/check/0.0/0.0", "t/r/check/0.0/1.0"]);
    const flow = review(store, ["checking", "asking"], ran);
    if (how === "update") await flow.update("t", { log: ["edited"] });
    const [question] = (await flow.state("t"))?.interrupts ?? [];
    if (how === "answer") await flow.answer("t", question?.id ?? "", "well");
    const { state } = await flow.resume({ thread: "t", ...(how !== "answer" && { value: "well" }) });
    expect(state.log).toEqual([...(how === "update" ? ["edited"] : []), "worked", "well"]);
    expect(ran).toHaveLength(2);
    expect(await store.thread("t").namespaces()).toEqual([[], ["check", "0.0"]]);
  });

  test("an answer to a question that was asked under the earlier name has to fit the node's schema", async () => {
    const store = await fresh();
    await review(store, ["check", "ask"], []).run({ log: [] }, { thread: "t" });
    const flow = review(store, ["checking", "asking"], []);
    const [question] = (await flow.state("t"))?.interrupts ?? [];
    await expect(flow.answer("t", question?.id ?? "", "x")).rejects.toMatchObject({ code: "INVALID_ANSWER" });
    await expect(flow.resume({ thread: "t", value: "x" })).rejects.toMatchObject({ code: "INVALID_ANSWER" });
    expect((await flow.resume({ thread: "t", value: "well" })).state.log).toEqual(["worked", "well"]);
  });
});

import { expect, test } from "vitest";
import type { Store } from "../../../src/index.ts";
import { append, type Durability, END, type Flow, type Graph, graph, START } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  log: string[];
}

const within = { input: () => ({ log: [] }), output: ({ log }: State) => ({ log }) };

/** A graph in a graph in a graph. The innermost remembers a step, then fails in its first version. */
function deep(store: Store<unknown>, version: number, durability: Durability, ran: string[]): Flow<State> {
  const named = (name: string): Graph<State> =>
    graph<State>(name, { version, migrate: { 1: (state) => state } }).reduce({ log: append });
  const inner = named("inner")
    .node("before", (_, ctx) => {
      ran.push(ctx.task);
      return { log: ["before"] };
    })
    .node("work", async (_, ctx) => {
      await ctx.step("once", () => ran.push(ctx.task));
      if (ran.length === 2) throw new Error("down");
      return { log: ["worked"] };
    })
    .edge(START, "before")
    .edge("before", "work")
    .edge("work", END);
  const middle = named("middle").graph("inner", inner, within).edge(START, "inner").edge("inner", END);
  return named("outer")
    .graph("middle", middle, within)
    .edge(START, "middle")
    .edge("middle", END)
    .compile({ store, durability });
}

onMemoryAndSqlite("nested graphs whose outer position is put again", ({ store: fresh }) => {
  const modes: readonly Durability[] = ["sync", "async", "exit"];

  test.each(modes)("%s: keep what they remembered through a migration of all levels", async (durability) => {
    const store = await fresh();
    const ran: string[] = [];
    await expect(deep(store, 1, durability, ran).run({ log: [] }, { thread: "t" })).rejects.toThrow("down");
    ran.push("second version");
    expect((await deep(store, 2, durability, ran).resume({ thread: "t" })).state.log).toEqual(["before", "worked"]);
    expect(ran).toHaveLength(3);
  });

  test.each(modes)("%s: keep what they remembered when the state is updated with the call", async (durability) => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = deep(store, 1, durability, ran);
    await expect(flow.run({ log: [] }, { thread: "t" })).rejects.toThrow("down");
    ran.push("second call");
    const { state } = await flow.resume({ thread: "t", update: { log: ["edited"] } });
    expect(state.log).toEqual(["edited", "before", "worked"]);
    expect(ran).toHaveLength(3);
  });
});

import { expect, test } from "vitest";
import { END, graph, merge, overwrite, START, send } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  seen: Map<string, number>;
  tags: Set<string>;
  when: Date;
  bytes: Uint8Array;
  log?: string[];
}

const input = (): State => ({
  seen: new Map([["a", 1]]),
  tags: new Set(["x"]),
  when: new Date(0),
  bytes: new Uint8Array([1, 2]),
});

onMemoryAndSqlite("the state of a step is one for all of its tasks", ({ store: fresh }) => {
  test("a task that changes a Map, Set, Date or buffer of the state changes its own copy", async () => {
    const store = await fresh();
    const saw: unknown[] = [];
    const flow = graph<State>("w")
      .node("a", (state) => {
        (state.seen as Map<string, number>).set("b", 2);
        (state.tags as Set<string>).add("y");
        (state.when as Date).setTime(5);
        (state.bytes as Uint8Array)[0] = 9;
      })
      .node("b", async (state) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        saw.push(state);
        return { log: ["b"] };
      })
      .branch(START, (state) => {
        (state.seen as Map<string, number>).clear();
        return ["a", "b"];
      })
      .edge("a", END)
      .edge("b", END)
      .compile({ store });
    const { state } = await flow.run(input(), { thread: "t" });
    expect(saw).toEqual([input()]);
    expect(state).toEqual({ ...input(), log: ["b"] });
    expect((await store.thread("t").latest())?.state).toEqual(state);
  });

  test("a reducer that changes a Map in place changes the next state alone", async () => {
    const store = await fresh();
    const flow = graph<{ seen: Map<string, number> }>("w")
      .reduce({
        seen: (current, update) => {
          for (const [key, value] of update) current.set(key, value);
          return current;
        },
      })
      .node("a", () => ({ seen: new Map([["a", 1]]) }))
      .node("b", () => ({ seen: new Map([["b", 2]]) }))
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store });
    const states: unknown[] = [];
    const on = (event: { type: string; state?: unknown }): void =>
      void (event.type === "step" && states.push(event.state));
    await flow.run({ seen: new Map() }, { thread: "t", on });
    const stored: unknown[] = [];
    for await (const { state } of flow.history("t", { states: true })) stored.unshift(state);
    expect(stored.slice(1)).toEqual(states);
    expect(stored[1]).toEqual({ seen: new Map([["a", 1]]) });
  });

  test("every attempt gets the argument as it was sent", async () => {
    const args: unknown[] = [];
    const list = { values: new Map([["n", 1]]), plain: [1] };
    const flow = graph<{ log?: string[] }>("w")
      .node(
        "a",
        (_, ctx) => {
          const arg = ctx.arg as typeof list;
          args.push(structuredClone(arg));
          arg.values.set("n", 99);
          if (ctx.attempt < 3) throw new Error("again");
        },
        { retry: { attempts: 3 } },
      )
      .branch(START, () => send("a", list), ["a"])
      .edge("a", END)
      .compile({ store: await fresh() });
    await flow.run({}, { thread: "t" });
    const sent = { values: new Map([["n", 1]]), plain: [1] };
    expect(args).toEqual([sent, sent, sent]);
    expect(list).toEqual(sent);
  });

  test("merge over thousands of tasks takes time that grows with their number", async () => {
    const count = 10_000;
    const flow = graph<{ found: Record<string, number>; keys: Map<number, number> }>("w")
      .reduce({ found: merge, keys: merge })
      .node("a", (_, ctx) => ({ found: { [`k${ctx.arg}`]: 1 }, keys: new Map([[ctx.arg as number, 1]]) }))
      .branch(START, () => Array.from({ length: count }, (_, index) => send("a", index)), ["a"])
      .edge("a", END)
      .compile();
    const started = performance.now();
    const { state } = await flow.run({ found: {}, keys: new Map() });
    expect([Object.keys(state.found).length, state.keys.size]).toEqual([count, count]);
    expect(performance.now() - started).toBeLessThan(6_000);
  }, 60_000);

  test("overwrite replaces a value past its reducer, and later updates add to it", async () => {
    const store = await fresh();
    const flow = graph<{ log: string[] }>("w")
      .reduce({ log: (a, b) => [...a, ...b] })
      .node("a", () => ({ log: overwrite(["summary"]) }))
      .node("b", () => ({ log: ["b"] }))
      .edge(START, "a")
      .edge(START, "b")
      .edge("a", END)
      .edge("b", END)
      .compile({ store });
    const { state } = await flow.run({ log: ["one", "two"] }, { thread: "t" });
    expect(state.log).toEqual(["summary", "b"]);
    expect((await store.thread("t").latest())?.state).toEqual(state);
  });
});

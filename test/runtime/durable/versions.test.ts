import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { append, END, graph, START } from "../../../src/runtime/index.ts";
import { forwarding } from "../../../src/testing/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

onMemoryAndSqlite("a second version of a graph", ({ store: fresh, fresh: freshPlace }) => {
  function first(store: unknown) {
    return graph<{ log: string[]; cents: number }>("shop", { version: 1 })
      .reduce({ log: append })
      .node("quick", () => ({ log: ["quick"] }))
      .node("price", (_, ctx) => ({ log: [ctx.interrupt<string>("price?")] }))
      .node("ship", () => ({ log: ["shipped"] }))
      .edge(START, "quick")
      .edge(START, "price")
      .edge(["quick", "price"], "ship")
      .edge("ship", END)
      .compile({ store: store as never });
  }

  function second(store: unknown, options = {}) {
    return graph<{ log: string[]; euros: number }>("shop", {
      version: 3,
      migrate: {
        1: ({ cents, ...rest }: { cents: number }) => ({ ...rest, euros: cents / 100 }),
        2: (state: { log: string[] }) => ({ ...state, log: [...state.log, "migrated"] }),
      },
      renamed: { price: "pricing", ship: "shipping" },
      ...options,
    })
      .reduce({ log: append })
      .node("quick", () => ({ log: ["quick"] }))
      .node("pricing", (state, ctx) => ({ log: [`${ctx.interrupt<string>("price?")} ${state.euros}`] }))
      .node("shipping", () => ({ log: ["shipped"] }))
      .edge(START, "quick")
      .edge(START, "pricing")
      .edge(["quick", "pricing"], "shipping")
      .edge("shipping", END)
      .compile({ store: store as never });
  }

  test("threads in flight go on under the new names and the migrated state, which is stored", async () => {
    const store = await fresh();
    await first(store).run({ log: [], cents: 1250 }, { thread: "t" });
    const { state, checkpoint } = await second(store).resume({ thread: "t", value: "yes" });
    expect(state).toEqual({ euros: 12.5, log: ["migrated", "quick", "yes 12.5", "shipped"] });
    expect(checkpoint?.stateVersion).toBe(3);
    const stored = await store.thread("t").latest();
    expect(stored?.state).toEqual(state);
    // The older program does not run on it any more, nor does a new run of it begin.
    await expect(first(store).run({ log: [] }, { thread: "t" })).rejects.toMatchObject({
      code: "VERSION",
      thread: "t",
    });
    expect((await second(store).run({ log: ["again"] }, { thread: "t" })).status).toBe("interrupted");
    expect((await store.verify()).faults).toEqual([]);
  });

  test("a new run begins on the migrated state of a finished one, and an edit does too", async () => {
    const store = await fresh();
    await first(store).run({ log: [], cents: 100 }, { thread: "t" });
    await first(store).resume({ thread: "t", value: "old" });
    await second(store).update("t", { log: ["by hand"] });
    expect((await store.thread("t").latest())?.state).toEqual({
      euros: 1,
      log: ["quick", "old", "shipped", "migrated", "by hand"],
    });
    expect((await second(store).run({ log: [] }, { thread: "t" })).interrupts).toHaveLength(1);
  });

  test("a thread that cannot go on is refused by name, and nothing of it is dropped", async () => {
    const store = await fresh();
    await first(store).run({ log: [], cents: 100 }, { thread: "t" });
    const lacking = second(store, { migrate: { 1: (state: object) => state } });
    await expect(lacking.resume({ thread: "t", value: 1 })).rejects.toMatchObject({ code: "VERSION", thread: "t" });
    const unnamed = second(store, { renamed: {} });
    await expect(unnamed.resume({ thread: "t", value: 1 })).rejects.toMatchObject({
      code: "UNKNOWN_NODE",
      node: "price",
    });
    expect((await first(store).resume({ thread: "t", value: "1" })).state.log).toEqual(["quick", "1", "shipped"]);
  });

  test("a graph's version is that of its workflow in a store with a schema for others", async () => {
    const { medium } = await freshPlace();
    const shared = forwarding(medium, { close: async () => {} });
    const others = { version: 5, migrate: { 1: () => expect.fail("a state of another workflow") } };
    const early = await open(shared, { schema: others });
    await first(early).run({ log: [], cents: 1250 }, { thread: "t" });
    await early.thread("plain").put({ state: { log: [] } });
    await early.close();
    await using store = await open(shared, { schema: others });
    const flow = second(store);
    // The store itself shows the migrated state, as the graph does.
    expect((await store.thread<{ euros: number }>("t").latest())?.state.euros).toBe(12.5);
    const { state, checkpoint } = await flow.resume({ thread: "t", value: "yes" });
    expect(state).toEqual({ euros: 12.5, log: ["migrated", "quick", "yes 12.5", "shipped"] });
    expect(checkpoint?.stateVersion).toBe(3);
    expect((await store.thread("plain").latest())?.stateVersion).toBe(5);
    await using old = await open(shared, { schema: others });
    await expect(first(old).run({ log: [] }, { thread: "t" })).rejects.toMatchObject({ code: "VERSION" });
    await flow.update("t", { euros: 1 });
    expect((await flow.run({ log: ["again"] }, { thread: "t" })).status).toBe("interrupted");
    expect((await store.verify()).faults).toEqual([]);
  });

  test("a graph without a version leaves it to the store, and a version in two places must be the same", async () => {
    const { medium } = await freshPlace();
    const shared = forwarding(medium, { close: async () => {} });
    const build = (store: unknown, options = {}) =>
      graph<{ log: string[] }>("plain", options)
        .reduce({ log: append })
        .node("a", (_, ctx) => ({ log: [ctx.interrupt<string>("?")] }))
        .edge(START, "a")
        .edge("a", END)
        .compile({ store: store as never });
    const early = await open(shared, { schema: { version: 1 } });
    await build(early).run({ log: ["old"] }, { thread: "t" });
    await early.close();
    const migrate = { 1: (state: { log: string[] }) => ({ log: [...state.log, "migrated"] }) };
    await using store = await open(shared, { schema: { workflows: { plain: { version: 2, migrate } } } });
    expect((await build(store).resume({ thread: "t", value: "yes" })).state.log).toEqual(["old", "migrated", "yes"]);
    expect(() => build(store, { version: 3 })).toThrow(/version 2 in the store's schema, and its graph has version 3/);
    expect(() => build(store, { version: 2 })).not.toThrow();
  });
});

import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { append, END, graph, START, type StoredEvent, send } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("following a run", ({ fresh }) => {
  test("a client that reconnects at any event gets exactly the rest", async () => {
    const { store, medium } = await fresh();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("write", async (_, ctx) => {
        for (const word of ["one", "two", "three"]) await ctx.emit(word, { keep: true });
        return { out: ["written"] };
      })
      .node("ask", (_, ctx) => ({ out: [ctx.interrupt<string>("good?")] }))
      .edge(START, "write")
      .edge("write", "ask")
      .edge("ask", END);
    const runner = flow.compile({ store });
    const reader = flow.compile({ store: await open(medium) });
    const live: StoredEvent<State>[] = [];
    const following = (async () => {
      await expect.poll(async () => (await reader.state("t"))?.status).toBeDefined();
      for await (const event of reader.follow("t")) live.push(event);
    })();
    await runner.run({ out: [] }, { thread: "t" });
    await runner.resume({ thread: "t", value: "yes" });
    await following;
    expect(live.flatMap((event) => (event.type === "emit" ? [event.data] : []))).toEqual(["one", "two", "three"]);
    expect(live.at(-1)).toMatchObject({ type: "end", status: "done" });
    for (const [index, { cursor }] of live.entries()) {
      const rest: StoredEvent<State>[] = [];
      for await (const event of reader.follow("t", { after: cursor })) rest.push(event);
      if (index < live.length - 1) expect(rest).toEqual(live.slice(index + 1));
    }
    await expect(reader.follow("t", { after: "nonsense" }).next()).rejects.toThrow(TypeError);
    expect((await store.verify()).faults).toEqual([]);
  });

  test("a fan-out whose node collects errors settles, and the result has them", async () => {
    const { store } = await fresh();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node(
        "file",
        (_, ctx) => {
          if (ctx.arg === 2) throw new Error("unreadable");
          return { out: [`read ${ctx.arg}`] };
        },
        { onError: "collect" },
      )
      .branch(START, () => [1, 2, 3].map((name) => send("file", name)), ["file"])
      .edge("file", END)
      .compile({ store });
    const result = await flow.run({ out: [] }, { thread: "t" });
    expect([result.status, result.state.out]).toEqual(["done", ["read 1", "read 3"]]);
    expect(result.errors).toMatchObject([{ code: "NODE_FAILED", node: "file" }]);
  });

  test("flow.fork routes again after a node, and the ends of forks can be compared", async () => {
    const { store } = await fresh();
    const flow = graph<State & { plan?: string }>("w")
      .reduce({ out: append })
      .node("plan", () => ({ plan: "train" }))
      .node("train", () => ({ out: ["by train"] }))
      .node("boat", () => ({ out: ["by boat"] }))
      .edge(START, "plan")
      .branch("plan", (state) => state.plan as string, ["train", "boat"])
      .edge("train", END)
      .edge("boat", END)
      .compile({ store });
    await flow.run({ out: [] }, { thread: "t" });
    const fork = await flow.fork("t", { after: "plan", update: { plan: "boat" } });
    expect(await flow.recover()).toEqual([]);
    expect((await flow.resume({ thread: fork })).state.out).toEqual(["by boat"]);
    expect((await flow.state("t"))?.state.out).toEqual(["by train"]);
    const [mine, other] = [await store.thread("t").latest(), await store.thread(fork).latest()];
    const changes = await store.thread("t").diff(mine?.id as string, { thread: fork, at: other?.id as string });
    expect(changes.map(({ path }) => path[0])).toEqual(expect.arrayContaining(["plan", "out"]));
    const again = await flow.fork("t", { at: { step: 1 }, into: "same" });
    expect((await flow.resume({ thread: again })).state.out).toEqual(["by train"]);
  });
});

import { expect, test } from "vitest";
import { append, END, type Flow, type FlowEvent, graph, START } from "../../../src/runtime/index.ts";
import { collect } from "../../support/collect.ts";
import { deferred } from "../support/checkpoints.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

const brief = (event: FlowEvent<State>): string => {
  switch (event.type) {
    case "start":
      return `start ${event.resumed}`;
    case "step":
      return `step ${event.step} ${event.state.out} -> ${event.next} ${event.checkpoint?.step}`;
    case "end":
      return `end ${event.result.status} ${event.result.state.out}`;
    case "emit":
      return `emit ${event.node} ${event.data}`;
    case "update":
      return `update ${event.node} ${event.update?.out}`;
    case "interrupt":
      return `interrupt ${event.interrupts.map(({ value }) => value)}`;
    default:
      return `${event.type} ${event.namespace.length > 0 ? "inner " : ""}${event.node}`;
  }
};

onMemoryAndSqlite("streams", ({ store: fresh }) => {
  function talking(store: unknown): Flow<State> {
    return graph<State>("w")
      .reduce({ out: append })
      .node("a", (_, ctx) => {
        ctx.emit("thinking");
        return { out: ["a"] };
      })
      .node("ask", (_, ctx) => ({ out: [ctx.interrupt<string>("sure?")] }))
      .edge(START, "a")
      .edge("a", "ask")
      .edge("ask", END)
      .compile({ store: store as never });
  }

  test("a run and its resume yield their events in the order they happen", async () => {
    const flow = talking(await fresh());
    expect((await collect(flow.stream({ out: [] }, { thread: "t" }))).map(brief)).toEqual([
      "start false",
      "task a",
      "emit a thinking",
      "update a a",
      "step 1 a -> ask 1",
      "task ask",
      "interrupt sure?",
      "end interrupted a",
    ]);
    expect((await collect(flow.streamResume({ thread: "t", value: "yes" }))).map(brief)).toEqual([
      "start true",
      "task ask",
      "update ask yes",
      "step 2 a,yes ->  2",
      "end done a,yes",
    ]);
  });

  test("a run that is asked for again under its id tells its result again", async () => {
    const flow = talking(await fresh());
    const run = { thread: "t", run: "r" };
    await collect(flow.stream({ out: [] }, run));
    await collect(flow.streamResume({ thread: "t", value: "yes" }));
    expect((await collect(flow.stream({ out: [] }, run))).map(brief)).toEqual(["start true", "end done a,yes"]);
  });

  test("a run that fails gives its events, then throws", async () => {
    let tries = 0;
    const flow = graph<State>("w")
      .node(
        "a",
        () => {
          tries += 1;
          throw new Error("broken");
        },
        { retry: { attempts: 2 } },
      )
      .edge(START, "a")
      .edge("a", END)
      .compile({ store: await fresh() });
    const seen: string[] = [];
    const reading = async (): Promise<void> => {
      for await (const event of flow.stream({ out: [] }, { thread: "t" })) seen.push(brief(event));
    };
    await expect(reading()).rejects.toThrow("broken");
    expect([seen, tries]).toEqual([["start false", "task a", "retry a", "task a", "error a"], 2]);
  });

  test("leaving the loop lets the run go on, or aborts it if asked to, and then it has ended", async () => {
    const store = await fresh();
    const gate = deferred();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", () => ({ out: ["a"] }))
      .node("b", async () => {
        await gate.promise;
        return { out: ["b"] };
      })
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store });
    for await (const event of flow.stream({ out: [] }, { thread: "left" }))
      if (event.type === "task" && event.node === "b") break;
    for await (const event of flow.stream({ out: [] }, { thread: "aborted", onLeave: "abort" }))
      if (event.type === "task" && event.node === "b") break;
    gate.resolve();
    expect((await flow.resume({ thread: "aborted" })).state.out).toEqual(["a", "b"]);
    await expect.poll(async () => (await flow.state("left"))?.state.out).toEqual(["a", "b"]);
  });

  test("a stream of many events is read in time that grows with their number, and holds an awaited emit back", async () => {
    let emitted = 0;
    const flow = graph<State>("w")
      .node("flood", (_, ctx) => {
        for (let index = 0; index < 100_000; index += 1) void ctx.emit(index);
      })
      .node("patient", async (_, ctx) => {
        for (; emitted < 5_000; emitted += 1) await ctx.emit(emitted);
      })
      .edge(START, "flood")
      .edge("flood", "patient")
      .edge("patient", END)
      .compile();
    const started = performance.now();
    let read = 0;
    let ahead = 0;
    for await (const event of flow.stream({})) {
      if (event.type !== "emit") continue;
      read += 1;
      if (event.node === "patient") ahead = Math.max(ahead, emitted - (event.data as number));
    }
    expect(read).toBe(105_000);
    expect(ahead).toBeLessThan(2_000);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test("nested graphs give their events with their namespace; run and resume tell a listener the same", async () => {
    const inner = graph<State>("inner")
      .node("deep", () => ({ out: ["deep"] }))
      .edge(START, "deep")
      .edge("deep", END);
    const flow = graph<State>("w")
      .graph("sub", inner)
      .edge(START, "sub")
      .edge("sub", END)
      .compile({ store: await fresh() });
    const heard: FlowEvent<State>[] = [];
    await flow.run({ out: [] }, { thread: "t", on: (event) => heard.push(event) });
    expect(heard.map(brief)).toContain("task inner deep");
    const streamed = await collect(flow.stream({ out: [] }, { thread: "u" }));
    expect(streamed.map(brief)).toEqual(heard.map(brief));
    expect(streamed.find((event) => event.type === "task" && event.node === "deep")).toMatchObject({
      namespace: ["sub", "0.0"],
    });
  });

  test("a reader that takes its time misses nothing", async () => {
    const flow = talking(await fresh());
    let count = 0;
    for await (const _ of flow.stream({ out: [] }, { thread: "t" })) {
      count += 1;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(count).toBe(8);
  });
});

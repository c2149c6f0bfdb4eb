import { expect, test } from "vitest";
import { append, END, type FlowEvent, graph, START } from "../../../src/runtime/index.ts";
import { line } from "../support/checkpoints.ts";
import { carriesCheckpoint } from "../support/medium.ts";
import { onMemoryAndSqlite } from "../support/places.ts";
import { type Inner, type Outer, research, team } from "../support/research-team.ts";

onMemoryAndSqlite("nested graphs and the history of their thread", (places) => {
  const fresh = places.store;

  test("a nested graph starts afresh from a checkpoint before its task, and goes on from its question when answered anew", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = team(store, research(ran, true));
    const asked = await flow.run({ topics: ["x"], found: [] }, { thread: "t" });
    await flow.resume({ thread: "t", value: "yes" });
    const planned = (await line(store, "t"))[1];
    ran.length = 0;
    const again = await flow.resume({ thread: "t", from: planned?.id as string });
    expect([again.status, ran]).toEqual(["interrupted", ["look x", "check x"]]);
    expect((await flow.resume({ thread: "t", value: "second" })).state.found).toEqual([
      "x: saw x, asked second",
      "reported",
    ]);
    ran.length = 0;
    const other = await flow.resume({ thread: "t", from: asked.checkpoint?.id as string, value: "no" });
    expect([other.state.found, ran]).toEqual([["x: saw x, asked no", "reported"], ["check x"]]);
  });

  test("a fork taken at the question, after it was answered, can be answered differently", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = team(store, research(ran, true));
    const asked = await flow.run({ topics: ["x"], found: [] }, { thread: "t" });
    await flow.resume({ thread: "t", value: "yes" });
    const at = asked.checkpoint?.id as string;
    await store.thread("t").fork({ at, into: "f" });
    await store.thread("t").fork({ at, into: "g", edits: { round: 9 } });
    const early = (await line(store, "t"))[1]?.id as string;
    await store.thread("t").fork({ at: early, into: "h", edits: { topics: ["x"] } });
    ran.length = 0;
    expect((await flow.resume({ thread: "f", value: "no" })).state.found).toEqual(["x: saw x, asked no", "reported"]);
    const edited = await flow.resume({ thread: "g", value: "maybe" });
    expect([edited.state.found, edited.state.round]).toEqual([["x: saw x, asked maybe", "reported"], 9]);
    expect(ran).toEqual(["check x", "check x"]);
    ran.length = 0;
    expect((await flow.resume({ thread: "h" })).status).toBe("interrupted");
    expect(ran).toEqual(["look x", "check x"]);
    expect((await flow.state("t"))?.state.found).toEqual(["x: saw x, asked yes", "reported"]);
  });

  test("an update of the outer state while a nested graph waits keeps the nested graph where it is", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = team(store, research(ran, true));
    await flow.run({ topics: ["x"], found: [] }, { thread: "t" });
    await flow.update("t", { found: ["by hand"] });
    ran.length = 0;
    expect((await flow.resume({ thread: "t", value: "yes", update: { round: 3 } })).state).toEqual({
      topics: ["x"],
      found: ["by hand", "x: saw x, asked yes", "reported"],
      round: 3,
    });
    expect(ran).toEqual(["check x"]);
  });

  test("a graph that went on while its outer checkpoint could not be written is not sent back later", async () => {
    const { store, medium } = await places.fresh();
    const ran: string[] = [];
    const asked = async (): Promise<number> => {
      const head = await store.thread("t").latest();
      return (await store.thread("t").writes(head?.id as string)).filter(({ index }) => index === -3).length;
    };
    const inner = graph<Inner>("inner").reduce({ notes: append });
    for (const name of ["first", "second"]) {
      inner.node(name, async (state, ctx) => {
        const answer = ctx.interrupt<string>(`${name} ${state.topic}`);
        ran.push(`${name} ${state.topic}`);
        // The last of three comes to its second question when those of the others are in the store.
        while (state.topic === "z" && name === "first" && (await asked()) < 2) await new Promise(setImmediate);
        return { notes: [answer] };
      });
    }
    inner.edge(START, "first").edge("first", "second").edge("second", END);
    const flow = team(store, inner);
    await flow.run({ topics: ["x", "y", "z"], found: [] }, { thread: "t" });
    // Then the outer checkpoint that would hold all three is lost.
    let questions = 0;
    medium.fails = (batches) => questions === 3 && carriesCheckpoint(batches);
    const on = (event: FlowEvent<Outer>): void => {
      if (event.type === "interrupt" && event.namespace.length === 0) questions += 1;
    };
    await expect(flow.resume({ thread: "t", value: "1", on })).rejects.toMatchObject({ code: "BACKEND" });
    medium.fails = () => false;
    await flow.resume({ thread: "t", answers: { "1.0~.1.0~0": "2" } });
    const { state } = await flow.resume({ thread: "t", value: "2" });
    expect(state.found).toEqual(["x: 1, 2", "y: 1, 2", "z: 1, 2", "reported"]);
    expect(ran).toEqual(["first x", "first y", "first z", "second x", "second y", "second z"]);
  });
});

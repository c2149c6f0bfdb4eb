import { expect, test } from "vitest";
import { END, graph, START } from "../../../src/runtime/index.ts";
import { line } from "../../runtime/support/checkpoints.ts";
import { onMemoryAndSqlite } from "../../runtime/support/places.ts";

interface State {
  plan?: string;
  tool?: string;
  n?: number;
}

onMemoryAndSqlite("simple-agents", ({ store: fresh }) => {
  test("simple-agents 9: resumed at step 2 from next: [tool], the first node run is tool, with earlier outputs in the state", async () => {
    const store = await fresh();
    const ran: string[] = [];
    await store
      .thread("r")
      .put({ run: "r", workflow: "agent", step: 2, next: ["tool"], state: { plan: "made earlier" } });
    const flow = graph<State>("agent")
      .node("plan", () => void ran.push("plan"))
      .node("tool", (state) => {
        ran.push("tool");
        return { tool: `used for what was ${state.plan}` };
      })
      .edge(START, "plan")
      .edge("plan", "tool")
      .edge("tool", END)
      .compile({ store });
    const { state, checkpoint, run } = await flow.resume({ thread: "r" });
    expect([ran, state.tool, checkpoint?.step, run]).toEqual([["tool"], "used for what was made earlier", 3, "r"]);
  });

  test("simple-agents 10: a node the graph lacks, a step limit, a thread of another workflow: errors; the limit can be raised", async () => {
    const store = await fresh();
    const flow = graph<State>("agent")
      .node("loop", (state) => ({ n: (state.n ?? 0) + 1 }))
      .edge(START, "loop")
      .branch("loop", (state) => ((state.n ?? 0) < 6 ? "loop" : END), ["loop", END])
      .compile({ store });
    await store.thread("lacks").put({ workflow: "agent", next: ["missing"], state: {} });
    await expect(flow.resume({ thread: "lacks" })).rejects.toMatchObject({ code: "UNKNOWN_NODE", node: "missing" });
    await store.thread("other").put({ workflow: "another", next: ["loop"], state: {} });
    await expect(flow.resume({ thread: "other" })).rejects.toMatchObject({ code: "OTHER_WORKFLOW" });
    expect([(await line(store, "lacks")).length, (await line(store, "other")).length]).toEqual([1, 1]);
    await expect(flow.run({}, { thread: "t", maxSteps: 4 })).rejects.toMatchObject({ code: "STEP_LIMIT" });
    expect((await flow.resume({ thread: "t", maxSteps: 20 })).state.n).toBe(6);
  });
});

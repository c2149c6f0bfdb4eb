import type { Store } from "../../../src/index.ts";
import { append, END, type Flow, graph, merge, START, send } from "../../../src/runtime/index.ts";

/** The result that a killed and resumed run shares with an undisturbed one. */
export interface Work {
  order: string[];
  scores: Record<string, number>;
  round: number;
}

interface Part {
  id: number;
  lines: string[];
}

const rounds = 3;
const fan = 5;

/** Rounds of fan-out, a nested graph, and a join of a short and a long way. `log` is told of every task that is run. */
export function workload(store: Store<unknown>, log: (task: string) => Promise<void>): Flow<Work> {
  const part = graph<Part>("part")
    .reduce({ lines: append })
    .node("read", async (_, ctx) => {
      await log(ctx.task);
      return { lines: ["read"] };
    })
    .node("write", async (state, ctx) => {
      await log(ctx.task);
      return { lines: [`write ${state.id}`] };
    })
    .edge(START, "read")
    .edge("read", "write")
    .edge("write", END);
  return graph<Work>("workload")
    .reduce({ order: append, scores: merge })
    .node("plan", async (state, ctx) => {
      await log(ctx.task);
      return { order: [`plan ${state.round}`] };
    })
    .node("work", async (state, ctx) => {
      await log(ctx.task);
      return {
        order: [`work ${state.round}.${ctx.arg}`],
        scores: { [`${state.round}.${ctx.arg}`]: (ctx.arg as number) ** 2 },
      };
    })
    .graph("part", part, {
      input: (_, arg) => ({ id: arg as number, lines: [] }),
      output: ({ id, lines }) => ({ order: [`part ${id}: ${lines.join(", ")}`] }),
    })
    .node("short", async (_, ctx) => {
      await log(ctx.task);
      return { order: ["short"] };
    })
    .node("join", async (state, ctx) => {
      await log(ctx.task);
      return { order: ["join"], round: state.round + 1 };
    })
    .edge(START, "plan")
    .branch(
      "plan",
      () => [
        "short",
        ...Array.from({ length: fan }, (_, index) => send("work", index)),
        send("part", 0),
        send("part", 1),
      ],
      ["short", "work", "part"],
    )
    .node("collect", async (state, ctx) => {
      await log(ctx.task);
      return { order: [`${Object.keys(state.scores).length} scores`] };
    })
    .edge(["work", "part"], "collect")
    .edge(["short", "collect"], "join")
    .branch("join", (state) => (state.round < rounds ? "plan" : END), ["plan", END])
    .compile({ store, lease: { ttl: 120 } });
}

export const input: Work = { order: [], scores: {}, round: 0 };

import { append, type Durability, END, type Flow, type Graph, graph, START, send } from "../../../src/runtime/index.ts";

export interface Outer {
  topics: string[];
  found: string[];
  round?: number;
}
export interface Inner {
  topic: string;
  notes: string[];
}

/** Looks something up, asks about it if told to, and sums up. */
export function research(ran: string[], asks = false): Graph<Inner> {
  return graph<Inner>("research")
    .reduce({ notes: append })
    .node("look", (state) => {
      ran.push(`look ${state.topic}`);
      return { notes: [`saw ${state.topic}`] };
    })
    .node("check", (state, ctx) => {
      ran.push(`check ${state.topic}`);
      return { notes: [asks ? `asked ${ctx.interrupt<string>(`use ${state.topic}?`)}` : "checked"] };
    })
    .edge(START, "look")
    .edge("look", "check")
    .edge("check", END);
}

export function team(store: unknown, inner: Graph<Inner>, durability: Durability = "sync"): Flow<Outer> {
  return graph<Outer>("team")
    .reduce({ found: append })
    .node("plan", () => undefined)
    .graph("research", inner, {
      input: (_, arg) => ({ topic: String(arg), notes: [] }),
      output: ({ topic, notes }) => ({ found: [`${topic}: ${notes.join(", ")}`] }),
    })
    .node("report", () => ({ found: ["reported"] }))
    .edge(START, "plan")
    .branch("plan", (state) => state.topics.map((topic) => send("research", topic)), ["research"])
    .edge("research", "report")
    .edge("report", END)
    .compile({ store: store as never, durability });
}

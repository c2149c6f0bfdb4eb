import type { Store } from "../../../src/index.ts";
import { append, END, type Flow, graph, START } from "../../../src/runtime/index.ts";

export interface Job {
  out: string[];
}

const TTL = 500;

/** A graph with a remembered step, a sleep, a wait for a signal and an end, for workers that are killed. */
export function jobs(store: Store<unknown>): Flow<Job> {
  return graph<Job>("jobs")
    .reduce({ out: append })
    .node("work", async (_, ctx) => {
      const out: string[] = [];
      for (const name of ["one", "two", "three"]) {
        out.push(await ctx.step(name, () => new Promise<string>((done) => setTimeout(() => done(name), 150))));
      }
      return { out };
    })
    .node("rest", async (_, ctx) => {
      await ctx.sleep(50);
      return { out: ["rested"] };
    })
    .node("signalled", async (_, ctx) => ({ out: [`signal ${await ctx.waitFor("go")}`] }))
    .edge(START, "work")
    .edge("work", "rest")
    .edge("rest", "signalled")
    .edge("signalled", END)
    .compile({ store, lease: { ttl: TTL } });
}

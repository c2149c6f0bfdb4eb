import { appendFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Store } from "../api/store.ts";
import { append, END, type Flow, graph, merge, START, send } from "../runtime/index.ts";
import { chapters } from "./script.ts";

/** The state of the demo's agent. Some fields have types that JSON lacks. */
export interface Research {
  question: string;
  startedAt: Date;
  plan: string[];
  /** Notes by topic. */
  notes: Map<string, string>;
  sources: Set<string>;
  /** Words read so far. */
  words: bigint;
  log: string[];
  draft?: string;
  report?: { text: string; approvedBy: string };
}

export interface Verdict {
  readonly approve: boolean;
  readonly by: string;
}

export interface AgentOptions {
  readonly store: Store;
  /** The file that gets a line for each call of the scripted model: the outside world, which no rollback reaches. */
  readonly calls: string;
  /** How long a call takes, in milliseconds. */
  readonly pace: number;
  /** Awaited before each call. The story uses it to hold a process where it will be killed. */
  readonly before?: (call: string) => Promise<void>;
}

const LEASE_MILLISECONDS = 2_000;

/** Returns a research agent with a script in place of a model: plan, read each topic, write, ask a person, publish. */
export function researchAgent({ store, calls, pace, before }: AgentOptions): Flow<Research> {
  const call = async (what: string): Promise<void> => {
    await before?.(what);
    await wait(pace);
    appendFileSync(calls, `${what}\n`, { mode: 0o600 });
  };
  return graph<Research>("research")
    .reduce({ notes: merge, sources: merge, words: (total, more) => total + more, log: append })
    .node("plan", async ({ question, plan }) => {
      // A plan written by hand is followed.
      if (plan.length > 0) return { log: [`follows the plan: ${plan.join(", ")}`] };
      await call("plan");
      return { plan: ["moon", "sun", "coast", "river"], log: [`planned to answer: ${question}`] };
    })
    .node("read", async (_, ctx) => {
      const topic = ctx.arg as string;
      await call(`read ${topic}`);
      const { text, source } = chapters[topic] ?? { text: `Nothing is known of the ${topic}.`, source: "about:blank" };
      return {
        notes: new Map([[topic, text]]),
        sources: new Set([source]),
        words: BigInt(text.split(" ").length),
        log: [`read ${topic}`],
      };
    })
    .node("write", async ({ plan, notes }) => {
      await call("write");
      return { draft: plan.map((topic) => notes.get(topic) ?? "").join(" "), log: ["wrote a draft"] };
    })
    .node("review", ({ draft }, ctx) => {
      const { approve, by } = ctx.interrupt<Verdict>({ question: "Publish this draft?", draft });
      if (!approve) return { update: { log: [`declined by ${by}`] }, goto: END };
      return { report: { text: draft ?? "", approvedBy: by }, log: [`approved by ${by}`] };
    })
    .node("publish", async () => {
      await call("publish");
      return { log: ["published"] };
    })
    .edge(START, "plan")
    .branch("plan", ({ plan }) => plan.map((topic) => send("read", topic)), ["read"])
    .edge("read", "write")
    .edge("write", "review")
    .edge("review", "publish")
    .edge("publish", END)
    .compile({ store, concurrency: 1, lease: { ttl: LEASE_MILLISECONDS } });
}

/** Returns the initial state of a run. */
export function openQuestion(): Research {
  return {
    question: "Why does the sea rise and fall twice a day?",
    startedAt: new Date(),
    plan: [],
    notes: new Map(),
    sources: new Set(),
    words: 0n,
    log: [],
  };
}

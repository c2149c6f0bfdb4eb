import {
  type Context,
  END,
  type Flow,
  type Frozen,
  type Graph,
  graph,
  type Schema,
  START,
  send,
} from "threadmark/runtime";

/*
 * Compiled by `npm run typecheck`, never run: each `@ts-expect-error` is a mistake that must not compile.
 */

interface Page {
  url: string;
  links: string[];
}

interface State {
  pages: Page[];
  verdict: "good" | "bad";
  notes: Map<string, string[]>;
  tags: Set<string>;
  at: Date;
  total?: number;
}

/** Returns whether two types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

function holds<_Fact extends true>(): void {}

export function namesInEdges(): void {
  const nodes = graph<State>("w")
    .node("plan", () => undefined)
    .node("read", () => ({}));
  nodes.edge(START, "plan").edge("plan", "read").edge(["plan", "read"], "read").edge("read", END);
  // @ts-expect-error: no such node.
  nodes.edge(START, "paln");
  // @ts-expect-error: no such node.
  nodes.edge("raed", END);
  // @ts-expect-error: no such node in the join.
  nodes.edge(["plan", "raed"], "read");
  // @ts-expect-error: nothing leads out of END.
  nodes.edge(END, "plan");
}

export function namesInBranches(name: string): void {
  const nodes = graph<State>("w")
    .node("plan", () => undefined)
    .node("read", () => ({}));
  nodes.branch("plan", (state) => (state.total === 1 ? "read" : END), ["read", END]);
  nodes.branch("plan", async () => ["read", END]);
  nodes.branch("plan", () => name);
  nodes.branch("plan", (state) => state.pages.map((page) => send("read", page)));
  // @ts-expect-error: no such node.
  nodes.branch("plan", () => "raed");
  // @ts-expect-error: no such node.
  nodes.branch("plan", (state) => (state.total === 1 ? "raed" : END));
  // @ts-expect-error: no such node.
  nodes.branch("plan", async () => ["read", "raed"]);
  // @ts-expect-error: no such node.
  nodes.branch("plan", (state) => state.pages.map((page) => send("raed", page)));
  // @ts-expect-error: no such declared target.
  nodes.branch("plan", () => END, ["raed"]);
  // @ts-expect-error: no such source.
  nodes.branch("paln", () => END);
}

export function namesInGotos(): void {
  graph<State>("w")
    .node("plan", (state) => (state.total === 1 ? { goto: "read" } : { update: { total: 1 }, goto: ["read", END] }))
    .node("read", async () => ({ goto: send("plan", 1) }), { goto: ["plan"] })
    .edge(START, "plan")
    .compile();
  const wrong = graph<State>("w").node("plan", () => ({ goto: "raed" }));
  // @ts-expect-error: a goto leads to "raed", which is no node.
  wrong.edge(START, "plan").compile();
  // @ts-expect-error: also with options.
  wrong.edge(START, "plan").compile({ durability: "async" });
  const sends = graph<State>("w").node("plan", async () => ({ goto: [send("raed", 1)] }));
  // @ts-expect-error: a send leads to "raed", which is no node.
  sends.edge(START, "plan").compile();
  const declared = graph<State>("w").node("plan", () => undefined, { goto: ["raed"] });
  // @ts-expect-error: the declared goto leads to "raed", which is no node.
  declared.edge(START, "plan").compile();
}

export async function namesInOptions(): Promise<void> {
  const flow = graph<State>("w")
    .node("plan", () => undefined)
    .node("read", () => ({}))
    .edge(START, "plan")
    .edge("plan", "read")
    .edge("read", END)
    .compile({ breakBefore: ["read"] });
  await flow.run({}, { thread: "t", breakBefore: ["plan"], breakAfter: ["read"] });
  await flow.update("t", { total: 1 }, { as: "plan" });
  await flow.fork("t", { after: "plan", update: { total: 2 } });
  await flow.resume({ thread: "t", goto: ["read", END] });
  // @ts-expect-error: no such node.
  await flow.run({}, { thread: "t", breakBefore: ["paln"] });
  // @ts-expect-error: no such node.
  await flow.update("t", { total: 1 }, { as: "paln" });
  // @ts-expect-error: no such node.
  await flow.fork("t", { after: "paln" });
  // @ts-expect-error: no such node.
  await flow.resume({ thread: "t", goto: "paln" });
  // @ts-expect-error: no such node.
  flow.worker({ breakAfter: ["paln"] });
  // @ts-expect-error: the state has no such key.
  await flow.update("t", { totla: 1 });
  // @ts-expect-error: the state has no such key.
  await flow.run({ totla: 1 });
  // @ts-expect-error: the state has no such key.
  await flow.fork("t", { update: { totla: 1 } });
}

export function keysOfResults(update: Partial<State>, odd: { total: number; totla: number }): void {
  const nodes = graph<State>("w");
  nodes.node("a", () => ({ verdict: "good", total: 1 }));
  nodes.node("a", async () => ({ update: { verdict: "bad" }, goto: END }));
  nodes.node("a", (state) => (state.total === 1 ? { total: 2 } : { goto: END }));
  nodes.node("a", (state) => ({ pages: state.pages, notes: state.notes, tags: state.tags }));
  nodes.node("a", () => update);
  nodes.node("a", () => {
    throw new Error("no");
  });
  // @ts-expect-error: the state has no such key.
  nodes.node("a", () => ({ totla: 1 }));
  // @ts-expect-error: the state has no such key, beside one that it has.
  nodes.node("a", () => ({ total: 1, totla: 1 }));
  // @ts-expect-error: the state has no such key.
  nodes.node("a", async () => ({ total: 1, totla: 1 }));
  // @ts-expect-error: the state has no such key.
  nodes.node("a", () => ({ update: { total: 1, totla: 1 }, goto: END }));
  // @ts-expect-error: the state has no such key, in one of two results.
  nodes.node("a", (state) => (state.total === 1 ? { total: 2 } : { total: 1, totla: 1 }));
  // @ts-expect-error: the state has no such key.
  nodes.node("a", () => odd);
  // @ts-expect-error: a goto beside keys of the state would be a key of the state.
  nodes.node("a", () => ({ total: 1, goto: END }));
  // @ts-expect-error: another type.
  nodes.node("a", () => ({ verdict: "fair" }));
}

export function deeplyReadonly(): void {
  graph<State>("w")
    .node("a", (state) => {
      // @ts-expect-error: the state is readonly.
      state.total = 1;
      // @ts-expect-error: at every depth.
      state.pages.push({ url: "", links: [] });
      const [page] = state.pages;
      // @ts-expect-error: at every depth.
      page?.links.push("");
      // @ts-expect-error: Maps too.
      state.notes.set("a", []);
      // @ts-expect-error: and what they hold.
      state.notes.get("a")?.push("");
      // @ts-expect-error: Sets too.
      state.tags.add("a");
      holds<Same<typeof state.at, Date>>();
    })
    .branch(START, (state) => {
      // @ts-expect-error: the state is readonly.
      state.pages.pop();
      return "a";
    });
  // A function that was annotated with the state's own type still fits.
  graph<State>("w").node("a", (state: Readonly<State>) => ({ total: state.pages.length }));
  graph<State>("w").node("a", (state: State) => ({ total: state.pages.length }));
}

export function args(): void {
  const annotated = graph<State>("w")
    .node("plan", () => undefined)
    .node("read", (_, ctx: Context<Page>) => {
      holds<Same<typeof ctx.arg, Frozen<Page>>>();
      return { verdict: ctx.arg.links.length > 0 ? "good" : "bad" };
    });
  annotated.branch("plan", (state) => state.pages.map((page) => send("read", page)));
  // @ts-expect-error: the node takes a page.
  annotated.branch("plan", () => send("read", 1));
  // @ts-expect-error: the node takes a page.
  annotated.branch("plan", () => send("read"));

  const declared = graph<State, { args: { read: Page } }>("w")
    .node("read", (_, ctx) => ({ pages: [ctx.arg] }))
    .node("plan", () => ({ goto: send("read", { url: "", links: [] }) }));
  declared.edge(START, "plan").compile();
  const wrong = declared.node("other", () => ({ goto: send("read", 1) }));
  // @ts-expect-error: the node takes a page.
  wrong.compile();

  graph<State, { args: { inner: Page } }>("w").graph("inner", graph<Page>("inner"), {
    input: (_, arg) => {
      holds<Same<typeof arg, Frozen<Page>>>();
      return arg;
    },
    output: ({ links }) => ({ total: links.length }),
  });
}

interface Types {
  emit: { token: string };
  question: { charge: number };
  answer: { ok: boolean };
}

export async function declaredTypes(): Promise<void> {
  const flow = graph<State, Types>("w")
    .node("ask", (_, ctx) => {
      void ctx.emit({ token: "a" });
      // @ts-expect-error: other data.
      void ctx.emit({ tokne: "a" });
      const { ok } = ctx.interrupt({ charge: 5 }, { default: { ok: false } });
      // @ts-expect-error: another question.
      ctx.interrupt("Charge?");
      // @ts-expect-error: another default.
      ctx.interrupt({ charge: 5 }, { default: "no" });
      return { total: ok ? 1 : 0 };
    })
    .edge(START, "ask")
    .edge("ask", END)
    .compile();
  const { interrupts } = await flow.run({}, { thread: "t" });
  for (const { id, value } of interrupts) {
    holds<Same<typeof value.charge, number>>();
    await flow.answer("t", id, { ok: true });
    // @ts-expect-error: another answer.
    await flow.answer("t", id, true);
    await flow.resume({ thread: "t", answers: { [id]: { ok: true } } });
    // @ts-expect-error: another answer.
    await flow.resume({ thread: "t", answers: { [id]: "yes" } });
  }
  // @ts-expect-error: another answer.
  await flow.resume({ thread: "t", value: "yes" });
  for await (const event of flow.stream({}, { thread: "t" })) {
    if (event.type === "emit") holds<Same<typeof event.data, { token: string }>>();
    if (event.type === "end") holds<Same<typeof event.result.state, State>>();
  }
  for await (const event of flow.follow("t")) {
    if (event.type === "emit") holds<Same<typeof event.data, { token: string }>>();
  }
  const state = await flow.state("t");
  holds<Same<Exclude<typeof state, undefined>["interrupts"][number]["value"], { charge: number }>>();
}

export async function inputsAndStates(
  schema: Schema<{ count: number; tags: string[] }, { count: string; tags?: string[] }>,
): Promise<void> {
  const inferred = graph("w", { schema })
    .node("a", (state) => ({ count: state.count + 1 }))
    .edge(START, "a")
    .edge("a", END)
    .compile();
  const { state } = await inferred.run({ count: "5" });
  holds<Same<typeof state, { count: number; tags: string[] }>>();
  // @ts-expect-error: the input's count is a text, which the schema turns into a number.
  await inferred.run({ count: 5 });

  const declared = graph<{ count: number; tags: string[] }, { input: { count: string } }>("w", { schema })
    .node("a", (given) => ({ count: given.count + 1 }))
    .edge(START, "a")
    .edge("a", END)
    .compile();
  await declared.start({ count: "5" }, { thread: "t" });
  // @ts-expect-error: the input's count is a text.
  await declared.start({ count: 5 }, { thread: "t" });
  // @ts-expect-error: the schema gives another state.
  graph<{ count: string }>("w", { schema });
}

/** Graphs and flows fit where their nodes are not named. */
export function general(names: readonly string[]): Flow<State> {
  const builder: Graph<State> = graph<State>("w");
  for (const name of names) builder.node(name, () => undefined).edge(START, name);
  const unnamed: Graph<State> = graph<State>("w")
    .node("a", () => ({ goto: "b" }))
    .node("b", () => undefined);
  unnamed.edge("c", "d");
  const statements = graph<State>("w");
  statements.node("a", () => undefined);
  statements.edge(START, "a").edge("a", END);
  return graph<State, Types>("w")
    .node("a", () => undefined)
    .edge(START, "a")
    .edge("a", END)
    .compile();
}

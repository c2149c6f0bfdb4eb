import { expect, test } from "vitest";
import type { Store } from "../../src/api/store.ts";
import { append, END, graph, START } from "../../src/runtime/index.ts";
import { type Served, served } from "./support/seed.ts";

interface Questions {
  readonly checkpoint: string;
  readonly interrupts: readonly { readonly id: string; readonly node: string; readonly answered: boolean }[];
}

async function questionsOf(
  { store, get }: Served,
  thread: string,
  namespace: readonly string[] = [],
): Promise<Questions> {
  const checkpoint = (await store.thread(thread, { namespace }).latest())!.id;
  const facts = (await (await get("checkpoint", { thread, namespace, checkpoint })).json()) as Questions;
  return { checkpoint, interrupts: facts.interrupts };
}

async function answer(
  service: Served,
  thread: string,
  interrupt: string,
  value: unknown,
  namespace: readonly string[] = [],
): Promise<void> {
  const { checkpoint } = await questionsOf(service, thread, namespace);
  const body = { thread, namespace, checkpoint, interrupt, value };
  expect((await service.post("answer", body)).status).toBe(200);
}

interface Vote {
  votes: string[];
}

/** Two reviewers are asked side by side. */
function vote(store: Store) {
  return graph<Vote>("vote")
    .reduce({ votes: append })
    .node("ann", (_, ctx) => ({ votes: [`ann: ${ctx.interrupt<string>("Ann, yes or no?")}`] }))
    .node("ben", (_, ctx) => ({ votes: [`ben: ${ctx.interrupt<string>("Ben, yes or no?")}`] }))
    .edge(START, "ann")
    .edge(START, "ben")
    .edge("ann", END)
    .edge("ben", END)
    .compile({ store });
}

test("a run goes on with a stored answer however it is continued: recover, resume or run", async () => {
  const service = await served();
  const flow = vote(service.store as unknown as Store);
  for (const [thread, goOn] of [
    ["recovered", async () => (await flow.recover())[0]?.result],
    ["resumed", () => flow.resume({ thread: "resumed" })],
    ["run", () => flow.run({ votes: [] }, { thread: "run", run: "r" })],
  ] as const) {
    await flow.run({ votes: [] }, { thread, run: "r" });
    const { interrupts } = await questionsOf(service, thread);
    for (const { id, node } of interrupts) await answer(service, thread, id, node === "ann" ? "yes" : "no");
    expect((await questionsOf(service, thread)).interrupts.map(({ answered }) => answered)).toEqual([true, true]);
    const result = await goOn();
    expect([thread, result?.status, result?.state.votes]).toEqual([thread, "done", ["ann: yes", "ben: no"]]);
  }
});

test("of two questions one can be answered: the other still waits", async () => {
  const service = await served();
  const flow = vote(service.store as unknown as Store);
  await flow.run({ votes: [] }, { thread: "t" });
  const { interrupts } = await questionsOf(service, "t");
  const ben = interrupts.find(({ node }) => node === "ben")!;
  await answer(service, "t", ben.id, "no");
  const result = await flow.resume({ thread: "t" });
  expect([result.status, result.interrupts.map(({ node }) => node)]).toEqual(["interrupted", ["ann"]]);
  const left = (await questionsOf(service, "t")).interrupts.filter(({ answered }) => !answered);
  expect(left.map(({ node }) => node)).toEqual(["ann"]);
  await answer(service, "t", left[0]!.id, "yes");
  expect((await flow.resume({ thread: "t" })).state.votes).toEqual(["ann: yes", "ben: no"]);
});

test("a question of a nested graph is answered where the thread shows it, or inside the graph that asked", async () => {
  const service = await served();
  const innermost = graph<Vote>("innermost")
    .reduce({ votes: append })
    .node("carol", (_, ctx) => ({ votes: [`carol: ${ctx.interrupt<string>("Carol?")}`] }))
    .edge(START, "carol")
    .edge("carol", END);
  const inner = graph<Vote>("inner")
    .reduce({ votes: append })
    .graph("table", innermost, { input: () => ({ votes: [] }) })
    .edge(START, "table")
    .edge("table", END);
  const flow = graph<Vote>("outer")
    .reduce({ votes: append })
    .graph("panel", inner, { input: () => ({ votes: [] }) })
    .edge(START, "panel")
    .edge("panel", END)
    .compile({ store: service.store as unknown as Store });
  for (const [thread, namespace] of [
    ["outside", []],
    ["within", ["panel", "0.0"]],
    ["inside", ["panel", "0.0", "table", "0.0"]],
  ] as const) {
    await flow.run({ votes: [] }, { thread });
    const { interrupts } = await questionsOf(service, thread, namespace);
    expect(interrupts).toMatchObject([{ answered: false }]);
    await answer(service, thread, interrupts[0]!.id, "yes", namespace);
    for (const place of [[], namespace]) {
      expect((await questionsOf(service, thread, place)).interrupts).toMatchObject([{ answered: true }]);
    }
    const [recovered] = await flow.recover();
    expect([thread, recovered?.result?.state.votes]).toEqual([thread, ["carol: yes"]]);
  }
});

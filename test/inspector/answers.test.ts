import { expect, test } from "vitest";
import { append, END, graph, START } from "../../src/runtime/index.ts";
import type { Store } from "../../src/store.ts";
import { type Served, served } from "./seed.ts";

interface Questions {
  readonly checkpoint: string;
  readonly interrupts: readonly { readonly id: string; readonly node: string; readonly answered: boolean }[];
}

async function questionsOf({ store, get }: Served, thread: string): Promise<Questions> {
  const checkpoint = (await store.thread(thread).latest())!.id;
  const facts = (await (await get("checkpoint", { thread, checkpoint })).json()) as Questions;
  return { checkpoint, interrupts: facts.interrupts };
}

async function answer(service: Served, thread: string, interrupt: string, value: unknown): Promise<void> {
  const { checkpoint } = await questionsOf(service, thread);
  expect((await service.post("answer", { thread, checkpoint, interrupt, value })).status).toBe(200);
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

test("a question of a nested graph is answered where the thread shows it", async () => {
  const service = await served();
  const inner = graph<Vote>("inner")
    .reduce({ votes: append })
    .node("carol", (_, ctx) => ({ votes: [`carol: ${ctx.interrupt<string>("Carol?")}`] }))
    .edge(START, "carol")
    .edge("carol", END);
  const flow = graph<Vote>("outer")
    .reduce({ votes: append })
    .graph("panel", inner, { input: () => ({ votes: [] }) })
    .edge(START, "panel")
    .edge("panel", END)
    .compile({ store: service.store as unknown as Store });
  await flow.run({ votes: [] }, { thread: "t" });
  const { interrupts } = await questionsOf(service, "t");
  expect(interrupts).toHaveLength(1);
  await answer(service, "t", interrupts[0]!.id, "yes");
  const [recovered] = await flow.recover();
  expect(recovered?.result?.state.votes).toEqual(["carol: yes"]);
});

import { expect, test } from "vitest";
import { append, END, type Flow, graph, START, send } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("answers go to their questions alone", ({ store: fresh }) => {
  function approving(store: unknown, actions: readonly string[], done: string[] = []): Flow<State> {
    const flow = graph<State>("approve").reduce({ out: append });
    for (const [index, action] of actions.entries()) {
      flow.node(action, (_, ctx) => {
        const approved = ctx.interrupt<boolean>({ action });
        if (approved) done.push(action);
        return { out: [`${action}: ${approved}`] };
      });
      flow.edge(index === 0 ? START : (actions[index - 1] as string), action);
    }
    return flow.edge(actions.at(-1) as string, END).compile({ store: store as never });
  }

  test("an answer by an id that is not open is NO_INTERRUPT, and nothing runs", async () => {
    const done: string[] = [];
    const flow = approving(await fresh(), ["read", "delete everything"], done);
    const first = (await flow.run({ out: [] }, { thread: "t" })).interrupts[0]?.id as string;
    await flow.resume({ thread: "t", answers: { [first]: true } });
    const stale = flow.resume({ thread: "t", answers: { [first]: true } });
    await expect(stale).rejects.toMatchObject({ code: "NO_INTERRUPT", thread: "t" });
    await expect(flow.resume({ thread: "t", value: { [first]: true } })).rejects.toThrow(TypeError);
    expect(done).toEqual(["read"]);
    expect((await flow.state("t"))?.interrupts).toMatchObject([{ value: { action: "delete everything" } }]);
  });

  test("ids of questions are safe in a url, those with a key and of nested graphs too", async () => {
    const inner = graph<State>("inner")
      .node("ask", (_, ctx) => ({ out: [ctx.interrupt<string>("?", { key: "läuft / das? #1" })] }))
      .edge(START, "ask")
      .edge("ask", END);
    const flow = graph<State>("outer")
      .graph("inner", inner)
      .edge(START, "inner")
      .edge("inner", END)
      .compile({ store: await fresh() });
    const { interrupts } = await flow.run({ out: [] }, { thread: "t" });
    const id = interrupts[0]?.id as string;
    expect(encodeURIComponent(id)).toBe(id);
    expect((await flow.resume({ thread: "t", answers: { [id]: "yes" } })).state.out).toEqual(["yes"]);
  });

  test("an answer that was stored against the head before the run put it again is found", async () => {
    const store = await fresh();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("ask", (_, ctx) => ({ out: [`${ctx.arg}: ${ctx.interrupt(ctx.arg)}`] }))
      .branch(START, () => ["a", "b", "c"].map((name) => send("ask", name)), ["ask"])
      .edge("ask", END)
      .compile({ store });
    const asked = await flow.run({ out: [] }, { thread: "t" });
    const [a, b, c] = asked.interrupts.map(({ id }) => id) as [string, string, string];
    // A program reads the head; the run answers another question and puts its position again; then the program answers.
    await flow.resume({ thread: "t", answers: { [a]: 1 } });
    const head = asked.checkpoint?.id as string;
    await store.thread("t").putWrites(head, { task: b, writes: [{ channel: "answer", value: 2, index: -4 }] });
    expect((await flow.state("t"))?.interrupts.map(({ id }) => id)).toEqual([c]);
    expect(await flow.recover()).toMatchObject([{ thread: "t", result: { status: "interrupted" } }]);
    expect((await flow.resume({ thread: "t", answers: { [c]: 3 } })).state.out).toEqual(["a: 1", "b: 2", "c: 3"]);
  });

  test("questions that are asked at the same time get their own answers, whatever their order", async () => {
    const store = await fresh();
    let order = ["first", "second"];
    const flow = graph<State>("w")
      .node("ask", async (_, ctx) => {
        const asking = order.map(async (name) => `${name}=${ctx.interrupt<string>(name)}`);
        return { out: (await Promise.all(asking)).sort() };
      })
      .node("keyed", async (_, ctx) => {
        const asking = order.map(async (name) => `${name}=${ctx.interrupt<string>("the same?", { key: name })}`);
        return { out: (await Promise.all(asking)).sort() };
      })
      .edge(START, "ask")
      .edge("ask", "keyed")
      .edge("keyed", END)
      .compile({ store });
    const asked = await flow.run({ out: [] }, { thread: "t" });
    expect(asked.interrupts.map(({ value }) => value)).toEqual(["first", "second"]);
    order = ["second", "first"];
    const answers = Object.fromEntries(asked.interrupts.map(({ id, value }) => [id, `to ${value}`]));
    const keyed = await flow.resume({ thread: "t", answers });
    expect(keyed.state.out).toEqual(["first=to first", "second=to second"]);
    order = ["first", "second"];
    const byKey = keyed.interrupts.map(({ id }) => [id, id.includes("first") ? "1" : "2"]);
    const done = await flow.resume({ thread: "t", answers: Object.fromEntries(byKey) });
    expect(done.state.out).toEqual(["first=1", "second=2"]);
  });

  test("a question with another payload is asked again, with a key too", async () => {
    const store = await fresh();
    let amount = 10;
    const flow = graph<State>("w")
      .node("pay", (_, ctx) => ({ out: [`${amount}: ${ctx.interrupt({ amount }, { key: "approve" })}`] }))
      .edge(START, "pay")
      .edge("pay", END)
      .compile({ store });
    await flow.run({ out: [] }, { thread: "t" });
    amount = 1_000;
    const again = await flow.resume({ thread: "t", value: true });
    expect([again.status, again.interrupts.map(({ value }) => value)]).toEqual(["interrupted", [{ amount: 1_000 }]]);
    expect((await flow.resume({ thread: "t", value: true })).state.out).toEqual(["1000: true"]);
  });

  test("an answer that does not fit the node's schema is refused, and nothing runs", async () => {
    const isNumber = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) =>
          typeof value === "number" ? { value: value * 2 } : { issues: [{ message: "must be a number" }] },
      },
    };
    const flow = graph<State>("w")
      .node("ask", (_, ctx) => ({ out: [`${ctx.interrupt("how many?")}`] }), { answer: isNumber })
      .edge(START, "ask")
      .edge("ask", END)
      .compile({ store: await fresh() });
    const { interrupts } = await flow.run({ out: [] }, { thread: "t" });
    const refused = flow.resume({ thread: "t", value: "three" });
    await expect(refused).rejects.toMatchObject({ code: "INVALID_ANSWER", issues: [{ message: "must be a number" }] });
    const done = await flow.resume({ thread: "t", answers: { [interrupts[0]?.id as string]: 3 } });
    expect(done.state.out).toEqual(["6"]);
  });

  test("two hundred questions answered one by one write what they say, not its square", async () => {
    const store = await fresh();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("ask", (_, ctx) => ({ out: [`${ctx.arg}: ${"x".repeat(500)} ${ctx.interrupt(`question ${ctx.arg}`)}`] }))
      .branch(START, () => Array.from({ length: 100 }, (_, index) => send("ask", index)), ["ask"])
      .edge("ask", END)
      .compile({ store });
    let result = await flow.run({ out: [] }, { thread: "t" });
    while (result.status === "interrupted") {
      const id = result.interrupts[0]?.id as string;
      result = await flow.resume({ thread: "t", answers: { [id]: "yes" } });
    }
    expect(result.state.out).toHaveLength(100);
    const { bytes } = await store.measure();
    expect(bytes.writes).toBeLessThan(1_500_000);
    expect((await store.verify()).faults).toEqual([]);
  });
});

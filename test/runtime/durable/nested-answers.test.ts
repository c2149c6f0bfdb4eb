import { expect, test } from "vitest";
import { append, END, graph, START, send } from "../../../src/runtime/index.ts";
import { deferred } from "../support/checkpoints.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  log: string[];
}

onMemoryAndSqlite("answers to questions at several levels", ({ store: fresh }) => {
  test("an answer that comes while a nested graph runs goes to the question it names, not to one inside", async () => {
    const store = await fresh();
    const answered = deferred();
    const inner = graph<State>("inner")
      .reduce({ log: append })
      .node("ask", async (_, ctx) => {
        await answered.promise;
        return { log: [`inside: ${ctx.interrupt("Delete everything?")}`] };
      })
      .edge(START, "ask")
      .edge("ask", END);
    const flow = graph<State>("outer")
      .reduce({ log: append })
      .node("ask", (_, ctx) => ({ log: [`outside: ${ctx.interrupt("Send the mail?")}`] }))
      .graph("inner", inner, { input: () => ({ log: [] }), output: ({ log }) => ({ log }) })
      .branch(START, () => [send("ask"), send("inner")], ["ask", "inner"])
      .edge("ask", END)
      .edge("inner", END)
      .compile({ store });
    const running = flow.run({ log: [] }, { thread: "t" });
    let question: string | undefined;
    while (question === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      question = (await flow.state("t"))?.interrupts[0]?.id;
    }
    await flow.answer("t", question, "yes");
    answered.resolve();
    const { interrupts } = await running;
    expect(interrupts.map(({ value }) => value)).toEqual(["Delete everything?"]);
    const { state } = await flow.resume({ thread: "t", value: "no" });
    expect(state.log).toEqual(["outside: yes", "inside: no"]);
  });
});

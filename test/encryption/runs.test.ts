import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Annotation, Command, interrupt, START, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { open } from "../../src/index.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { START as BEGIN, END, graph } from "../../src/runtime/index.ts";
import { makeFolder, removeFolder } from "../support/temporary-folder.ts";

const encryption = { current: "one", keys: { one: randomBytes(32) } };

test("a graph of LangGraph is asked, closed, opened again and answered on an encrypted store", async () => {
  const folder = makeFolder();
  try {
    const url = `sqlite:${join(folder, "agent.db")}` as const;
    const State = Annotation.Root({
      said: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
    });
    const build = new StateGraph(State)
      .addNode("ask", () => ({ said: [interrupt("pomegranate?") as string] }))
      .addEdge(START, "ask");
    const config = { configurable: { thread_id: "t" } };
    const first = await open(url, { encryption });
    await build.compile({ checkpointer: new ThreadmarkSaver(first) }).invoke({ said: ["hello"] }, config);
    await first.close();
    const second = await open(url, { encryption });
    const app = build.compile({ checkpointer: new ThreadmarkSaver(second) });
    expect((await app.invoke(new Command({ resume: "yes" }), config)).said).toEqual(["hello", "yes"]);
    expect(await second.verify()).toEqual({ ok: true, faults: [] });
    await second.close();
  } finally {
    removeFolder(folder);
  }
});

test("a run is interrupted, answered from outside and finished on an encrypted store", async () => {
  const store = await open<{ answer: string }>("memory:", { encryption });
  const flow = graph<{ answer: string }>("support")
    .node("ask", (_state, ctx) => ({ answer: ctx.interrupt("pomegranate?") as string }))
    .edge(BEGIN, "ask")
    .edge("ask", END)
    .compile({ store });
  const asked = await flow.run({ answer: "" }, { thread: "t" });
  expect(asked.status).toBe("interrupted");
  const [question] = asked.interrupts;
  const done = await flow.resume({ thread: "t", answers: { [question?.id ?? ""]: "yes" } });
  expect(done).toMatchObject({ status: "done", state: { answer: "yes" } });
  await store.close();
});

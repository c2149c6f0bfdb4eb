/**
 * Run by the tests of runs whose saver refuses something: `refused-runs.ts <url>`. Every case is a run that fails while its next
 * node is at work, then a run on the same thread that does not. It prints how both ended, a line a case. Nothing here listens
 * for rejections that nobody handles: one would end the process before the last line.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  Annotation,
  type Command,
  END,
  entrypoint,
  interrupt,
  Send,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";
import { open } from "../../../src/api/open.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { ThreadmarkError } from "../../../src/errors.ts";
import { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import { forwarding } from "../../../src/testing/index.ts";

const [url = "memory:"] = process.argv.slice(2);
const store = await open(url);
const saver = new ThreadmarkSaver(store);

/** Longer than it takes the saver to refuse something. */
const work = (): Promise<void> => sleep(60);

const State = Annotation.Root({
  value: Annotation<unknown>,
  made: Annotation<unknown>({ reducer: (_before, name) => (name === "bad" ? () => 1 : name), default: () => "" }),
  log: Annotation<string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});
type Update = typeof State.Update;

/** A graph of three nodes: what the first gives may not be storable, and two follow that take their time. */
function steps(first: () => Update | Command | Promise<Update>) {
  return new StateGraph(State)
    .addNode("first", first)
    .addNode("second", async () => {
      await work();
      return { log: ["second"] };
    })
    .addNode("third", async () => {
      await work();
      return { log: ["third"] };
    })
    .addEdge(START, "first")
    .addEdge("first", "second")
    .addEdge("second", "third")
    .addEdge("third", END);
}

let bad = true;
const when = (wrong: Update, right: Update) => (): Update => (bad ? wrong : right);
const value = steps(when({ value: { call: () => 1 } }, { value: "good" }));
const made = steps(when({ made: "bad" }, { made: "good" }));
const asked = steps(() => ({ value: interrupt(bad ? { call: () => 1 } : "what?") }));
const nested = new StateGraph(State)
  .addNode("outer", value.compile())
  .addNode("after", () => work().then(() => ({})))
  .addEdge(START, "outer")
  .addEdge("outer", "after")
  .addEdge("after", END);
const nestedMade = new StateGraph(State).addNode("outer", made.compile()).addEdge(START, "outer").addEdge("outer", END);
const last = new StateGraph(State)
  .addNode("only", when({ made: "bad" }, { made: "good" }))
  .addEdge(START, "only")
  .addEdge("only", END);
const nestedLast = new StateGraph(State).addNode("outer", last.compile()).addEdge(START, "outer").addEdge("outer", END);
const parallel = new StateGraph(State)
  .addNode("first", () => ({}))
  .addNode("fine", async () => {
    await work();
    return { log: ["fine"] };
  })
  .addNode("wrong", when({ value: { call: () => 1 } }, { value: "good" }))
  .addEdge(START, "first")
  .addConditionalEdges("first", () => [new Send("fine", {}), new Send("wrong", {})]);
const charge = task("charge", async () => {
  await work();
  return bad ? { call: () => 1 } : "good";
});

interface Runnable {
  invoke(input: never, config: object): Promise<unknown>;
  stream(input: never, config: object): Promise<AsyncIterable<unknown>>;
}

const compiled = (graph: { compile(options: object): unknown }, options: object = {}): Runnable =>
  graph.compile({ checkpointer: saver, ...options }) as Runnable;

const cases: Readonly<Record<string, { readonly graph: Runnable; readonly input?: () => unknown }>> = {
  "a value": { graph: compiled(value) },
  "a value in parallel": { graph: compiled(parallel) },
  "a value of a nested graph": { graph: compiled(nested) },
  "a question": { graph: compiled(asked) },
  "a value that a reducer makes": { graph: compiled(made) },
  "a value that a reducer makes in the last step": { graph: compiled(last) },
  "a value that a reducer makes before a breakpoint": { graph: compiled(made, { interruptBefore: ["second"] }) },
  "a value that a reducer makes in a nested graph": { graph: compiled(nestedMade) },
  "a value that a reducer makes in the last step of a nested graph": { graph: compiled(nestedLast) },
  "the input": {
    graph: compiled(steps(() => work().then(() => ({ log: ["first"] })))),
    input: () => ({ value: bad ? { call: () => 1 } : "good" }),
  },
  "a result of a task": { graph: entrypoint({ name: "flow", checkpointer: saver }, () => charge()) as never },
};

async function ending(run: () => Promise<unknown>): Promise<object> {
  try {
    await run();
    return {};
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return { code, message };
  }
}

const ways: Readonly<Record<string, (graph: Runnable, input: never, config: object) => Promise<unknown>>> = {
  invoke: (graph, input, config) => graph.invoke(input, config),
  stream: async (graph, input, config) => {
    for await (const _part of await graph.stream(input, config));
  },
};

for (const durability of ["async", "sync", "exit"]) {
  for (const [name, { graph, input = () => ({ log: ["input"] }) }] of Object.entries(cases)) {
    for (const [way, run] of Object.entries(ways)) {
      const thread = `${durability} ${name} ${way}`;
      const config = { configurable: { thread_id: thread }, durability };
      bad = true;
      const refused = await ending(() => run(graph, input() as never, config));
      bad = false;
      const again = await ending(() => run(graph, input() as never, config));
      const tuple = await saver.getTuple({ configurable: { thread_id: thread } });
      console.log(JSON.stringify({ durability, name, way, refused, again, stored: tuple !== undefined }));
    }
  }
}
await saver.close();
await store.close();

/** A run that loses its store, in one way or another, while its second node is at work. */
async function losing(
  name: string,
  using: ThreadmarkSaver,
  lose: (thread: string) => Promise<unknown>,
  mend: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  let whole = false;
  const graph = new StateGraph(State)
    .addNode("first", async () => {
      await work();
      if (!whole) await lose(name);
      return { log: ["first"] };
    })
    .addNode("second", () => work().then(() => ({ log: ["second"] })))
    .addEdge(START, "first")
    .addEdge("first", "second")
    .addEdge("second", END)
    .compile({ checkpointer: using });
  const config = { configurable: { thread_id: name }, durability: "async" as const };
  const refused = await ending(() => graph.invoke({ log: ["input"] }, config));
  whole = true;
  await mend();
  const again = await ending(() => graph.invoke({ log: ["input"] }, config));
  console.log(JSON.stringify({ durability: "async", name, way: "invoke", refused, again }));
}

const fenced = await ThreadmarkSaver.open("memory:", { exclusive: true });
await losing("FENCED", fenced, (thread) => fenced.store.thread(thread).delete());
await fenced.close();
const closed = await ThreadmarkSaver.open("memory:");
await losing("CLOSED", closed, () => closed.store.close());
const medium = memory();
let broken = false;
const failing = forwarding(medium, {
  commit: async (batches) => {
    if (broken) throw new ThreadmarkError("BACKEND", "The disk is gone.", { committed: false });
    return medium.commit(batches);
  },
});
const unlucky = new ThreadmarkSaver(await open(failing));
const breaking = (now: boolean) => async (): Promise<void> => {
  broken = now;
};
await losing("BACKEND", unlucky, breaking(true), breaking(false));
await unlucky.store.close();
console.log(JSON.stringify({ done: true }));

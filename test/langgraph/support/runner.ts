/**
 * Run by the tests of runs in several processes: `runner.ts <url> <options as JSON> <exclusive as JSON> <name>`. Invokes a graph
 * on a thread for every line `run <thread> <steps>` it reads, and answers how that ended. Each step says that it began, and
 * waits for a line `go` if the runner was told to `hold`.
 */
import { createInterface } from "node:readline";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { open } from "../../../src/api/open.ts";
import { ThreadmarkError } from "../../../src/errors.ts";
import { type ExclusiveOptions, ThreadmarkSaver } from "../../../src/langgraph/index.ts";

const [url = "", options = "{}", exclusive = "false", name = ""] = process.argv.slice(2);
const store = await open(url, JSON.parse(options) as Record<string, unknown>);
const saver = new ThreadmarkSaver(store, { exclusive: JSON.parse(exclusive) as boolean | ExclusiveOptions });
const say = (what: Record<string, unknown>): void => console.log(JSON.stringify(what));

let holding = false;
let go: () => void = () => undefined;

const State = Annotation.Root({
  steps: Annotation<number>,
  log: Annotation<string[]>({ reducer: (before, added) => [...before, ...added], default: () => [] }),
});
const graph = new StateGraph(State)
  .addNode("work", async (state) => {
    say({ began: state.log.length });
    if (holding) {
      await new Promise<void>((resolve) => {
        go = resolve;
      });
    }
    return { log: [`${name} after ${state.log.length}`], steps: state.steps - 1 };
  })
  .addEdge(START, "work")
  .addConditionalEdges("work", (state) => (state.steps > 0 ? "work" : END))
  .compile({ checkpointer: saver });

async function run(thread: string, steps: number): Promise<void> {
  const config = {
    configurable: { thread_id: thread },
    metadata: { by: name },
    recursionLimit: 1000,
    // `sync` commits each step before the next begins, so that a process can be killed in a known step.
    durability: exclusive === "false" ? ("async" as const) : ("sync" as const),
  };
  try {
    const { log } = await graph.invoke({ steps, log: [`${name} begins`] }, config);
    say({ ended: log });
  } catch (error) {
    const code = error instanceof ThreadmarkError ? error.code : String(error);
    say({ failed: code, message: error instanceof Error ? error.message : "" });
  }
}

say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const [what, thread = "", steps = "1"] = line.split(" ");
  if (what === "hold") holding = true;
  else if (what === "go") go();
  else void run(thread, Number(steps));
}
await saver.close();
await store.close();

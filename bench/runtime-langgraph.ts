/** The same line of empty nodes in LangGraph.js with its own savers: `node bench/runtime-langgraph.ts [runs]`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Annotation, END, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { measureSteps, type StepRunner, stepsInRun, tableOf, threadmarkRunners } from "./runtime.ts";

const State = Annotation.Root({ n: Annotation<number> });

/** LangGraph on one of its savers. */
function langgraphRunner(backend: string, saver: BaseCheckpointSaver, close: () => void): StepRunner {
  // The builder's type grows with every node that is added in a chain; here they are added in a loop.
  const builder = new StateGraph(State) as unknown as {
    addNode(name: string, run: () => object): void;
    addEdge(from: string, to: string): void;
    compile(options: { checkpointer: BaseCheckpointSaver }): {
      invoke(input: object, options: object): Promise<unknown>;
    };
  };
  for (let step = 0; step < stepsInRun; step += 1) {
    builder.addNode(`n${step}`, () => ({}));
    builder.addEdge(step === 0 ? START : `n${step - 1}`, `n${step}`);
  }
  builder.addEdge(`n${stepsInRun - 1}`, END);
  const compiled = builder.compile({ checkpointer: saver });
  return {
    system: "langgraph",
    backend,
    run: async (thread, durability) => {
      const options = { configurable: { thread_id: thread }, durability, recursionLimit: stepsInRun + 5 };
      await compiled.invoke({ n: 1 }, options);
    },
    close: async () => close(),
  };
}

interface SqlitePackage {
  readonly SqliteSaver: {
    fromConnString(path: string): BaseCheckpointSaver & { readonly db: { close(): void } };
  };
}

/** LangGraph's savers that need no server. SQLite's is there once bench/ has its own packages: `npm install` in it. */
async function langgraphRunners(directory: string): Promise<readonly StepRunner[]> {
  const runners = [langgraphRunner("memory", new MemorySaver(), () => {})];
  try {
    // Not a literal: the package is not there to be checked against before bench/ has been installed.
    const saverPackage = "@langchain/langgraph-checkpoint-sqlite";
    const { SqliteSaver } = (await import(saverPackage)) as SqlitePackage;
    const saver = SqliteSaver.fromConnString(join(directory, "langgraph.db"));
    runners.push(langgraphRunner("sqlite, fsync full", saver, () => saver.db.close()));
  } catch (error) {
    console.log(`LangGraph's SQLite saver is not measured: ${String(error).split("\n")[0]}`);
  }
  return runners;
}

const directory = mkdtempSync(join(tmpdir(), "threadmark-bench-"));
const runners = [...(await threadmarkRunners(directory)), ...(await langgraphRunners(directory))];
const runs = Number(process.argv[2] ?? 10);
console.log(`A step of a line of ${stepsInRun} empty nodes, ${runs} runs`);
console.log(tableOf(await measureSteps(runners, runs)));
for (const runner of runners) await runner.close();
rmSync(directory, { recursive: true, force: true });

import { Annotation, END, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { open } from "../../src/index.ts";
import { type Durability, START as FIRST, graph, END as LAST } from "../../src/runtime/index.ts";
import { originalSqliteSaver } from "../environment/langgraph-savers.ts";
import type { Place } from "../environment/place.ts";
import type { Part } from "../harness/context.ts";
import type { Cell } from "../harness/report.ts";
import { Timings } from "../harness/timing.ts";
import { fanOut, recovery, takeover } from "./runtime-work.ts";

const steps = 50;
const durabilities: readonly Durability[] = ["sync", "async", "exit"];

/** Something that runs a line of empty nodes on a thread of its own, once. */
interface Runner {
  readonly name: string;
  run(thread: string, durability: Durability): Promise<unknown>;
  close(): Promise<void>;
}

async function threadmarkRunner(home: string, url: string, fsync?: "normal" | "full"): Promise<Runner> {
  const store = await open(url, fsync === undefined ? {} : { fsync });
  const builder = graph<{ n: number }>("line");
  for (let step = 0; step < steps; step += 1)
    builder.node(`n${step}`, () => undefined).edge(step === 0 ? FIRST : `n${step - 1}`, `n${step}`);
  const flow = builder.edge(`n${steps - 1}`, LAST).compile({ store });
  return {
    name: `Threadmark runtime, ${home}`,
    run: (thread, durability) => flow.run({ n: 1 }, { thread, durability }),
    close: () => store.close(),
  };
}

const State = Annotation.Root({ n: Annotation<number> });

function langgraphRunner(home: string, saver: BaseCheckpointSaver, close: () => Promise<void>): Runner {
  // The builder's type grows with every node that is added in a chain; here they are added in a loop.
  const builder = new StateGraph(State) as unknown as {
    addNode(name: string, run: () => object): void;
    addEdge(from: string, to: string): void;
    compile(options: { checkpointer: BaseCheckpointSaver }): {
      invoke(input: object, options: object): Promise<unknown>;
    };
  };
  for (let step = 0; step < steps; step += 1) {
    builder.addNode(`n${step}`, () => ({}));
    builder.addEdge(step === 0 ? START : `n${step - 1}`, `n${step}`);
  }
  builder.addEdge(`n${steps - 1}`, END);
  const compiled = builder.compile({ checkpointer: saver });
  return {
    name: `LangGraph.js, ${home}`,
    run: (thread, durability) =>
      compiled.invoke({ n: 1 }, { configurable: { thread_id: thread }, durability, recursionLimit: steps + 5 }),
    close,
  };
}

async function runnersIn(place: Place): Promise<readonly Runner[]> {
  const normal = await originalSqliteSaver(place.path("langgraph"), "normal");
  const full = await originalSqliteSaver(place.path("langgraph"), "full");
  return [
    await threadmarkRunner("memory", "memory:"),
    langgraphRunner("memory", new MemorySaver(), async () => {}),
    await threadmarkRunner("SQLite, fsync normal", `sqlite:${place.path("runtime")}`, "normal"),
    langgraphRunner("SQLite, fsync normal", normal.saver, normal.close),
    await threadmarkRunner("SQLite, fsync full", `sqlite:${place.path("runtime")}`, "full"),
    langgraphRunner("SQLite, fsync full", full.saver, full.close),
  ];
}

/** Measures the runtime and the store by themselves: the nodes do nothing, so no step can cost less. */
export const runtime: Part = {
  name: "runtime",
  title: "a step of a graph beside LangGraph.js, fan-out, takeover and recovery",
  async run(context) {
    const { place, report, quick } = context;
    const runners = await runnersIn(place);
    const contests = runners.flatMap((runner) =>
      durabilities.map((durability) => ({ runner, durability, times: new Timings() })),
    );
    const runs = quick ? 2 : 8;
    // All of them in turns, so that they meet the same machine. The first runs warm up.
    for (let round = quick ? -1 : -2; round < runs; round += 1) {
      for (const { runner, durability, times } of contests) {
        const begun = performance.now();
        await runner.run(`${durability} ${round}`, durability);
        if (round >= 0) times.add(((performance.now() - begun) * 1_000) / steps);
      }
    }
    for (const runner of runners) await runner.close();
    const rows: Cell[][] = runners.map((runner) => [
      runner.name,
      ...contests.filter((contest) => contest.runner === runner).map(({ times }) => times.p50),
    ]);
    report.table(
      `A step of a line of ${steps} empty nodes, p50, by durability`,
      [{ title: "" }, ...durabilities.map((title) => ({ title, unit: "µs" }) as const)],
      rows,
    );
    const perSecond = rows.map(([name, time]): Cell[] => [name as string, Math.round(1_000_000 / (time as number))]);
    report.table("Steps a second, sync", [{ title: "" }, { title: "steps", unit: "/s" }], perSecond);
    await fanOut(context);
    await takeover(context);
    await recovery(context);
  },
};

import { Annotation, END, MemorySaver, Send, START, StateGraph } from "@langchain/langgraph";
import { open, type Store } from "../../src/index.ts";
import { append, START as FIRST, type Flow, graph, END as LAST, send } from "../../src/runtime/index.ts";
import type { Place } from "../environment/place.ts";
import type { Context } from "../harness/context.ts";
import type { Cell } from "../harness/report.ts";
import { Timings } from "../harness/timing.ts";

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function fan(store: Store<unknown>, width: number): Flow<{ out: number[] }> {
  return graph<{ out: number[] }>("fan")
    .reduce({ out: append })
    .node("work", (_, ctx) => ({ out: [ctx.arg as number] }))
    .branch(FIRST, () => Array.from({ length: width }, (_, index) => send("work", index)), ["work"])
    .edge("work", LAST)
    .compile({ store });
}

const State = Annotation.Root({
  out: Annotation<number[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

/** A step of many tasks, each of which returns a number. */
export async function fanOut({ place, report, quick }: Context): Promise<void> {
  const width = quick ? 1_000 : 10_000;
  const rows: Cell[][] = [];
  for (const [name, url] of [
    ["memory", "memory:"],
    ["SQLite, fsync normal", `sqlite:${place.path("fan")}`],
  ] as const) {
    await using store = await (url === "memory:" ? open(url) : open(url, { fsync: "normal" }));
    const flow = fan(store, width);
    await fan(store, 100).run({ out: [] }, { thread: "warm" });
    const times = new Timings();
    for (let round = 0; round < 3; round += 1) {
      times.add(await milliseconds(() => flow.run({ out: [] }, { thread: `t${round}` })));
    }
    rows.push([`Threadmark runtime, ${name}`, times.p50]);
  }
  // LangGraph's time grows with the square of the tasks: 10,000 take minutes.
  const fewer = Math.min(width, 1_000);
  const compiled = new StateGraph(State)
    .addNode("work", (arg: unknown) => ({ out: [(arg as { index: number }).index] }))
    .addConditionalEdges(START, () => Array.from({ length: fewer }, (_, index) => new Send("work", { index })))
    .addEdge("work", END)
    .compile({ checkpointer: new MemorySaver() });
  const other = await milliseconds(() => compiled.invoke({ out: [] }, { configurable: { thread_id: "t" } }));
  rows.push([`LangGraph.js, memory, ${fewer} tasks, once`, other]);
  report.table(`A step of ${width} tasks`, [{ title: "" }, { title: "time", unit: "ms" }], rows);
}

/** The time from the end of a dead worker's lease until another worker runs its node. */
export async function takeover({ place, report, quick }: Context): Promise<void> {
  const url = `sqlite:${place.path("takeover")}`;
  await using store = await open(url, { fsync: "normal" });
  await using died = await open(url, { fsync: "normal" });
  const taken = new Map<string, () => void>();
  const flow = graph<{ n?: number }>("takeover")
    .node("work", (_, ctx) => taken.get(ctx.thread as string)?.())
    .edge(FIRST, "work")
    .edge("work", LAST)
    .compile({ store });
  const ttl = 300;
  const times = new Timings();
  for (let round = 0; round < (quick ? 5 : 20); round += 1) {
    const thread = `t${round}`;
    await flow.start({}, { thread });
    const working = new Promise<void>((resolve) => taken.set(thread, resolve));
    // A holder that does not renew its lease is one that died.
    await died.thread(thread).acquire({ ttl });
    const ends = performance.now() + ttl;
    const worker = flow.worker();
    await working;
    times.add(performance.now() - ends);
    await worker.stop();
  }
  const { p50, worst } = times;
  report.table(
    "From the end of a dead worker's lease until another runs its node, SQLite",
    [{ title: "" }, { title: "p50", unit: "ms" }, { title: "slowest", unit: "ms" }],
    [["takeover", p50, worst]],
  );
  report.target("takeover after the end of the lease, p50", p50, 100, { unit: "ms" });
}

async function finished(place: Place, count: number): Promise<Store<unknown>> {
  const store = await open(`sqlite:${place.path("finished")}`, { fsync: "normal" });
  for (let done = 0; done < count; done += 1_000) {
    const batch = Array.from({ length: 1_000 }, (_, index) => `done-${done + index}`);
    await Promise.all(batch.map((id) => store.thread(id).put({ state: { n: 1 }, workflow: "many" })));
  }
  return store;
}

/** Recovery of a few runs among many finished threads. */
export async function recovery({ place, report, quick }: Context): Promise<void> {
  const rows: Cell[][] = [];
  for (const count of quick ? [1_000, 5_000] : [1_000, 100_000]) {
    await using store = await finished(place, count);
    const flow = graph<{ n: number }>("many")
      .node("work", () => ({ n: 2 }))
      .edge(FIRST, "work")
      .edge("work", LAST)
      .compile({ store });
    const times = new Timings();
    for (let round = 0; round < 5; round += 1) {
      for (let index = 0; index < 10; index += 1) await flow.start({ n: 0 }, { thread: `run-${round}-${index}` });
      times.add(
        await milliseconds(async () => {
          const recovered = await flow.recover();
          if (recovered.length !== 10) throw new Error(`${recovered.length} of 10 runs were recovered.`);
        }),
      );
    }
    rows.push([`${count} finished threads`, times.p50]);
  }
  report.table("recover() of 10 runs, SQLite", [{ title: "" }, { title: "p50", unit: "ms" }], rows);
  const [few, many] = rows.map((row) => row[1] as number) as [number, number];
  report.target("recover() among many finished threads against few", many / few, 2);
}

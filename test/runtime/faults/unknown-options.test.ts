import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { type Context, END, graph, START } from "../../../src/runtime/index.ts";

interface State {
  n: number;
}

/** An option that no call has. */
const misspelt = { bogus: 1 } as never;

function builder(work: (ctx: Context) => unknown = () => undefined) {
  return graph<State>("w")
    .node("a", async (_, ctx) => {
      await work(ctx as Context);
      return {};
    })
    .edge(START, "a")
    .edge("a", END);
}

const unknown = /^The options object of .* has an unknown key "bogus"/;

async function compiled() {
  return builder().compile({ store: await open("memory:") });
}

type Flow = Awaited<ReturnType<typeof compiled>>;

const calls: Readonly<Record<string, (flow: Flow) => unknown>> = {
  run: (flow) => flow.run({ n: 1 }, misspelt),
  resume: (flow) => flow.resume({ thread: "t", ...(misspelt as object) }),
  stream: (flow) => flow.stream({ n: 1 }, misspelt).next(),
  streamResume: (flow) => flow.streamResume({ thread: "t", ...(misspelt as object) }).next(),
  start: (flow) => flow.start({ n: 1 }, { thread: "t", ...(misspelt as object) }),
  recover: (flow) => flow.recover(misspelt),
  worker: (flow) => flow.worker(misspelt),
  update: (flow) => flow.update("t", { n: 2 }, misspelt),
  fork: (flow) => flow.fork("t", misspelt),
  signal: (flow) => flow.signal("t", "name", 1, misspelt),
  cancel: (flow) => flow.cancel("t", misspelt),
  follow: (flow) => flow.follow("t", misspelt).next(),
  history: (flow) => flow.history("t", misspelt).next(),
  graph: () => graph("w", misspelt),
  node: () => graph<State>("w").node("a", () => ({}), misspelt),
  retry: () => graph<State>("w").node("a", () => ({}), { retry: { attempts: 1, ...(misspelt as object) } }),
  "nested graph": () => graph<State>("w").graph("a", builder(), misspelt),
  compile: () => builder().compile(misspelt),
  lease: () => builder().compile({ lease: misspelt }),
};

test.each(Object.keys(calls))(
  "an unknown option of %s is a TypeError that names it, and nothing is done",
  async (name) => {
    const flow = await compiled();
    await expect((async () => calls[name]?.(flow))()).rejects.toThrow(unknown);
    expect(await flow.state("t")).toBeUndefined();
  },
);

test.each<[string, (ctx: Context) => unknown]>([
  ["interrupt", (ctx) => ctx.interrupt("?", misspelt)],
  ["waitFor", (ctx) => ctx.waitFor("name", misspelt)],
  ["emit", (ctx) => ctx.emit(1, misspelt)],
])("an unknown option of ctx.%s fails the node with a TypeError that names it", async (_, work) => {
  const flow = builder(work).compile({ store: await open("memory:") });
  const failure = await flow.run({ n: 1 }, { thread: "t" }).catch((error: Error) => error);
  expect(String((failure as Error).cause)).toMatch(/unknown key "bogus"/);
});

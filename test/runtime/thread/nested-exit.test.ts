import { expect, test } from "vitest";
import { open, type Store } from "../../../src/index.ts";
import { append, type Context, END, type Flow, graph, START, send } from "../../../src/runtime/index.ts";
import { sharedMemory } from "../../../src/testing/index.ts";
import { deferred } from "../support/checkpoints.ts";

interface State {
  log: string[];
}

type Work = (ctx: Context) => unknown;

/** A graph of two nodes, nested beside a node. With `exit`, a position is in the store only once something was kept against it. */
function nestedBeside(store: Store<unknown>, first: Work, second: Work, beside: Work): Flow<State> {
  const nested = graph<State>("nested")
    .reduce({ log: append })
    .node("first", async (_, ctx) => {
      await first(ctx);
      return { log: ["first"] };
    })
    .node("second", async (_, ctx) => {
      await second(ctx);
      return { log: ["second"] };
    })
    .edge(START, "first")
    .edge("first", "second")
    .edge("second", END);
  return graph<State>("outer")
    .reduce({ log: append })
    .graph("nested", nested, { input: () => ({ log: [] }), output: ({ log }) => ({ log }), retry: { attempts: 2 } })
    .node("beside", async (_, ctx) => {
      await beside(ctx);
      return { log: ["beside"] };
    })
    .branch(START, () => [send("nested"), send("beside")], ["nested", "beside"])
    .edge("nested", END)
    .edge("beside", END)
    .compile({ store, durability: "exit" });
}

const idle: Work = () => {};
let failures = 0;
const failsOnce: Work = () => {
  failures += 1;
  if (failures === 1) throw new Error("down");
};
const once =
  (ran: string[]): Work =>
  (ctx) =>
    ctx.step("once", () => ran.push(ctx.node));
const inOrder =
  (...works: readonly Work[]): Work =>
  async (ctx) => {
    for (const work of works) await work(ctx);
  };

const all = ["first", "second", "beside"];

test("exit: a nested graph that fails after a remembered step goes on where it failed", async () => {
  const ran: string[] = [];
  let down = true;
  const flow = nestedBeside(
    await open("memory:"),
    once(ran),
    () => {
      if (down) throw new Error("down");
    },
    idle,
  );
  await expect(flow.run({ log: [] }, { thread: "t" })).rejects.toMatchObject({ code: "NODE_FAILED" });
  down = false;
  expect((await flow.resume({ thread: "t" })).state.log).toEqual(all);
  expect(ran).toEqual(["first"]);
});

test("exit: a nested graph that stopped before its outer position was stored goes on where it stopped", async () => {
  const ran: string[] = [];
  const stopped = deferred();
  let now = 1_900_000_000_000;
  let down = true;
  const flow = nestedBeside(
    await open("memory:", { clock: () => now }),
    () => ran.push("first"),
    async (ctx) => {
      setTimeout(() => stopped.resolve(), 5);
      await ctx.sleep(60_000);
    },
    async (ctx) => {
      await stopped.promise;
      await ctx.step("beside", () => 1);
      if (down) throw new Error("down");
    },
  );
  await expect(flow.run({ log: [] }, { thread: "t" })).rejects.toMatchObject({ code: "NODE_FAILED" });
  down = false;
  now += 60_000;
  expect((await flow.resume({ thread: "t" })).state.log).toEqual(all);
  expect(ran).toEqual(["first"]);
});

const cases: readonly [string, (once: Work) => readonly [Work, Work]][] = [
  ["has ended", (step) => [step, idle]],
  ["has stopped", (step) => [step, (ctx) => ctx.sleep(600_000)]],
  ["was tried again", (step) => [idle, inOrder(failsOnce, step)]],
];

test.each(cases)(
  "exit: a remembered step is not run again if the process dies when its nested graph %s",
  async (_, works) => {
    const place = sharedMemory();
    const ran: string[] = [];
    let now = 1_900_000_000_000;
    const begin = async (beside: Work): Promise<Flow<State>> =>
      nestedBeside(await open(place, { clock: () => now }), ...works(once(ran)), beside);
    const reached = deferred();
    const dying = await begin(async () => {
      // Nothing tells that a nested graph has done all it will.
      setTimeout(() => reached.resolve(), 50);
      await new Promise(() => {});
    });
    void dying.run({ log: [] }, { thread: "t" });
    await reached.promise;
    expect(ran).toHaveLength(1);
    now += 700_000;
    expect((await (await begin(idle)).resume({ thread: "t" })).state.log).toEqual(all);
    expect(ran).toHaveLength(1);
  },
);

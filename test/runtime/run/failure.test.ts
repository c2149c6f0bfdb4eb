import { expect, test } from "vitest";
import { append, END, type Graph, graph, RunError, START, send } from "../../../src/runtime/index.ts";
import { collect } from "../../support/collect.ts";
import { deferred, head } from "../support/checkpoints.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("failure", ({ store: fresh }) => {
  test("the error names node, task, step and thread, and keeps the cause; the thread shows as failed", async () => {
    const store = await fresh();
    const cause = new Error("no luck");
    let task = "";
    const flow = graph<State>("w")
      .node("a", () => undefined)
      .node("b", (_, ctx) => {
        task = ctx.task;
        throw cause;
      })
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store });
    const error = await flow.run({ out: [] }, { thread: "t 1", run: "r" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RunError);
    expect(error).toMatchObject({ code: "NODE_FAILED", node: "b", task, step: 2, thread: "t 1", run: "r", cause });
    expect(task).toBe("t%201/r/1.0");
    for (const part of ['"b"', "step 2", task, '"t 1"', "no luck"]) expect((error as Error).message).toContain(part);
    expect((await collect(store.threads())).map(({ status }) => status)).toEqual(["failed"]);
    const shown = await flow.state("t 1");
    expect(shown).toMatchObject({ status: "failed", errors: [{ node: "b", task: "1.0", message: "no luck" }] });
    expect(shown?.next).toEqual([{ node: "b", task: "1.0" }]);
  });

  test.each([0, 1, 2])("task %i of three fails: a resume runs only that one, under the same key", async (failing) => {
    for (const fan of [true, false]) {
      const store = await fresh();
      const ran: [number, string][] = [];
      let broken = true;
      const work = (index: number, task: string): Partial<State> => {
        ran.push([index, task]);
        if (index === failing && broken) throw new Error("broken");
        return { out: [`${index}`] };
      };
      const builder: Graph<State> = graph<State>("w").reduce({ out: append });
      if (fan) {
        builder.node("work", (_, ctx) => work(ctx.arg as number, ctx.task)).edge("work", "last");
        builder.branch(START, () => [0, 1, 2].map((index) => send("work", index)), ["work"]);
      } else {
        for (const index of [0, 1, 2]) {
          builder.node(`work${index}`, (_, ctx) => work(index, ctx.task)).edge(START, `work${index}`);
          builder.edge(`work${index}`, "last");
        }
      }
      const flow = builder
        .node("last", () => ({ out: ["last"] }))
        .edge("last", END)
        .compile({ store });
      await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toMatchObject({ code: "NODE_FAILED" });
      const key = ran.find(([index]) => index === failing)?.[1];
      expect(ran.map(([index]) => index).sort()).toEqual([0, 1, 2]);
      ran.length = 0;
      await expect(flow.resume({ thread: "t" })).rejects.toMatchObject({ code: "NODE_FAILED" });
      broken = false;
      expect((await flow.resume({ thread: "t" })).state.out).toEqual(["0", "1", "2", "last"]);
      expect(ran).toEqual([
        [failing, key],
        [failing, key],
      ]);
    }
  });

  test("a failing task lets its siblings finish, and begins no more", async () => {
    const gate = deferred();
    const ran: number[] = [];
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("work", async (_, ctx) => {
        const index = ctx.arg as number;
        ran.push(index);
        if (index === 0) {
          setTimeout(gate.resolve, 2);
          throw new Error("broken");
        }
        await gate.promise;
        return { out: [`${index}`] };
      })
      .branch(START, () => [0, 1, 2, 3].map((index) => send("work", index)), ["work"])
      .edge("work", END)
      .compile({ store: await fresh(), concurrency: 2 });
    await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toThrow("broken");
    expect(ran).toEqual([0, 1]);
    expect((await flow.state("t"))?.next).toHaveLength(3);
  });

  test("of several failures the first in activation order is thrown, and all are kept", async () => {
    const flow = graph<State>("w")
      .node("a", async () => {
        await new Promise((resolve) => setTimeout(resolve, 3));
        throw new Error("a broke");
      })
      .node("b", () => {
        throw new Error("b broke");
      })
      .edge(START, "a")
      .edge(START, "b")
      .edge("a", END)
      .edge("b", END)
      .compile({ store: await fresh() });
    await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toThrow("a broke");
    expect((await flow.state("t"))?.errors.map(({ message }) => message)).toEqual(["a broke", "b broke"]);
  });

  test("a result that cannot be stored is its node's fault, and nothing of the step is committed", async () => {
    const store = await fresh();
    const flow = graph<{ value?: unknown; out: string[] }>("w")
      .node("bad", () => ({ value: { callback: () => 1 } }))
      .edge(START, "bad")
      .edge("bad", END)
      .compile({ store });
    for (const durability of ["sync", "async"] as const) {
      const error = await flow.run({ out: [] }, { thread: durability, durability }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "NODE_FAILED", node: "bad", cause: { code: "SERIALIZE" } });
      expect((await head(store, durability)).step).toBe(0);
    }
    await expect(flow.run({ out: [] }, { thread: "exit", durability: "exit" })).rejects.toMatchObject({
      code: "SERIALIZE",
    });
    const knot: { self?: unknown } = {};
    knot.self = knot;
    const tied = graph<{ value?: unknown }>("x")
      .node("bad", () => ({ value: knot }))
      .edge(START, "bad")
      .edge("bad", END);
    await expect(tied.compile({ store }).run({}, { thread: "u" })).rejects.toMatchObject({
      cause: { code: "SERIALIZE" },
    });
  });

  test("a branch or a reducer that throws fails the step; finished tasks are not run again", async () => {
    const store = await fresh();
    let broken = true;
    let ran = 0;
    const flow = graph<{ n: number; m: number }>("w")
      .reduce({
        m: (a, b) => {
          if (b === 2 && broken) throw new Error("reducer broke");
          return a + b;
        },
      })
      .node("a", () => {
        ran += 1;
        return { n: 1 };
      })
      .node("b", () => {
        ran += 1;
        return { m: 2 };
      })
      .edge(START, "a")
      .branch("a", () => {
        if (broken) throw new Error("branch broke");
        return "b";
      }, ["b"])
      .edge("b", END)
      .compile({ store });
    await expect(flow.run({ n: 0, m: 0 }, { thread: "t" })).rejects.toMatchObject({
      node: "a",
      cause: { message: "branch broke" },
    });
    expect((await collect(store.threads())).map(({ status }) => status)).toEqual(["failed"]);
    broken = false;
    const resumed = flow.resume({ thread: "t", maxSteps: 1 });
    await expect(resumed).rejects.toMatchObject({ code: "STEP_LIMIT" });
    broken = true;
    await expect(flow.resume({ thread: "t" })).rejects.toMatchObject({
      node: "b",
      message: expect.stringContaining("reducer broke"),
    });
    broken = false;
    expect((await flow.resume({ thread: "t" })).state).toEqual({ n: 1, m: 2 });
    expect(ran).toBe(2);
  });
});

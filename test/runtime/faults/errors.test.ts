import { expect, test, vi } from "vitest";
import { append, END, graph, RunError, START } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("whatever goes wrong", ({ store: fresh, fresh: freshPlace }) => {
  const odd: readonly [string, () => unknown][] = [
    ["an object without a prototype", () => Object.create(null)],
    [
      "an error whose message throws",
      () =>
        Object.defineProperty(new Error("x"), "message", {
          get: () => {
            throw new Error("no");
          },
        }),
    ],
    [
      "an error whose name throws",
      () =>
        Object.defineProperty(new Error("x"), "name", {
          get: () => {
            throw new Error("no");
          },
        }),
    ],
    [
      "an error whose message is an object",
      () =>
        Object.assign(new Error("x"), {
          message: {
            toString: () => {
              throw new Error("no");
            },
          },
        }),
    ],
    ["undefined", () => undefined],
    ["a symbol", () => Symbol("odd")],
  ];

  test.each(odd)("%s, thrown by a node, is the cause of a RunError and is kept", async (_, make) => {
    const store = await fresh();
    const thrown = make();
    const flow = graph<State>("w")
      .node("a", () => {
        throw thrown;
      })
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    const error = await flow.run({ out: [] }, { thread: "t" }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RunError);
    expect((error as RunError).code).toBe("NODE_FAILED");
    expect((error as RunError).cause).toBe(thrown);
    expect((await flow.state("t"))?.errors).toHaveLength(1);
    expect((await flow.state("t"))?.status).toBe("failed");
  });

  test("the fault of a reducer names the task whose update it was", async () => {
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("good", () => ({ out: ["fine"] }))
      .node("bad", () => ({ out: 7 as never }))
      .node("also", () => ({ out: ["fine"] }))
      .edge(START, "good")
      .edge(START, "bad")
      .edge(START, "also")
      .edge("good", END)
      .edge("bad", END)
      .edge("also", END)
      .compile({ store: await fresh() });
    const error = (await flow.run({ out: [] }, { thread: "t" }).catch((caught: unknown) => caught)) as RunError;
    expect([error.code, error.node, error.task?.endsWith("/0.1")]).toEqual(["NODE_FAILED", "bad", true]);
    expect((await flow.state("t"))?.errors).toMatchObject([{ node: "bad", task: "0.1" }]);
  });

  test("the step limit of a nested graph is a step limit", async () => {
    const inner = graph<State>("inner")
      .node("a", () => {})
      .edge(START, "a")
      .branch("a", () => "a");
    const flow = graph<State>("outer")
      .graph("inner", inner)
      .edge(START, "inner")
      .edge("inner", END)
      .compile({ store: await fresh(), maxSteps: 3 });
    await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toMatchObject({ code: "STEP_LIMIT", node: "inner" });
  });

  test("a listener that throws is warned of, and changes nothing for the run", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    let runs = 0;
    const flow = graph<State>("w")
      .node(
        "a",
        async (_, ctx) => {
          runs += 1;
          await ctx.emit("data");
          return { out: ["a"] };
        },
        { retry: { attempts: 3 } },
      )
      .edge(START, "a")
      .edge("a", END)
      .compile({ store: await fresh() });
    const on = (): never => {
      throw new Error("a broken listener");
    };
    const { state } = await flow.run({ out: [] }, { thread: "t", on });
    expect([state.out, runs]).toEqual([["a"], 1]);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining("a broken listener"));
    warn.mockRestore();
  });

  test("a branch that never returns can be aborted, at START too", async () => {
    const never = (): Promise<never> => new Promise(() => {});
    const store = await fresh();
    const signal = (): AbortSignal => AbortSignal.timeout(30);
    const atStart = graph<State>("w")
      .node("a", () => {})
      .branch(START, never)
      .edge("a", END)
      .compile({ store });
    await expect(atStart.run({ out: [] }, { thread: "s", signal: signal() })).rejects.toMatchObject({
      code: "ABORTED",
    });
    const later = graph<State>("w")
      .node("a", () => {})
      .edge(START, "a")
      .branch("a", never)
      .compile({ store });
    await expect(later.run({ out: [] }, { thread: "t", signal: signal() })).rejects.toMatchObject({ code: "ABORTED" });
    expect(await later.state("t")).toMatchObject({ status: "paused", next: [] });
  });

  test("a branch leads to its declared targets alone", async () => {
    const flow = graph<State>("w")
      .node("a", () => {})
      .node("b", () => {})
      .edge(START, "a")
      .branch("a", () => "b", ["a", END])
      .branch("a", (state) => (state.out.length > 0 ? "b" : END), ["b", END])
      .edge("b", END)
      .compile({ store: await fresh() });
    const run = flow.run({ out: [] }, { thread: "t" });
    await expect(run).rejects.toMatchObject({ code: "UNKNOWN_NODE", node: "a" });
    await expect(run).rejects.toThrow("declared targets");
  });

  test("a lease that is lost aborts the signal of the nodes, and the run is FENCED", async () => {
    const { store } = await freshPlace();
    let aborted = false;
    const flow = graph<State>("w")
      .node("a", async (_, ctx) => {
        await store.thread("t").breakLease({ by: "test" });
        await new Promise<void>((resolve) => {
          ctx.signal.addEventListener("abort", () => {
            aborted = true;
            resolve();
          });
        });
      })
      .edge(START, "a")
      .edge("a", END)
      .compile({ store, lease: { ttl: 60 } });
    await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toMatchObject({ code: "FENCED" });
    expect(aborted).toBe(true);
  });

  test("concurrency counts the tasks of nested graphs together", async () => {
    let running = 0;
    let most = 0;
    const busy = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 3));
      running -= 1;
    };
    const inner = graph<State>("inner");
    const outer = graph<State>("outer").reduce({ out: append });
    for (const name of ["a", "b", "c", "d"]) {
      inner.node(name, busy).edge(START, name).edge(name, END);
      outer.node(`n${name}`, busy).edge(START, `n${name}`).edge(`n${name}`, END);
    }
    for (const name of ["p", "q", "r", "s"]) {
      outer.graph(name, inner, { input: () => ({ out: [] }), output: () => ({ out: [name] }) });
      outer.edge(START, name).edge(name, END);
    }
    const { state } = await outer.compile({ store: await fresh(), concurrency: 4 }).run({ out: [] }, { thread: "t" });
    expect(state.out).toEqual(["p", "q", "r", "s"]);
    expect(most).toBe(4);
  });

  test("a half-arrived join whose node was renamed or removed is an error that names it", async () => {
    const store = await fresh();
    const build = (first: string, target: string): ReturnType<typeof compile> => compile(first, target);
    function compile(first: string, target: string) {
      return graph<State>("w")
        .reduce({ out: append })
        .node(first, () => ({ out: ["quick"] }))
        .node("slow", () => {})
        .node("ask", (_, ctx) => ({ out: [ctx.interrupt<string>("?")] }))
        .node(target, () => ({ out: ["joined"] }))
        .edge(START, first)
        .edge(START, "slow")
        .edge("slow", "ask")
        .edge([first, "ask"], target)
        .edge(target, END)
        .compile({ store });
    }
    await build("quick", "join").run({ out: [] }, { thread: "t" });
    const resume = { thread: "t", value: "yes" };
    await expect(build("fast", "join").resume(resume)).rejects.toMatchObject({ code: "UNKNOWN_NODE", node: "join" });
    await expect(build("fast", "join").resume(resume)).rejects.toThrow('"quick"');
    await expect(build("quick", "together").resume(resume)).rejects.toMatchObject({
      code: "UNKNOWN_NODE",
      node: "join",
    });
    expect((await build("quick", "join").resume(resume)).state.out).toEqual(["quick", "yes", "joined"]);
  });

  test("a join that can no longer complete is told in the result", async () => {
    const flow = graph<State>("w")
      .node("a", () => {})
      .node("b", () => {})
      .node("join", () => {})
      .branch(START, () => "a", ["a", "b"])
      .edge(["a", "b"], "join")
      .edge("join", END)
      .compile({ store: await fresh() });
    const result = await flow.run({ out: [] }, { thread: "t" });
    expect(result).toMatchObject({ status: "done", unmetJoins: [{ node: "join", arrived: ["a"], missing: ["b"] }] });
  });
});

import { expect, test } from "vitest";
import type { Batch } from "../../../src/backend.ts";
import { append, type Durability, END, type Flow, graph, START } from "../../../src/runtime/index.ts";
import { deferred, head, line } from "../support/checkpoints.ts";
import { carriesCheckpoint } from "../support/medium.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

/** A line of nodes, each adding its name, and who ran. */
function lineOf(names: readonly string[], store: unknown, ran: string[] = []): Flow<State> {
  const builder = graph<State>("line").reduce({ out: append });
  for (const [index, name] of names.entries()) {
    builder.node(name, () => {
      ran.push(name);
      return { out: [name] };
    });
    builder.edge(names[index - 1] ?? START, name);
  }
  return builder.edge(names.at(-1) as string, END).compile({ store: store as never });
}

const names = ["a", "b", "c", "d"];
const nth = (count: number): ((batches: readonly Batch[]) => boolean) => {
  let left = count;
  return (batches) => {
    if (!carriesCheckpoint(batches)) return false;
    left -= 1;
    return left === 0;
  };
};

onMemoryAndSqlite("durability", ({ fresh }) => {
  test("with sync, a run makes a commit for each boundary with its task's result, and one each to take and release the lease", async () => {
    const { store, medium } = await fresh();
    await lineOf(names, store).run({ out: [] }, { thread: "t", durability: "sync" });
    expect([medium.checkpointCommits, medium.commits]).toEqual([5, 7]);
    expect((await line(store, "t")).map(({ step }) => step)).toEqual([0, 1, 2, 3, 4]);
  });

  test("with sync, a boundary is durable before the next step starts", async () => {
    const { store } = await fresh();
    const seen: number[] = [];
    const flow = graph<State>("w")
      .node("a", async () => void seen.push((await line(store, "t")).length))
      .node("b", async () => void seen.push((await line(store, "t")).length))
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store });
    await flow.run({ out: [] }, { thread: "t" });
    expect(seen).toEqual([1, 2]);
  });

  test("with async, a run writes the same checkpoints as with sync, behind the running step", async () => {
    const { store, medium } = await fresh();
    await lineOf(names, store).run({ out: [] }, { thread: "t", durability: "async" });
    expect(medium.checkpointCommits).toBe(5);
    const checkpoints = await line(store, "t");
    expect(checkpoints.map(({ step, parent }) => [step, parent])).toEqual(
      checkpoints.map((_, index) => [index, checkpoints[index - 1]?.id ?? null]),
    );
    expect((await head<State>(store, "t")).state.out).toEqual(names);
  });

  test("with async, a step starts while the boundary before it is still being written", async () => {
    const { store, medium } = await fresh();
    const gate = deferred();
    const commit = medium.commit.bind(medium);
    medium.commit = async (batches) => {
      if (carriesCheckpoint(batches)) await gate.promise;
      return commit(batches);
    };
    const started = deferred();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", () => {
        started.resolve();
        return { out: ["a"] };
      })
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    const run = flow.run({ out: [] }, { thread: "t", durability: "async" });
    await started.promise;
    expect(medium.checkpointCommits).toBe(0);
    gate.resolve();
    expect((await run).checkpoint?.step).toBe(1);
    expect(medium.checkpointCommits).toBe(2);
  });

  test("with exit, a finished run writes only its last checkpoint", async () => {
    const { store, medium } = await fresh();
    const { checkpoint } = await lineOf(names, store).run({ out: [] }, { thread: "t", durability: "exit" });
    expect([medium.checkpointCommits, medium.commits]).toEqual([1, 3]);
    expect(checkpoint).toMatchObject({ step: 4, pending: 0, node: "d", parent: null });
    const { state, path } = await head<State>(store, "t");
    expect([state.out, path]).toEqual([names, names]);
  });

  test("with exit, an interrupt is written with the state before its step and the results of its siblings", async () => {
    const { store, medium } = await fresh();
    const ran: string[] = [];
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", () => ({ out: ["a"] }))
      .node("ask", (_, ctx) => ({ out: [ctx.interrupt<string>("well?")] }))
      .node("side", () => {
        ran.push("side");
        return { out: ["side"] };
      })
      .edge(START, "a")
      .edge("a", "ask")
      .edge("a", "side")
      .edge("ask", END)
      .edge("side", END)
      .compile({ store, durability: "exit" });
    const asked = await flow.run({ out: [] }, { thread: "t" });
    expect(asked).toMatchObject({ status: "interrupted", checkpoint: { step: 1, waiting: 1, parent: null } });
    expect(medium.checkpointCommits).toBe(1);
    const done = await flow.resume({ thread: "t", value: "yes" });
    expect([done.status, done.state.out, ran]).toEqual(["done", ["a", "yes", "side"], ["side"]]);
    expect(medium.checkpointCommits).toBe(2);
    expect((await head(store, "t")).parent).toBe(asked.checkpoint?.id);
  });

  test("with exit, a failure is written with the state before its step, and only the rest is run again", async () => {
    const { store, medium } = await fresh();
    const ran: string[] = [];
    let broken = true;
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", () => {
        ran.push("a");
        return { out: ["a"] };
      })
      .node("b", () => {
        if (broken) throw new Error("broken");
        return { out: ["b"] };
      })
      .node("c", () => {
        ran.push("c");
        return { out: ["c"] };
      })
      .edge(START, "a")
      .edge("a", "b")
      .edge("a", "c")
      .edge("b", END)
      .edge("c", END)
      .compile({ store, durability: "exit" });
    await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toMatchObject({ code: "NODE_FAILED" });
    expect([medium.checkpointCommits, (await flow.state("t"))?.status]).toEqual([1, "failed"]);
    broken = false;
    expect((await flow.resume({ thread: "t" })).state.out).toEqual(["a", "b", "c"]);
    expect(ran).toEqual(["a", "c"]);
  });

  test.each(["sync", "async", "exit"] as const)(
    "%s: a medium that fails at any boundary rejects the run; resumed, it ends the same",
    async (durability: Durability) => {
      const boundaries = durability === "exit" ? 1 : names.length + 1;
      for (let failing = 1; failing <= boundaries; failing += 1) {
        const { store, medium } = await fresh();
        const ran: string[] = [];
        const flow = lineOf(names, store, ran);
        medium.fails = nth(failing);
        const failure = flow.run({ out: [] }, { thread: "t", durability });
        await expect(failure).rejects.toMatchObject({ name: "ThreadmarkError", code: "BACKEND" });
        // Boundary n, the input's counted, comes after n - 1 nodes. `sync` stops there; `async` has begun one more.
        const begun = durability === "exit" ? names.length : failing - 1 + (durability === "async" ? 1 : 0);
        expect(ran).toEqual(names.slice(0, begun));
        const kept = await line(store, "t");
        expect(kept.map(({ step }) => step)).toEqual(
          names.slice(0, durability === "exit" ? 0 : failing - 1).map((_, step) => step),
        );
        ran.length = 0;
        const result = await (kept.length === 0
          ? flow.run({ out: [] }, { thread: "t", durability })
          : flow.resume({ thread: "t", durability }));
        expect(result.state.out).toEqual(names);
        expect((await head<State>(store, "t")).state.out).toEqual(names);
        // With nothing lost but the failed commit, only what had not reached a boundary ran again.
        expect(ran).toEqual(names.slice(durability === "exit" ? 0 : Math.max(0, failing - 2)));
      }
    },
  );

  test("with async, a run whose last boundary cannot be written is not done", async () => {
    const { store, medium } = await fresh();
    const flow = lineOf(["a"], store);
    medium.fails = nth(2);
    await expect(flow.run({ out: [] }, { thread: "t", durability: "async" })).rejects.toMatchObject({
      code: "BACKEND",
    });
    expect((await flow.state("t"))?.status).toBe("paused");
  });

  test.each(["sync", "async", "exit"] as const)("%s: every exit drains, and gives the lease up", async (durability) => {
    const { store, medium } = await fresh();
    let mode = "ask";
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", () => ({ out: ["a"] }))
      .node("b", (_, ctx) => {
        if (mode === "ask") ctx.interrupt("?");
        if (mode === "fail") throw new Error("failed");
        return { out: ["b"] };
      })
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store, durability });
    const settled = async (thread: string): Promise<number> => {
      const { commits } = medium;
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(medium.commits).toBe(commits);
      await (await store.thread(thread).acquire({ holder: "test", ttl: 1000 })).release();
      return (await line(store, thread)).length;
    };
    for (mode of ["ask", "fail", "limit", "done"]) {
      const limit = mode === "limit" ? { maxSteps: 1 } : {};
      await flow.run({ out: [] }, { thread: mode, ...limit }).catch(() => {});
      expect(await settled(mode)).toBeGreaterThan(0);
      expect((await head<State>(store, mode)).state.out[0]).toBe("a");
    }
  });
});

import { expect, test } from "vitest";
import { append, END, type Flow, graph, START } from "../../../src/runtime/index.ts";
import { collect } from "../../support/collect.ts";
import { deferred, head, line } from "../support/checkpoints.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("leases", (places) => {
  const fresh = places.store;
  function gated(store: unknown, gate: Promise<void>, begun: () => void = () => {}, ttl = 30_000): Flow<State> {
    return graph<State>("w")
      .reduce({ out: append })
      .node("a", async () => {
        begun();
        await gate;
        return { out: ["a"] };
      })
      .node("b", () => ({ out: ["b"] }))
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store: store as never, lease: { holder: "runner-1", ttl } });
  }

  test("a second run on the thread is BUSY and names the holder; the first is not disturbed", async () => {
    const store = await fresh();
    const gate = deferred();
    const begun = deferred();
    const flow = gated(store, gate.promise, begun.resolve);
    const first = flow.run({ out: [] }, { thread: "t" });
    await begun.promise;
    expect((await collect(store.threads())).map(({ status }) => status)).toEqual(["running"]);
    const busy = { code: "BUSY", holder: "runner-1" };
    await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toMatchObject(busy);
    await expect(flow.resume({ thread: "t" })).rejects.toMatchObject(busy);
    await expect(flow.update("t", { out: ["x"] })).rejects.toMatchObject(busy);
    gate.resolve();
    expect((await first).state.out).toEqual(["a", "b"]);
    expect((await flow.run({ out: ["again"] }, { thread: "t" })).state.out).toEqual(["a", "b", "again", "a", "b"]);
  });

  test("ifBusy: wait runs after the first; a signal ends the waiting", async () => {
    const store = await fresh();
    const gate = deferred();
    const begun = deferred();
    const flow = gated(store, gate.promise, begun.resolve);
    const first = flow.run({ out: [] }, { thread: "t" });
    await begun.promise;
    const controller = new AbortController();
    const given = flow.run({ out: ["3"] }, { thread: "t", ifBusy: "wait", signal: controller.signal });
    const second = flow.run({ out: ["2"] }, { thread: "t", ifBusy: "wait" });
    controller.abort(new Error("enough"));
    await expect(given).rejects.toMatchObject({ code: "BUSY" });
    gate.resolve();
    await first;
    expect((await second).state.out).toEqual(["a", "b", "2", "a", "b"]);
  });

  test.each(["sync", "async", "exit"] as const)(
    "%s: a holder that lost its lease stops with FENCED; nothing of it is committed",
    async (durability) => {
      let now = 1_000_000;
      const store = await fresh({ clock: () => now });
      const gate = deferred();
      const begun = deferred();
      const flow = gated(store, gate.promise, begun.resolve, 300);
      const run = flow.run({ out: [] }, { thread: "t", durability });
      await begun.promise;
      // The run slept past its time, as a stopped process would, and another took over.
      now += 60_000;
      const taken = await store.thread("t").acquire({ holder: "other", ttl: 60_000 });
      await store.thread("t").put({ state: { out: ["other"] } }, { lease: taken });
      gate.resolve();
      await expect(run).rejects.toMatchObject({ name: "ThreadmarkError", code: "FENCED" });
      expect((await head<State>(store, "t")).state.out).toEqual(["other"]);
      await taken.release();
    },
  );

  test("the lease is renewed while a step takes longer than its time, and given up at the end", async () => {
    let now = 1_000_000;
    const { store, medium } = await places.fresh({ clock: () => now });
    const gate = deferred();
    const begun = deferred();
    const flow = gated(store, gate.promise, begun.resolve, 60);
    const run = flow.run({ out: [] }, { thread: "t" });
    await begun.promise;
    for (let round = 0; round < 5; round += 1) {
      // Nothing but a renewal commits now. The store's clock moves on only after one.
      const { commits } = medium;
      while (medium.commits === commits) await new Promise((resolve) => setTimeout(resolve, 5));
      now += 50;
      await expect(store.thread("t").acquire({ holder: "other", ttl: 10 })).rejects.toMatchObject({ code: "BUSY" });
    }
    gate.resolve();
    await run;
    await (await store.thread("t").acquire({ holder: "other", ttl: 10 })).release();
  });

  test("a run that a stranger's commit overtakes, after its lease ran out, ends with CONFLICT", async () => {
    let now = 1_000_000;
    const store = await fresh({ clock: () => now });
    const gate = deferred();
    const begun = deferred();
    const flow = gated(store, gate.promise, begun.resolve);
    const run = flow.run({ out: [] }, { thread: "t" });
    await begun.promise;
    now += 60_000;
    await store.thread("t").put({ state: { out: ["stranger"] } });
    gate.resolve();
    await expect(run).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await line(store, "t")).length).toBe(2);
  });

  test("runs on different threads do not disturb each other", async () => {
    const store = await fresh();
    const flow = gated(store, Promise.resolve());
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => flow.run({ out: [`${index}`] }, { thread: `t${index}` })),
    );
    expect(results.map(({ state }) => state.out)).toEqual(results.map((_, index) => [`${index}`, "a", "b"]));
  });
});

import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { append, END, type Flow, graph, START } from "../../../src/runtime/index.ts";
import { FakeClock } from "../../../src/runtime/testing/index.ts";
import { forwarding } from "../../../src/testing/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("workers", ({ store: fresh, fresh: freshPlace }) => {
  function sleepy(store: unknown, ran: string[], lease = {}): Flow<State> {
    return graph<State>("w")
      .reduce({ out: append })
      .node("a", async (_, ctx) => {
        await ctx.step("a", () => void ran.push(`a ${ctx.thread}`));
        await ctx.sleep(20);
        return { out: ["slept"] };
      })
      .node("b", (_, ctx) => {
        ran.push(`b ${ctx.thread}`);
        return { out: ["b"] };
      })
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store: store as never, lease });
  }

  test("a started run is durable, and taken by a worker, slept and woken once with two of them", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = sleepy(store, ran);
    const threads = Array.from({ length: 10 }, (_, index) => `t${index}`);
    for (const thread of threads) {
      expect(await flow.start({ out: ["in"] }, { thread, run: "job" })).toEqual({ run: "job", started: true });
      expect(await flow.start({ out: ["in"] }, { thread, run: "job" })).toEqual({ run: "job", started: false });
    }
    expect((await flow.state("t0"))?.status).toBe("paused");
    const workers = [flow.worker({ poll: 20 }), flow.worker({ poll: 20, concurrency: 2 })];
    await expect
      .poll(async () => Promise.all(threads.map(async (thread) => (await flow.state(thread))?.status)), {
        timeout: 10_000,
      })
      .toEqual(threads.map(() => "done"));
    for (const worker of workers) await worker.stop();
    expect([...ran].sort()).toEqual(threads.flatMap((thread) => [`a ${thread}`, `b ${thread}`]).sort());
    for (const thread of threads) expect((await flow.state(thread))?.state.out).toEqual(["in", "slept", "b"]);
  });

  test("a worker hears of answers, signals and starts in its process at once", async () => {
    const store = await fresh();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", async (_, ctx) => ({ out: [ctx.interrupt<string>("?"), String(await ctx.waitFor("go"))] }))
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    await using worker = flow.worker({ poll: 60_000 });
    await flow.start({ out: [] }, { thread: "t" });
    await expect.poll(async () => (await flow.state("t"))?.interrupts.length).toBe(1);
    await flow.answer("t", (await flow.state("t"))?.interrupts[0]?.id as string, "yes");
    await expect.poll(async () => (await flow.state("t"))?.status).toBe("paused");
    await flow.signal("t", "go", "went");
    await expect.poll(async () => (await flow.state("t"))?.state.out).toEqual(["yes", "went"]);
    expect(worker.threads).toEqual([]);
  });

  test("a worker hears of starts and answers in another process, and of what comes due, without looking", async () => {
    const { store, medium } = await freshPlace();
    await using elsewhere = await open(forwarding(medium, { close: async () => {} }));
    const ran: string[] = [];
    const build = (on: unknown): Flow<State> =>
      graph<State>("w")
        .reduce({ out: append })
        .node("a", async (_, ctx) => {
          await ctx.step("a", () => void ran.push("a"));
          const answer = ctx.interrupt<string>("?");
          await ctx.sleep(20);
          return { out: [answer] };
        })
        .edge(START, "a")
        .edge("a", END)
        .compile({ store: on as never });
    await using _worker = build(store).worker({ poll: 3_600_000 });
    const there = build(elsewhere);
    await there.start({ out: [] }, { thread: "t", attributes: { tenant: "acme" } });
    await expect.poll(async () => (await there.state("t"))?.interrupts.length, { timeout: 20_000 }).toBe(1);
    await there.answer("t", (await there.state("t"))?.interrupts[0]?.id as string, "yes");
    await expect.poll(async () => (await there.state("t"))?.state.out, { timeout: 20_000 }).toEqual(["yes"]);
    expect(ran).toEqual(["a"]);
    const found: string[] = [];
    for await (const { id } of elsewhere.threads({ where: { tenant: "acme" } })) found.push(id);
    expect(found).toEqual(["t"]);
    await expect(there.start({}, { thread: "u", attributes: { tenant: {} as never } })).rejects.toThrow(TypeError);
  });

  test("a run of a worker is cancelled from another process at once, long before its lease is renewed", async () => {
    const { store, medium } = await freshPlace();
    await using elsewhere = await open(forwarding(medium, { close: async () => {} }));
    const build = (on: unknown): Flow<State> =>
      graph<State>("w")
        .node("a", (_, ctx) => new Promise<never>((_, reject) => ctx.signal.addEventListener("abort", reject)))
        .edge(START, "a")
        .edge("a", END)
        .compile({ store: on as never, lease: { ttl: 3_600_000 } });
    await using worker = build(store).worker();
    await build(elsewhere).start({ out: [] }, { thread: "t" });
    await expect.poll(() => worker.threads, { timeout: 20_000 }).toEqual(["t"]);
    await expect.poll(async () => (await elsewhere.thread("t").lease()).held, { timeout: 20_000 }).toBeTruthy();
    expect(await build(elsewhere).cancel("t", { reason: "enough" })).toEqual({ cancelled: true, status: "cancelled" });
    expect((await build(elsewhere).state("t"))?.errors[0]?.message).toBe("enough");
  });

  test("a run whose worker died is taken over within its lease's ttl and 100 ms", async () => {
    const clock = new FakeClock();
    const { store, medium } = await freshPlace({ clock: clock.now });
    await using elsewhere = await open(forwarding(medium, { close: async () => {} }), { clock: clock.now });
    const at: number[] = [];
    const flow = graph<State>("w")
      .node("a", () => void at.push(clock.now()))
      .edge(START, "a")
      .edge("a", END)
      .compile({ store, clock });
    await flow.start({ out: [] }, { thread: "t" });
    const begun = clock.now();
    await elsewhere.thread("t").acquire({ holder: "a worker that died", ttl: 2_000 });
    await using _worker = flow.worker();
    await clock.advance(1_900);
    expect(at).toEqual([]);
    await clock.advance(200);
    await expect.poll(() => at.length, { timeout: 20_000 }).toBe(1);
    expect((at[0] as number) - begun).toBeLessThanOrEqual(2_100);
  });

  test("the index of due threads has runs that can go on, and no others", async () => {
    const store = await fresh();
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", async (state, ctx) => {
        if (state.out.includes("ask")) ctx.interrupt("?");
        if (state.out.includes("sleep")) await ctx.sleep(3_600_000);
        if (state.out.includes("fail")) throw new Error("broken");
      })
      .node("b", () => undefined)
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store });
    const due = async (before?: number): Promise<readonly string[]> => {
      const found: string[] = [];
      for await (const { thread } of store.due({ workflow: "w", ...(before !== undefined && { before }) }))
        found.push(thread);
      return found.sort();
    };
    await flow.start({ out: [] }, { thread: "started" });
    for (const kind of ["done", "ask", "sleep"]) await flow.run({ out: [kind] }, { thread: kind });
    await flow.run({ out: [] }, { thread: "breakpoint", breakBefore: ["b"] });
    await flow.start({ out: [] }, { thread: "cancelled" });
    await flow.cancel("cancelled");
    await expect(flow.run({ out: ["fail"] }, { thread: "fail" })).rejects.toThrow("broken");
    await flow.run({ out: [] }, { thread: "edited" });
    await flow.update("edited", {}, { as: "a" });
    await store.thread("started").fork({ into: "fork" });
    await flow.update("fork", {});
    expect(await due()).toEqual(["edited", "started"]);
    expect(await due(Date.now() + 4_000_000)).toEqual(["edited", "sleep", "started"]);
    await flow.resume({ thread: "breakpoint" });
    await expect(flow.resume({ thread: "fail" })).rejects.toThrow("broken");
    expect(await due()).toEqual(["edited", "started"]);
  });

  test("a run that is started again while it is at work is not started, and not refused", async () => {
    const store = await fresh();
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", async () => {
        await released;
        return { out: ["a"] };
      })
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    await using worker = flow.worker();
    expect(await flow.start({ out: [] }, { thread: "t", run: "r" })).toEqual({ run: "r", started: true });
    await expect.poll(() => worker.threads, { timeout: 10_000 }).toEqual(["t"]);
    expect(await flow.start({ out: [] }, { thread: "t", run: "r" })).toEqual({ run: "r", started: false });
    await expect(flow.start({ out: [] }, { thread: "t", run: "other" })).rejects.toMatchObject({ code: "BUSY" });
    release();
    await expect.poll(async () => (await flow.state("t"))?.status, { timeout: 10_000 }).toBe("done");
    expect(await flow.start({ out: [] }, { thread: "t", run: "other" })).toEqual({ run: "other", started: true });
  });

  test("forks that nobody resumed and imported threads are left alone", async () => {
    const store = await fresh();
    const ran: string[] = [];
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("charge", (_, ctx) => {
        ran.push(ctx.thread as string);
        return { out: ["charged 500"] };
      })
      .edge(START, "charge")
      .edge("charge", END)
      .compile({ store });
    await flow.run({ out: [] }, { thread: "t" });
    await store.thread("t").fork({ at: { step: 0 }, into: "what-if", edits: { out: ["cheaper"] } });
    await store.thread("t").fork({ at: { step: 0 }, into: "plain" });
    const other = await fresh();
    await other.import(store.export({ threads: ["what-if"] }));
    const elsewhere = graph<State>("w")
      .node("charge", () => void ran.push("imported"))
      .edge(START, "charge")
      .edge("charge", END);
    expect(await flow.recover()).toEqual([]);
    expect(await elsewhere.compile({ store: other }).recover()).toEqual([]);
    const worker = flow.worker({ poll: 5 });
    await new Promise((resolve) => setTimeout(resolve, 40));
    await worker.stop();
    expect(ran).toEqual(["t"]);
    expect((await flow.resume({ thread: "what-if" })).state.out).toEqual(["cheaper", "charged 500"]);
  });

  test("a run id is remembered, whichever runs came since", async () => {
    const store = await fresh();
    let runs = 0;
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("a", (state) => {
        runs += 1;
        return { out: [`handled ${state.out.at(-1)}`] };
      })
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    const handle = async (event: string): Promise<readonly string[]> =>
      (await flow.run({ out: [event] }, { thread: "t", run: event })).state.out;
    const first = await handle("event 1");
    await handle("event 2");
    expect(await handle("event 1")).toEqual(first);
    expect(await handle("event 2")).toEqual([...first, "event 2", "handled event 2"]);
    await flow.start({ out: ["event 1"] }, { thread: "t", run: "event 1" });
    expect([runs, (await flow.state("t"))?.state.out.length]).toEqual([2, 4]);
  });

  test("a lease taken under a clock that was set back is taken over after its ttl", async () => {
    let now = 10_000_000;
    const { store } = await freshPlace({ clock: () => now });
    const lease = await store.thread("t").acquire({ holder: "dead", ttl: 60 });
    now -= 3_600_000;
    await expect(store.thread("t").acquire({ ttl: 60 })).rejects.toMatchObject({ code: "BUSY" });
    const next = await store.thread("t").acquire({ ttl: 60, wait: 2_000 });
    expect(next.epoch).toBeGreaterThan(lease.epoch);
    // A holder that renews is not taken over, whatever the clocks say.
    now -= 3_600_000;
    next.keepAlive();
    await expect(store.thread("t").acquire({ ttl: 60, wait: 300 })).rejects.toMatchObject({ code: "BUSY" });
  });
});

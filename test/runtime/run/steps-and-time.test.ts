import { expect, test } from "vitest";
import { append, END, graph, START } from "../../../src/runtime/index.ts";
import { onMemoryAndSqlite } from "../support/places.ts";

interface State {
  out: string[];
}

onMemoryAndSqlite("steps and sleeps", ({ fresh }) => {
  test.each(["sync", "async", "exit"] as const)(
    "%s: a step is durable before it returns: after a crash only the rest is run",
    async (durability) => {
      let now = 1_000_000;
      const { store, medium } = await fresh({ clock: () => now });
      const called: string[] = [];
      let crashes = true;
      const inner = graph<State>("inner")
        .node("agent", async (_, ctx) => {
          const out: string[] = [];
          for (const tool of ["search", "read", "charge", "mail", "report"]) {
            out.push(
              await ctx.step(tool, () => {
                called.push(tool);
                return `${tool} done`;
              }),
            );
            if (tool === "mail" && crashes) medium.fails = () => true;
          }
          return { out };
        })
        .edge(START, "agent")
        .edge("agent", END);
      const flow = graph<State>("w")
        .reduce({ out: append })
        .node("before", () => ({ out: ["before"] }))
        .graph("nested", inner, { input: () => ({ out: [] }) })
        .edge(START, "before")
        .edge("before", "nested")
        .edge("nested", END)
        .compile({ store, durability });
      await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toMatchObject({ code: "BACKEND" });
      crashes = false;
      medium.fails = () => false;
      now += 60_000;
      const { state } = await flow.resume({ thread: "t" });
      expect(state.out).toEqual(["before", "search done", "read done", "charge done", "mail done", "report done"]);
      // The result of the last step was not durable when the process died.
      expect(called).toEqual(["search", "read", "charge", "mail", "report", "report"]);
    },
  );

  test("steps are not repeated after a question, a failure or a sleep; a step that throws is not remembered", async () => {
    let now = 1_000_000;
    const { store } = await fresh({ clock: () => now });
    const called: string[] = [];
    const flow = graph<State>("w")
      .node(
        "a",
        async (_, ctx) => {
          const note = (name: string) => (): string => {
            called.push(name);
            return name;
          };
          const [one, two] = await Promise.all([ctx.step("one", note("one")), ctx.step("two", note("two"))]);
          const three = await ctx.step("three", () => {
            called.push("three");
            if (called.filter((name) => name === "three").length === 1) throw new Error("once");
            return "three";
          });
          const answer = ctx.interrupt<string>("?");
          const four = await ctx.step("four", note("four"));
          await ctx.sleep(1_000);
          return { out: [one, two, three, answer, four] };
        },
        { retry: { attempts: 2 } },
      )
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    expect((await flow.run({ out: [] }, { thread: "t" })).interrupts).toHaveLength(1);
    const asleep = await flow.resume({ thread: "t", value: "yes" });
    expect([asleep.status, asleep.due]).toEqual(["interrupted", now + 1_000]);
    for await (const { status } of store.threads()) expect(status).toBe("paused");
    await store.thread("t").prune({ keepLast: 1 });
    expect(await flow.recover()).toEqual([]);
    now += 1_000;
    expect(await flow.recover()).toMatchObject([
      { result: { state: { out: ["one", "two", "three", "yes", "four"] } } },
    ]);
    expect(called).toEqual(["one", "two", "three", "three", "four"]);
  });

  test("the same name twice in a task is refused", async () => {
    const { store } = await fresh();
    const flow = graph<State>("w")
      .node("a", async (_, ctx) => {
        await ctx.step("x", () => 1);
        await ctx.step("x", () => 2);
      })
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    await expect(flow.run({ out: [] }, { thread: "t" })).rejects.toThrow('"x" was called twice');
  });

  test("steps that end together share a commit", async () => {
    const { store, medium } = await fresh();
    const flow = graph<State>("w")
      .node("a", async (_, ctx) => {
        const before = medium.commits;
        await Promise.all(Array.from({ length: 20 }, (_, index) => ctx.step(`${index}`, () => index)));
        return { out: [`${medium.commits - before}`] };
      })
      .edge(START, "a")
      .edge("a", END)
      .compile({ store });
    expect((await flow.run({ out: [] }, { thread: "t" })).state.out).toEqual(["1"]);
  });

  test("a sleep and a time limit are kept when another question is answered, and each is over once", async () => {
    let now = 1_000_000;
    const { store } = await fresh({ clock: () => now });
    const ran: string[] = [];
    const flow = graph<State>("w")
      .reduce({ out: append })
      .node("nap", async (_, ctx) => {
        ran.push("nap");
        await ctx.sleep(new Date(now + 5_000));
        return { out: ["rested"] };
      })
      .node("limited", (_, ctx) => ({
        out: [ctx.interrupt<string>("soon?", { timeout: 2_000, default: "no answer" })],
      }))
      .node("patient", (_, ctx) => ({ out: [ctx.interrupt<string>("whenever?")] }))
      .edge(START, "nap")
      .edge(START, "limited")
      .edge(START, "patient")
      .edge(["nap", "limited", "patient"], END)
      .compile({ store });
    const first = await flow.run({ out: [] }, { thread: "t" });
    expect([first.due, first.interrupts.length]).toEqual([now + 2_000, 2]);
    now += 1_000;
    const id = first.interrupts.find(({ node }) => node === "patient")?.id as string;
    const second = await flow.resume({ thread: "t", answers: { [id]: "yes" } });
    expect([second.due, second.interrupts.length]).toEqual([now + 1_000, 1]);
    now += 1_000;
    expect(await flow.recover()).toMatchObject([
      { result: { status: "interrupted", interrupts: [], due: now + 3_000 } },
    ]);
    expect(await flow.recover()).toEqual([]);
    now += 3_000;
    expect(await flow.recover()).toMatchObject([{ result: { state: { out: ["rested", "no answer", "yes"] } } }]);
    expect(ran).toEqual(["nap", "nap"]);
  });

  test("without a thread, a step just runs and a sleep waits in memory", async () => {
    const flow = graph<State>("w")
      .node("a", async (_, ctx) => {
        await ctx.sleep(2);
        return { out: [await ctx.step("x", () => "x")] };
      })
      .edge(START, "a")
      .edge("a", END)
      .compile();
    expect((await flow.run({ out: [] })).state.out).toEqual(["x"]);
  });
});

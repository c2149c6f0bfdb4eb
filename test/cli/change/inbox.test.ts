import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { END, graph, START } from "../../../src/runtime/index.ts";
import { lines, records, storeWith, threadmark } from "../run.ts";

/** A thread that waits at a question of the runtime, and one with two questions. */
function asking(): Promise<string> {
  return storeWith(async (store) => {
    const ask = { choices: ["approve", "refuse"], question: "Refund 5 euros?" };
    await store
      .thread("order")
      .put({ state: {}, next: ["pay"], workflow: "shop", interrupts: [{ id: "q1", node: "pay", value: ask }] });
    await store.thread("two").put({
      state: {},
      next: ["a", "b"],
      interrupts: [
        { id: "first", node: "a", value: "Which city?" },
        { id: "second", node: "b", value: "Is it true?" },
      ],
    });
    await store.thread("quiet").put({ state: {}, next: ["a"] });
  });
}

test("inbox lists the open questions of all threads with the answers they take", async () => {
  const url = await asking();
  const { out } = await threadmark(["inbox", url, "--json"]);
  expect(records(out).map(({ thread, id, text }) => [thread, id, text])).toEqual([
    ["two", "first", "Which city?"],
    ["two", "second", "Is it true?"],
    ["order", "q1", "Refund 5 euros?"],
  ]);
  const shown = await threadmark(["inbox", "--workflow", "shop", url], {
    terminal: { columns: 120 },
    env: { NO_COLOR: "1" },
  });
  expect(lines(shown.out)[1]).toMatch(/^order +q1 +pay +now +approve \| refuse +Refund 5 euros\?$/);
  const none = await threadmark(["inbox", "--workflow", "other", url]);
  expect([none.out, none.err]).toEqual(["", "No thread waits for an answer.\n"]);
});

test("answer stores the value of a choice, yes or no, JSON or a text", async () => {
  const url = await asking();
  const answered = async (...parameters: string[]): Promise<unknown> => {
    const { code, err } = await threadmark(["answer", ...parameters, url]);
    expect([code, err.startsWith("Answered")]).toEqual([0, true]);
    const store = await open(url);
    const thread = store.thread(parameters[0]!);
    const writes = await thread.writes((await thread.latest())!.id);
    await store.close();
    return writes.filter(({ index }) => index === -4).map(({ task, value }) => [task, value]);
  };
  expect(await answered("order", "APPROVE")).toEqual([["q1", "approve"]]);
  expect(await answered("two", "Paris", "--question", "first")).toEqual([["first", "Paris"]]);
  expect(await answered("two", "no", "--question", "second")).toEqual([
    ["first", "Paris"],
    ["second", false],
  ]);
  expect(await answered("two", '{"city":"Rome"}', "-q", "first")).toContainEqual(["first", { city: "Rome" }]);
  expect(await answered("two", "42", "--text", "-q", "first")).toContainEqual(["first", "42"]);
});

test("an answered question is no longer listed, and is answered anew only if it is named", async () => {
  const url = await asking();
  expect((await threadmark(["answer", "two", "Paris", "-q", "first", url])).code).toBe(0);
  expect(records((await threadmark(["inbox", url, "--json"])).out).map(({ id }) => id)).toEqual(["second", "q1"]);
  expect((await threadmark(["show", "two", url])).out).not.toContain("Which city?");
  expect((await threadmark(["answer", "two", "yes", url])).err).toContain("Answered second.");
  const again = await threadmark(["answer", "two", "no", url]);
  expect([again.code, again.err]).toEqual([3, expect.stringContaining("--question first, second.")]);
  expect((await threadmark(["answer", "two", "Rome", "-q", "first", url])).err).toContain("Answered first anew.");
});

test("answer refuses what is no choice, no question, or one of several", async () => {
  const url = await asking();
  const said = async (...parameters: string[]): Promise<[number, string]> => {
    const { code, err } = await threadmark(["answer", ...parameters, url]);
    return [code, err];
  };
  expect(await said("order", "maybe")).toEqual([
    2,
    'threadmark: "maybe" is no choice. Choices are: approve | refuse.\n',
  ]);
  expect((await said("two", "yes"))[1]).toContain("2 open questions. Choose with --question: first, second.");
  expect(await said("two", "x", "-q", "third")).toEqual([
    3,
    'threadmark: Thread "two" has no open question "third"; it has first, second.\n',
  ]);
  expect((await said("quiet", "yes"))[0]).toBe(3);
});

test("an answer from the command line is taken by the next run of the thread", async () => {
  const url = await storeWith(async () => {});
  const flow = async () => {
    const store = await open<Record<string, unknown>>(url);
    const compiled = graph<{ said: string }>("ask")
      .node("ask", (_state, context) => ({ said: String(context.interrupt("What is your name?")) }))
      .edge(START, "ask")
      .edge("ask", END)
      .compile({ store });
    return { store, compiled };
  };
  const first = await flow();
  expect((await first.compiled.run({ said: "" }, { thread: "t" })).status).toBe("interrupted");
  await first.store.close();
  expect((await threadmark(["answer", "t", "Ada", url])).code).toBe(0);
  const second = await flow();
  expect(await second.compiled.resume({ thread: "t" })).toMatchObject({ status: "done", state: { said: "Ada" } });
  await second.store.close();
});

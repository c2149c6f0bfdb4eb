import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { END, graph, START } from "../../../src/runtime/index.ts";
import { folderOfTest } from "../../support/folders-of-tests.ts";
import { lines, records, storeWith, threadmark, threeSteps } from "../run.ts";

interface State {
  draft?: number;
}

const stateOf = async (url: string, thread: string): Promise<unknown> =>
  records((await threadmark(["show", thread, url, "--json"])).out)[0]?.["state"];

test("fork begins a thread at a checkpoint, with edits", async () => {
  const url = await storeWith(threeSteps);
  const edits = ["--edit", 'messages[0]="good morning"', "--edit", "total=1"];
  const { code, out } = await threadmark(["fork", "user-42", "--at", "@0", "--into", "fork", ...edits, url]);
  expect([code, out]).toEqual([0, "fork\n"]);
  expect(await stateOf(url, "fork")).toMatchObject({ messages: ["good morning"], total: 1 });
  expect(await stateOf(url, "user-42")).toMatchObject({ messages: ["hello", "hi"] });
  const again = await threadmark(["fork", "user-42", "--into", "fork", url]);
  expect([again.code, again.out]).toEqual([4, ""]);
});

test("set puts an update checkpoint that leaves pending what was pending, and finished what had finished", async () => {
  const url = await storeWith(async (store) => {
    const thread = store.thread("t");
    const head = await thread.put({ state: { draft: "", list: [{ done: false }] }, next: ["a", "b"], step: 3 });
    await thread.putWrites(head.id, { task: "3.0", node: "a", writes: [{ channel: "x", value: 1n }] });
  });
  expect((await threadmark(["set", "t", "list[0].done", "true", url])).code).toBe(0);
  expect((await threadmark(["set", "t", "when", '{"$":"date","v":5}', url])).code).toBe(0);
  const [head] = records((await threadmark(["show", "t", url, "--json"])).out);
  expect(head).toMatchObject({
    source: "update",
    step: 5,
    next: [{ node: "a" }, { node: "b" }],
    state: { draft: "", list: [{ done: true }], when: { $: "date", v: 5 } },
    writes: [{ task: "3.0", node: "a", index: 0, channel: "x", value: { $: "bigint", v: "1" } }],
  });
});

test("after set, a run goes on where it stood: in a step put by hand, and in a nested graph", async () => {
  const url = await storeWith(async () => undefined);
  const store = await open<Record<string, unknown>>(url);
  const ran: string[] = [];
  const step = (name: string) => () => {
    ran.push(name);
    if (name === "second" && ran.length < 4) throw new Error("down");
    return {};
  };
  const inner = graph<State>("inner")
    .node("first", step("first"))
    .node("second", step("second"))
    .edge(START, "first")
    .edge("first", "second")
    .edge("second", END);
  const flow = graph<State>("outer")
    .node("quick", step("quick"))
    .graph("nested", inner)
    .edge(START, "quick")
    .edge(START, "nested")
    .edge("quick", END)
    .edge("nested", END)
    .compile({ store });
  await store.thread("t").put({ state: {}, next: ["quick", "nested"], step: 3, workflow: "outer" });
  await expect(flow.resume({ thread: "t" })).rejects.toThrow("down");
  for (const value of ["1", "2"]) expect((await threadmark(["set", "t", "draft", value, url])).code).toBe(0);
  const { status, state } = await flow.resume({ thread: "t" });
  await store.close();
  expect([status, state.draft, ran]).toEqual(["done", 2, ["quick", "first", "second", "second"]]);
});

test("set says what is wrong with a path or a value, and changes nothing", async () => {
  const url = await storeWith(threeSteps);
  const wrong = [
    [["set", "user-42", "messages[9]", "1"], "messages is a list of 2: 9 is no place in it."],
    [["set", "user-42", "total.x", "1"], "total has no parts: set it as a whole."],
    [["set", "user-42", "..x", "1"], "is no path"],
    [["set", "user-42", "", "1"], "The path is empty"],
    [["set", "user-42", "draft", "hello"], "is no JSON"],
  ] as const;
  for (const [parameters, message] of wrong) {
    const { code, err } = await threadmark([...parameters, url]);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  }
  expect(records((await threadmark(["history", "user-42", url, "--json"])).out)).toHaveLength(3);
});

test("copy makes a thread with all checkpoints", async () => {
  const url = await storeWith(threeSteps);
  const { out } = await threadmark(["copy", "user-42", "other", url, "--json"]);
  expect(records(out)).toEqual([{ thread: "other", checkpoints: 3 }]);
});

test("prune says what would go, asks, and deletes", async () => {
  const url = await storeWith(threeSteps);
  const dry = await threadmark(["prune", "user-42", "--keep-last", "1", url, "--dry-run", "--json"]);
  expect(records(dry.out)[0]).toMatchObject({ thread: "user-42", deleted: 2, dryRun: true });
  const unasked = await threadmark(["prune", "user-42", "--keep-last", "1", url]);
  expect([unasked.code, unasked.err]).toEqual([
    6,
    expect.stringContaining("pass --yes to do it, or --dry-run to see."),
  ]);
  const declined = await threadmark(["prune", "user-42", "--keep-last", "1", url], {
    terminal: { columns: 80 },
    stdin: "n\n",
  });
  expect([declined.code, declined.err]).toEqual([6, expect.stringContaining("Delete 2 checkpoints of 1 thread")]);
  expect(records((await threadmark(["history", "user-42", url, "--json"])).out)).toHaveLength(3);
  const agreed = await threadmark(["prune", "user-42", "--keep-last", "1", url], {
    terminal: { columns: 80 },
    stdin: "y\n",
  });
  expect(agreed.code).toBe(0);
  expect(records((await threadmark(["history", "user-42", url, "--json"])).out)).toHaveLength(1);
});

test("prune without a rule is wrong usage and deletes nothing", async () => {
  const url = await storeWith(threeSteps);
  for (const parameters of [["user-42"], ["--all"], ["--all", "--keep-labelled"]]) {
    const { code, err } = await threadmark(["prune", ...parameters, "--yes", url]);
    expect([parameters, code]).toEqual([parameters, 2]);
    expect(err).toContain("Say what to keep: --keep-last, --older-than or both.");
  }
  expect(records((await threadmark(["history", "user-42", url, "--json"])).out)).toHaveLength(3);
});

test("prune --all takes every thread, and keeps what is young, labelled or asked for", async () => {
  const url = await storeWith(async (store) => {
    for (const id of ["a", "b"]) {
      await store.thread(id).put({ state: { n: 1 }, createdAt: 1, label: "kept" });
      for (let n = 2; n < 6; n += 1) await store.thread(id).put({ state: { n }, createdAt: 1 });
      await store.thread(id).put({ state: { n: 6 } });
    }
  });
  const rule = ["--keep-labelled", "--older-than", "1h", "--keep-last", "2"];
  const { out } = await threadmark(["prune", "--all", ...rule, "--yes", "--json", url]);
  expect(records(out).map(({ thread, deleted }) => [thread, deleted])).toEqual([
    ["a", 3],
    ["b", 3],
  ]);
  expect((await threadmark(["prune", url])).err).toContain("Name a thread to prune, or pass --all.");
});

test("delete takes a thread, some checkpoints, or a run", async () => {
  const url = await storeWith(async (store) => {
    await threeSteps(store);
    await store.thread("user-42").put({ state: { n: 1 }, run: "r2" });
  });
  const deleted = async (...parameters: string[]): Promise<unknown> =>
    records((await threadmark(["delete", "user-42", url, "--yes", "--json", ...parameters])).out)[0]?.["deleted"];
  const unasked = await threadmark(["delete", "user-42", url]);
  expect([unasked.code, unasked.err]).toEqual([
    6,
    expect.stringMatching(/Nobody is here to ask: pass --yes to do it\.$/m),
  ]);
  expect(await deleted("--checkpoint", "@0")).toBe(1);
  expect(await deleted("--run", "r2")).toBe(1);
  expect(await deleted()).toBe(2);
  expect(records((await threadmark(["threads", url, "--json"])).out)).toEqual([]);
});

test("what one store exports another imports, by pipe or by file", async () => {
  const url = await storeWith(threeSteps);
  const directory = folderOfTest();
  const { out } = await threadmark(["export", url]);
  const other = `file:${join(directory, "files")}`;
  const piped = await threadmark(["import", "--url", other, "--json"], { stdin: out });
  expect(records(piped.out)).toEqual([{ imported: 1, unchanged: 0, checkpoints: 3 }]);
  expect(await stateOf(other, "user-42")).toEqual(await stateOf(url, "user-42"));
  const bundle = join(directory, "one.bundle");
  const { err } = await threadmark(["export", "user-42", url, "--output", bundle]);
  expect(err).toMatch(/^Wrote 3 checkpoints, /);
  expect(lines(readFileSync(bundle, "utf8"))).toHaveLength(lines(out).length);
  const again = await threadmark(["import", bundle, other]);
  expect(again.err).toBe("Read 3 checkpoints: 0 threads imported, 1 thread there already.\n");
});

test("an export into what is no file, as a pipe or a device, goes into it and leaves it there", async () => {
  const url = await storeWith(threeSteps);
  const pipe = join(folderOfTest(), "pipe");
  execFileSync("mkfifo", [pipe]);
  const reading = readFile(pipe, "utf8");
  expect((await threadmark(["export", "user-42", url, "--output", pipe])).code).toBe(0);
  expect(statSync(pipe).isFIFO()).toBe(true);
  expect(lines(await reading)).toHaveLength(lines((await threadmark(["export", url])).out).length);
});

test("an export that fails leaves no file, an import that fails says where", async () => {
  const url = await storeWith(threeSteps);
  const bundle = join(folderOfTest(), "x.bundle");
  const missing = await threadmark(["export", "user-24", url, "--output", bundle]);
  expect([missing.code, missing.err]).toEqual([
    3,
    'threadmark: There is no thread "user-24". Did you mean "user-42"?\n',
  ]);
  expect(existsSync(bundle)).toBe(false);
  writeFileSync(bundle, "not a bundle\n");
  const damaged = await threadmark(["import", bundle, url]);
  expect([damaged.code, damaged.err]).toEqual([1, expect.stringContaining("Line 1 of the bundle is damaged")]);
  expect((await threadmark(["import", `${bundle}.missing`, url])).code).toBe(3);
});

test("stats, verify and compact say what they found", async () => {
  const url = await storeWith(threeSteps);
  const { out } = await threadmark(["stats", url, "--json"]);
  expect(records(out)[0]).toMatchObject({ threads: 1, checkpoints: 3, bytes: { total: expect.any(Number) } });
  expect((await threadmark(["stats", url])).out).toMatch(/^threads +1\ncheckpoints +3\n/);
  expect(await threadmark(["verify", url])).toEqual({ code: 0, out: "", err: "No faults.\n" });
  expect((await threadmark(["compact", url])).err).toMatch(/ before, .* after\.\n$/);
});

test("verify ends with a code of its own when there are faults", async () => {
  const url = `file:${join(folderOfTest(), "files")}`;
  const store = await open<Record<string, unknown>>(url);
  await threeSteps(store);
  await store.close();
  const { readdirSync } = await import("node:fs");
  const directory = url.slice("file:".length);
  const journal = readdirSync(directory, { recursive: true, encoding: "utf8" }).find((name) =>
    name.endsWith(".jsonl"),
  )!;
  const text = readFileSync(join(directory, journal), "utf8");
  writeFileSync(join(directory, journal), text.replace('"hello"', '"hullo"'));
  const { code, out } = await threadmark(["verify", url, "--json"]);
  expect(code).toBe(5);
  expect(records(out)[0]).toMatchObject({ ok: false });
});

test("erase takes values out of a history by paths, says where they were, and compacts on request", async () => {
  const url = await storeWith(async (store) => {
    const thread = store.thread("t");
    await thread.put({ state: { user: { email: "alice@example.com" }, log: [] } });
    await thread.put({ update: { append: { log: ["wrote to alice@example.com"] } } });
    await thread.fork({ into: "fork" });
  });
  const path = url.slice("sqlite:".length);
  expect((await threadmark(["erase", "t", "--url", url, "--yes"])).code).toBe(2);
  expect((await threadmark(["erase", "t", "user.email", url])).code).toBe(6);
  expect((await threadmark(["erase", "t", "user.email", url, "--yes"])).code).toBe(4);
  const done = await threadmark(["erase", "t", "user.email", url, "--yes", "--forks", "--compact"]);
  expect(done).toMatchObject({ code: 0, err: expect.stringMatching(/Erased in \d+ places/) });
  expect(done.out).toContain("state  user.email");
  expect(readFileSync(path).includes("alice")).toBe(false);
  expect((await threadmark(["show", "fork", "log[0]", url])).out).toContain("wrote to [erased]");
  const again = await threadmark(["erase", "t", "user.email", url, "--yes", "--forks", "--json"]);
  expect(JSON.parse(again.out)).toMatchObject({ thread: "t", erased: [] });
});

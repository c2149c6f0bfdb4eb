import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Store } from "../../../src/index.ts";
import { folderOfTest } from "../../support/folders-of-tests.ts";
import { lines, records, storeWith, threadmark, threeSteps } from "../run.ts";

const long = "article-of-a-tenant-with-a-long-name-0001";

async function branched(store: Store<Record<string, unknown>>): Promise<void> {
  const thread = store.thread(long);
  await thread.put({ state: { total: 12 }, source: "input", next: ["draft"], workflow: "article" });
  const draft = await thread.put({ update: { set: { total: 5 } }, node: "draft", next: ["check"] });
  await store.thread(long, { namespace: ["check", "0.1"] }).put({ state: { claim: 1 }, node: "judge" });
  await thread.put({ update: { set: { total: 6 } }, node: "check" });
  await thread.put({ update: { set: { total: 7 } }, node: "edit", label: "again" }, { parent: draft.id });
  await thread.fork({ at: draft.id, into: "fork" });
}

test("on a narrow terminal columns leave, and ids stay whole", async () => {
  const url = await storeWith(branched);
  const env = { NO_COLOR: "1" };
  const wide = await threadmark(["threads", url], { env, terminal: { columns: 140 } });
  expect(lines(wide.out)[0]).toMatch(/^THREAD +STATUS +WORKFLOW +STEP +NODE +CHECKPOINTS +UPDATED +FORKED FROM$/);
  const narrow = await threadmark(["threads", url], { env, terminal: { columns: 64 } });
  expect(lines(narrow.out)[0]).toMatch(/^THREAD +STATUS +UPDATED$/);
  expect(narrow.out).toContain(`${long}  `);
  const tiny = await threadmark(["threads", url], { env, terminal: { columns: 40 } });
  for (const line of lines(tiny.out)) expect(line.length).toBeLessThanOrEqual(40);
  // Names differ at their ends: the middle is left out.
  expect(tiny.out).toMatch(/^article-of\S*…\S*-0001 /m);
});

test("history --graph draws branches, nested graphs, heads and labels", async () => {
  const url = await storeWith(branched);
  const { out } = await threadmark(["history", long, "--graph", url], { env: { NO_COLOR: "1" } });
  const drawn = lines(out).map((line) => line.replace(/ (?:[0-9a-f]{6}|now)(?= |$)/g, ""));
  expect(drawn).toEqual([
    "● @2 edit (head) (done) (again) total 5 → 7",
    "│ ● @2 check total 5 → 6",
    "│ │ ● @0 judge check/0.1 (head)",
    "├─╯",
    "○ @1 draft total 12 → 5",
    "○ @0 input total 12",
  ]);
  const fork = await threadmark(["history", "fork", "--graph", url], { env: { NO_COLOR: "1" } });
  expect(lines(fork.out).at(-1)).toBe(`╰ forked from ${long}`);
});

test("history on a terminal says what each step changed, under ids that show takes", async () => {
  const url = await storeWith(threeSteps);
  const { out } = await threadmark(["history", "user-42", url], { env: { NO_COLOR: "1" }, terminal: { columns: 120 } });
  const newest = lines(out)[1]!;
  expect(newest).toContain("total 12n → 13n");
  const [id = ""] = newest.split(/\s+/);
  expect(id).toHaveLength(6);
  const shown = await threadmark(["show", "user-42", id, url, "--json"]);
  expect(records(shown.out)[0]).toMatchObject({ step: 2, node: "act" });
});

test("show prints the part of a state at a path, counted from the end too", async () => {
  const url = await storeWith(threeSteps);
  expect((await threadmark(["show", "user-42", "@1", "messages[-1]", url])).out).toBe("hi\n");
  expect((await threadmark(["show", "user-42", "messages[0]", url])).out).toBe("hello\n");
  expect((await threadmark(["show", "user-42", "@1", "total", url, "--json"])).out).toBe('{"$":"bigint","v":"12"}\n');
  const missing = await threadmark(["show", "user-42", "@1", "messages[7]", url]);
  expect([missing.code, missing.err]).toEqual([2, "threadmark: messages is a list of 2: there is no 7.\n"]);
  const misspelt = await threadmark(["show", "user-42", "@1", "message", url]);
  expect(misspelt.err).toBe('threadmark: The state has messages, total, seen: there is no "message".\n');
  const neither = await threadmark(["show", "user-42", "nothing", url]);
  expect(neither.code).toBe(3);
});

test("a step that is not there is answered with the steps that are", async () => {
  const url = await storeWith(threeSteps);
  const { code, err } = await threadmark(["show", "user-42", "@9", url]);
  expect([code, err]).toEqual([3, 'threadmark: Thread "user-42" has no step 9. Its steps are @0 to @2.\n']);
});

test("show of a failed thread begins with the error and its causes", async () => {
  const url = await storeWith(async (store) => {
    const thread = store.thread("t");
    const { id } = await thread.put({ state: { n: 1 }, next: ["fetch"] });
    const value = new Error("The service answered 503", { cause: new TypeError("fetch failed") });
    await thread.putWrites(id, { task: "0", node: "fetch", writes: [{ channel: "error", index: -1, value }] });
  });
  const { out } = await threadmark(["show", "t", url]);
  expect(lines(out).slice(0, 3)).toEqual([
    "fetch failed: Error",
    "  The service answered 503",
    "  because TypeError: fetch failed",
  ]);
  expect(out).not.toContain("writes");
});

test("show prints questions over several lines, and no escaped line ends", async () => {
  const value = { question: "Is this true?", choices: ["true", "false"], why: "x".repeat(80) };
  const url = await storeWith(async (store) => {
    await store.thread("t").put({
      state: {},
      next: ["judge"],
      interrupts: [{ id: "q", node: "judge", value }],
      metadata: { list: Array.from({ length: 10 }, (_, index) => `entry ${index}`) },
    });
  });
  const { out } = await threadmark(["show", "t", url]);
  expect(out).toMatch(/^judge asks q\n {2}Is this true\?\n {2}answers: true \| false\n {2}with \{ why: 'x+/);
  expect(out).not.toContain("\\u000a");
});

test("a state of several screens is shortened, and --full prints all of it", async () => {
  const url = await storeWith(async (store) => {
    await store.thread("t").put({ state: { rows: Array.from({ length: 400 }, () => "lorem ".repeat(100)) } });
  });
  const short = await threadmark(["show", "t", url]);
  expect(short.out.length).toBeLessThan(20_000);
  expect(short.out).toContain("--full prints all of it");
  expect((await threadmark(["show", "t", url, "--full"])).out.length).toBeGreaterThan(200_000);
});

test("a person whose screen is too small reads in a pager, and others get plain output", async () => {
  const url = await storeWith(threeSteps);
  const page = vi.fn(async () => true);
  const terminal = { columns: 80, rows: 10 };
  const paged = await threadmark(["show", "user-42", url], { terminal, page });
  expect(paged.out).toBe("");
  expect(page).toHaveBeenCalledWith(expect.stringContaining("total"));
  const large = await threadmark(["show", "user-42", url], { terminal: { columns: 80, rows: 100 }, page });
  expect(large.out).toContain("total");
  const piped = await threadmark(["show", "user-42", url], { page });
  expect(piped.out).toContain("total");
  expect(page).toHaveBeenCalledTimes(1);
  const without = await threadmark(["show", "user-42", url], { terminal, page: async () => false });
  expect(without.out).toContain("total");
});

test("search finds a text in ids, labels and states, whatever its case, and marks it", async () => {
  const url = await storeWith(async (store) => {
    await threeSteps(store);
    await store.thread("refactoring").put({ state: { list: [{ text: "nothing here" }] } });
  });
  const { out } = await threadmark(["search", "REFACTOR", url, "--json"]);
  expect(records(out).map(({ thread, name, excerpt }) => [thread, name, excerpt])).toEqual([
    ["refactoring", "id", "refactoring"],
    ["user-42", "label", "before-refactor"],
  ]);
  const marked = await threadmark(["search", "hello", url], { terminal: { columns: 80 } });
  expect(marked.out).toContain("messages[0]");
  expect(marked.out).toContain("\u001b[1mhello\u001b[22m");
  const old = await threadmark(["search", "12", "--history", url, "--json"]);
  expect(records(old.out).map(({ step }) => step)).toEqual([1, 0]);
  const none = await threadmark(["search", "absent", url]);
  expect([none.code, none.err]).toEqual([0, "Nothing found in 2 threads.\n"]);
});

test("ui --open hands the address to the person's browser", async () => {
  const url = await storeWith(threeSteps);
  const folder = folderOfTest();
  const [browser, opened] = [join(folder, "browser"), join(folder, "opened")];
  writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > "${opened}.part" && mv "${opened}.part" "${opened}"\n`);
  chmodSync(browser, 0o700);
  const interrupt = new AbortController();
  const serving = threadmark(["ui", url, "--open"], { env: { BROWSER: browser }, signal: interrupt.signal });
  await vi.waitFor(() => expect(existsSync(opened)).toBe(true), { timeout: 30_000 });
  interrupt.abort();
  const { out } = await serving;
  expect(out).toContain(readFileSync(opened, "utf8"));
});

test("a failure is marked in red on a terminal, and plain elsewhere", async () => {
  const url = await storeWith(threeSteps);
  const seen = await threadmark(["show", "none", url], { terminal: { columns: 80 } });
  expect(seen.err).toContain("\u001b[31m\u001b[1mthreadmark:");
  expect((await threadmark(["show", "none", url])).err).toMatch(/^threadmark: There is no thread "none"/);
});

test("show says how to read the rest of a list that it cuts, also of a short one", async () => {
  const url = await storeWith(async (store) => {
    await store.thread("cut").put({ state: { messages: Array.from({ length: 101 }, (_, n) => n) } });
    await store.thread("whole").put({ state: { messages: Array.from({ length: 100 }, (_, n) => n) } });
  });
  expect((await threadmark(["show", "cut", url])).out).toContain("1 more item");
  expect((await threadmark(["show", "cut", url])).out).toContain("Shortened. --full prints all of it");
  expect((await threadmark(["show", "whole", url])).out).not.toContain("Shortened");
  expect((await threadmark(["show", "cut", "messages[-1]", url])).out).toBe("100\n");
});

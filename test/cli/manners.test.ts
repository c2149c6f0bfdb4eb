import { existsSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { printTable } from "../../src/cli/output/table.ts";
import { Terminal } from "../../src/cli/output/terminal.ts";
import { folderOfTest } from "../support/folders-of-tests.ts";
import { lines, records, storeWith, threadmark, threeSteps } from "./run.ts";

const escape = String.fromCharCode(27);

test("every command has help with an example, and a store to name if it has one", async () => {
  const { out } = await threadmark(["--help"]);
  const names = [...out.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name]) => name!).filter((name) => !name.startsWith("-"));
  expect(names.length).toBeGreaterThan(15);
  for (const name of names) {
    const { code, out: help } = await threadmark([name, "--help"]);
    expect([name, code]).toEqual([name, 0]);
    expect(help).toMatch(/\nExamples?:\n {2}/);
  }
});

test("an unknown command or option suggests the nearest, and ends with 2", async () => {
  expect(await threadmark(["thredas"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("Did you mean threads?"),
  });
  expect(await threadmark(["threads", "--ordre"])).toMatchObject({ code: 2, err: expect.stringContaining("--order") });
  expect((await threadmark(["threads", "--limit", "many"])).code).toBe(2);
  expect(await threadmark(["ui", "--port", "99999"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("from 0 to 65535"),
  });
  expect((await threadmark([])).code).toBe(2);
});

test("a url before the other arguments is told where it belongs", async () => {
  for (const given of [
    ["history", "sqlite:agent.db", "t", "--graph"],
    ["show", "sqlite:agent.db", "t"],
    ["search", "file:agent", "text"],
  ]) {
    expect(await threadmark(given)).toMatchObject({
      code: 2,
      err: `threadmark: The url comes last, or with --url ${given[1]}.\n`,
    });
  }
});

test("an unknown thread or checkpoint suggests the nearest, and ends with 3", async () => {
  const url = await storeWith(async (store) => {
    await threeSteps(store);
    await store.thread("user-42").put({ id: "final-answer", state: {} });
  });
  const thread = await threadmark(["show", "user-24", url]);
  expect(thread).toMatchObject({ code: 3, err: 'threadmark: There is no thread "user-24". Did you mean "user-42"?\n' });
  const checkpoint = await threadmark(["show", "user-42", "final-anwser", url]);
  expect(checkpoint).toMatchObject({ code: 3, err: expect.stringContaining('Did you mean "final-answer"?') });
  const far = await threadmark(["show", "nobody", url]);
  expect(far.err).not.toContain("Did you mean");
});

test("a store that is not there is named, not made, and ends with 3", async () => {
  for (const [scheme, what] of [
    ["sqlite", "file"],
    ["file", "directory"],
  ] as const) {
    const path = join(folderOfTest(), "typo");
    const err = `threadmark: There is no ${what} ${path}. Check the path: the first write to a store makes it.\n`;
    for (const command of ["threads", "stats", "verify", "compact", "export", "show t", "history t", "diff t"]) {
      const ended = await threadmark([...command.split(" "), "--url", `${scheme}:${path}`]);
      expect([command, ended]).toEqual([command, { code: 3, out: "", err }]);
    }
    expect(existsSync(path)).toBe(false);
  }
  const env = { THREADMARK_URL: `sqlite:${join(folderOfTest(), "typo")}` };
  const { err } = await threadmark(["threads", "--json"], { env });
  expect(JSON.parse(err)).toMatchObject({ error: { code: "NOT_FOUND" } });
  expect((await threadmark(["threads", "memory:"])).code).toBe(0);
});

test("a store that is there but empty has no threads, which is no failure", async () => {
  const url = await storeWith(async (store) => {
    await store.thread("t").put({ state: {} });
    await store.thread("t").delete();
  });
  expect(await threadmark(["threads", url])).toEqual({ code: 0, out: "", err: `No threads in ${url}.\n` });
});

test("with --json an error is a record too", async () => {
  const url = await storeWith(threeSteps);
  const { err } = await threadmark(["show", "user-24", url, "--json"]);
  expect(JSON.parse(err)).toEqual({ error: { code: "NOT_FOUND", message: expect.stringContaining("user-42") } });
  expect(JSON.parse((await threadmark(["show", "--json"])).err)).toMatchObject({ error: { code: "USAGE" } });
});

test("behind -- a thread may be called --json", async () => {
  const url = await storeWith(async (store) => void (await store.thread("--json").put({ state: {} })));
  expect((await threadmark(["history", "--url", url, "--", "--json"])).out).toMatch(/^CHECKPOINT/);
  expect(records((await threadmark(["history", "--url", url, "--json", "--", "--json"])).out)).toHaveLength(1);
});

test("there is colour on a terminal, and none in a pipe or with NO_COLOR", async () => {
  const url = await storeWith(threeSteps);
  const terminal = { columns: 100 };
  expect((await threadmark(["threads", url], { terminal })).out).toContain(escape);
  expect((await threadmark(["threads", url], { terminal, env: { NO_COLOR: "1" } })).out).not.toContain(escape);
  expect((await threadmark(["threads", url])).out).not.toContain(escape);
  expect((await threadmark(["threads", url, "--json"], { terminal })).out).not.toContain(escape);
});

test("a table fits the terminal", async () => {
  const url = await storeWith(async (store) => {
    await store.thread("a".repeat(200)).put({ state: {}, workflow: "w".repeat(100) });
  });
  const { out } = await threadmark(["threads", url], { terminal: { columns: 72 }, env: { NO_COLOR: "1" } });
  for (const line of lines(out)) expect(line.length).toBeLessThanOrEqual(72);
});

test("a table may have any number of rows", () => {
  const stdout = new PassThrough().resume();
  const terminal = new Terminal({ stdin: new PassThrough(), stdout, stderr: new PassThrough(), env: {} });
  const rows = Array.from({ length: 300_000 }, (_, index) => index);
  printTable(terminal, [{ title: "ROW", text: String }], rows);
  expect(stdout.readableLength + stdout.writableLength).toBeGreaterThan(rows.length);
});

test("a table is aligned whatever script its ids are in", async () => {
  const url = await storeWith(async (store) => {
    for (const id of ["plain", "注文の履歴", "naïve-e\u0301", "🚀 launch", "한국어".repeat(30)]) {
      await store.thread(id).put({ state: {}, createdAt: 1_000 });
    }
  });
  const { out } = await threadmark(["threads", url], { terminal: { columns: 72 }, env: { NO_COLOR: "1" } });
  // Each in the columns that it takes on a terminal: two for every wide character, none for what combines.
  const flat = out.replaceAll(/[\u3000-\u9fff\uac00-\ud7a3]|🚀/gu, "xx").replaceAll("\u0301", "");
  const [title = "", ...rows] = lines(flat);
  expect(rows).toHaveLength(5);
  for (const row of rows) expect(row.indexOf("done")).toBe(title.indexOf("STATUS"));
});

test("ids and labels do nothing to the terminal", async () => {
  const id = `a${escape}[2Jb`;
  const url = await storeWith(async (store) => {
    await store.thread(id).put({ state: { text: `${escape}[2J` }, label: `${escape}]0;title`, node: "n\u202e" });
  });
  for (const parameters of [["threads"], ["history", id], ["show", id], ["show", `${id}x`]]) {
    const { out, err } = await threadmark([...parameters, url]);
    expect(out + err).not.toContain(escape);
    expect(out + err).not.toContain("\u202e");
  }
});

test("nothing in a state, a question or a failure does anything to the terminal", async () => {
  const hostile = `${escape}]0;title${String.fromCharCode(7)}\u009b2J\u202e`;
  const url = await storeWith(async (store) => {
    const thread = store.thread(`t${hostile}`);
    const value = { error: new Error(hostile), pattern: new RegExp(hostile), text: hostile, [hostile]: 1 };
    await thread.put({ id: hostile, state: value, interrupts: [{ id: hostile, node: hostile, value }] });
    await thread.putWrites(hostile, { task: hostile, writes: [{ channel: hostile, value }] });
    const long = store.thread("long");
    for (let step = 0; step < 110; step += 1) await long.put({ id: `${step}${hostile}`, state: { ...value, step } });
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what this looks for.
  const acts = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;
  const colour = new RegExp(`${escape}\\[\\d+m`, "g");
  for (const command of ["show", "diff", "history", "history --json", "show --json", "show --full"]) {
    const [name = "", ...options] = command.split(" ");
    for (const thread of [`t${hostile}`, "long"]) {
      for (const terminal of [undefined, { columns: 80 }]) {
        const { out, err } = await threadmark([name, thread, url, ...options], terminal ? { terminal } : {});
        expect(out + err).not.toBe("");
        expect({ command, seen: acts.exec((out + err).replaceAll(colour, ""))?.[0] }).toEqual({ command });
        for (const line of options.includes("--json") ? lines(out) : []) JSON.parse(line);
      }
    }
  }
});

test("the version is the package's", async () => {
  const { out } = await threadmark(["--version"]);
  expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

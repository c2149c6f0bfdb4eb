import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { beforeAll, expect, it } from "vitest";
import { open } from "../../../src/api/open.ts";
import { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import { records, threadmark } from "../../cli/run.ts";
import { collect } from "../../support/collect.ts";
import { folderOfFile } from "../../support/folders-of-tests.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { installOriginalSavers, sqliteSaver } from "../support/original-savers.ts";
import { checkpointOf, loop, thread } from "../support/saver.ts";

const directory = folderOfFile();
const program = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));
const text = "What a message says takes a few hundred bytes. ".repeat(8);

beforeAll(() => installOriginalSavers(), 300_000);

/** A conversation of so many steps, a message and a write each. */
async function converse(saver: BaseCheckpointSaver, id: string, steps: number): Promise<void> {
  const messages: BaseMessage[] = [];
  let config = thread(id);
  for (let n = 1; n <= steps; n++) {
    messages.push(new AIMessage({ content: `${n}: ${text}`, id: `m${n}` }));
    config = await saver.put(config, checkpointOf({ messages, n }, n), { ...loop, step: n }, { messages: n, n });
    await saver.putWrites(config, [["messages", [messages.at(-1)]]], `task ${n}`);
  }
}

async function tuplesOf(saver: BaseCheckpointSaver): Promise<CheckpointTuple[]> {
  return collect(saver.list({}));
}

/** How many checkpoints a store has. */
async function countIn(url: string): Promise<number> {
  if (!existsSync(url.slice("sqlite:".length))) return 0;
  const store = await open(url, { readOnly: true });
  try {
    return (await store.measure()).checkpoints;
  } finally {
    await store.close();
  }
}

it("an import that is killed or interrupted goes on when it is run again, and the store is smaller", async () => {
  const file = join(directory, "long.sqlite");
  const original = await sqliteSaver(file);
  for (const id of ["a", "b", "c"]) await converse(original.saver, id, 80);
  const expected = await tuplesOf(original.saver);
  await original.close();
  const url = `sqlite:${join(directory, "long.db")}`;
  const command = ["import-langgraph", file, "--into", url];

  const child = spawn(process.execPath, [program, ...command], { stdio: "ignore" });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.on("close", (_code, signal) => resolve(signal)));
  while (child.exitCode === null && (await countIn(url)) < 40) await sleep(5);
  child.kill("SIGKILL");
  expect(await ended).toBe("SIGKILL");
  const afterKill = await countIn(url);
  expect(afterKill).toBeGreaterThanOrEqual(40);
  expect(afterKill).toBeLessThan(expected.length);

  const interrupted = await threadmark(command, { signal: AbortSignal.abort() });
  expect([interrupted.code, interrupted.err]).toEqual([130, expect.stringContaining("Run the same command again")]);

  const { code, out } = await threadmark([...command, "--json"]);
  expect(code).toBe(0);
  const [report] = records(out);
  const { checkpoints, unchanged, bytes } = report as never as Record<"checkpoints" | "unchanged", number> & {
    readonly bytes: { readonly before: number; readonly after: number };
  };
  expect(unchanged).toBeGreaterThanOrEqual(afterKill);
  expect(checkpoints + unchanged).toBe(expected.length);
  expect(bytes.before).toBeGreaterThan(10 * bytes.after);
  const saver = await ThreadmarkSaver.open(url);
  for (const tuple of expected) expect(await saver.getTuple(tuple.config)).toEqual(tuple);
  expect(await tuplesOf(saver)).toHaveLength(expected.length);
  expect(await saver.store.verify()).toMatchObject({ ok: true });
  await saver.close();
}, 240_000);

it("an import shows its progress on a terminal, and says at the end what it did", async () => {
  const file = join(directory, "small.sqlite");
  const original = await sqliteSaver(file);
  await converse(original.saver, "only", 2);
  await original.close();
  const url = `sqlite:${join(directory, "small.db")}`;
  const { code, out, err } = await threadmark(["import-langgraph", `sqlite:${file}`], {
    terminal: { columns: 100 },
    env: { THREADMARK_URL: url },
  });
  expect([code, out]).toEqual([0, ""]);
  expect(err).toContain("importing, checkpoints:");
  expect(err).toContain("Read 1 thread: 2 checkpoints and 2 writes imported.");
  expect(err).toMatch(/[\d.]+ k?B(ytes)? before, [\d.]+ k?B(ytes)? after\./i);
  const again = await threadmark(["import-langgraph", file, "--into", url]);
  expect(again.err).toContain("0 checkpoints and 0 writes imported, 2 checkpoints there already.");
});

it("what LangGraph's saver cannot read itself is named, everything else is imported, and it ends with 5", async () => {
  const file = join(directory, "unreadable.sqlite");
  const original = await sqliteSaver(file);
  const first = await original.saver.put(thread("t"), checkpointOf({ n: 1 }), loop, { n: 1 });
  const bad = checkpointOf({ n: 2n }, 2);
  const second = await original.saver.put(first, bad, loop, { n: 2 });
  const third = await original.saver.put(second, checkpointOf({ n: 3 }, 3), loop, { n: 3 });
  await original.saver.put(thread("x".repeat(600)), checkpointOf({ n: 1 }), loop, { n: 1 });
  const expected = await original.saver.getTuple(third);
  await original.close();
  const url = `sqlite:${join(directory, "unreadable.db")}`;
  const { code, out, err } = await threadmark(["import-langgraph", file, "--into", url, "--json"]);
  expect([code, JSON.parse(err)]).toMatchObject([5, { error: { code: "FAULTY" } }]);
  const [report] = records(out);
  expect(report).toMatchObject({
    checkpoints: 2,
    faults: [
      {
        thread: "t",
        namespace: "",
        checkpoint: bad.id,
        message: expect.stringContaining("in place of the checkpoint"),
      },
      { thread: "x".repeat(600), message: expect.stringContaining("512") },
    ],
  });
  expect((await threadmark(["import-langgraph", file, "--into", url])).out).toContain(`t / ${bad.id}: `);
  const saver = await ThreadmarkSaver.open(url);
  expect(await saver.getTuple(third)).toEqual(expected);
  await saver.close();
});

it("a source that is none is refused with a clear word and the exit code that docs/reference/cli.md lists", async () => {
  const not = join(directory, "text.sqlite");
  writeFileSync(
    not,
    "this is some text, and longer than the header of a database is, so that it is looked at. ".repeat(9),
  );
  const other = join(directory, "other.sqlite");
  new DatabaseSync(other).exec("CREATE TABLE checkpoints (id TEXT); CREATE TABLE writes (id TEXT)");
  const python = join(directory, "python.sqlite");
  const original = await sqliteSaver(python);
  await converse(original.saver, "p", 1);
  await original.query("UPDATE checkpoints SET type = 'msgpack'");
  await original.close();
  mkdirSync(join(directory, "folder"));
  const empty = await createDatabase();
  // A port that nothing listens on: it was just free.
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));

  const cases: readonly (readonly [string, number, string, RegExp])[] = [
    [join(directory, "nothing.sqlite"), 3, "NOT_FOUND", /There is no file .*nothing\.sqlite/],
    [join(directory, "folder"), 3, "NOT_FOUND", /is no file/],
    [not, 1, "UNSUPPORTED", /is no SQLite database/],
    [other, 3, "NOT_FOUND", /no database of LangGraph's SqliteSaver: it has no column "thread_id" in "checkpoints"/],
    [python, 1, "UNSUPPORTED", /"msgpack".*LangGraph for Python/],
    [empty.url, 3, "NOT_FOUND", /has no table "checkpoints" of LangGraph's PostgresSaver in the schema "public"/],
    [`postgres://user:secret@127.0.0.1:${port}/db`, 1, "BACKEND", /^postgres:\/\/127\.0\.0\.1:\d+\/db: .*reachable/],
    ["mysql://localhost/db", 2, "USAGE", /neither a SQLite file nor a postgres:\/\/ url/],
  ];
  for (const [source, expected, name, message] of cases) {
    const into = `sqlite:${join(directory, "never.db")}`;
    const { code, out, err } = await threadmark(["import-langgraph", source, "--into", into, "--json"]);
    const { error } = JSON.parse(err) as { readonly error: { readonly code: string; readonly message: string } };
    expect([source, code, error.code, out]).toEqual([source, expected, name, ""]);
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("secret");
  }
  expect((await threadmark(["import-langgraph"])).code).toBe(2);
  expect(existsSync(join(directory, "never.db"))).toBe(false);
  await empty.drop();
}, 120_000);

it("an import goes into a store that is encrypted with the keys of --key-file", async () => {
  const file = join(directory, "to-encrypt.sqlite");
  const original = await sqliteSaver(file);
  await original.saver.put(thread("t"), checkpointOf({ n: 1 }), loop, { n: 1 });
  await original.close();
  const keys = join(directory, "keys.txt");
  writeFileSync(keys, `one=${"5a".repeat(32)}\n`);
  const url = `sqlite:${join(directory, "encrypted.db")}`;
  expect((await threadmark(["import-langgraph", file, "--into", url, "--key-file", keys])).code).toBe(0);
  expect((await threadmark(["threads", url])).err).toContain("encrypted");
  const listed = await threadmark(["threads", url, "--key-file", keys, "--json"]);
  expect(records(listed.out).map(({ id }) => id)).toEqual(["t"]);
});

import { join } from "node:path";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { checkState } from "../../../bench/systems/check-state.ts";
import { DeltaThread } from "../../../bench/systems/delta-thread.ts";
import { stringify } from "../../../bench/systems/json.ts";
import { History } from "../../../bench/systems/measured-thread.ts";
import { rawSqlite } from "../../../bench/systems/raw-sqlite.ts";
import { memorySaver, threadmarkSaver } from "../../../bench/systems/savers.ts";
import type { System } from "../../../bench/systems/system.ts";
import { threadmark } from "../../../bench/systems/threadmark.ts";
import { workloads } from "../../../bench/workloads/index.ts";
import { folderOfFile } from "../../support/folders-of-tests.ts";

const folder = folderOfFile();

const noServer = (): never => {
  throw new Error("no server here");
};

/** LangGraph's SQLite and Postgres savers are packages of the benchmark alone; MemorySaver stands for them. */
const delta: System = {
  ...memorySaver,
  name: "MemorySaver + DeltaChannel",
  conversationOnly: true,
  async open(home) {
    const saver = new MemorySaver();
    return { ...(await memorySaver.open(home)), thread: (id) => new DeltaThread(saver, id) };
  },
};

const systems: readonly System[] = [
  ...(["memory", "file", "SQLite"] as const).flatMap((kind) => [
    threadmark(kind, "update", noServer),
    threadmark(kind, "state", noServer),
    threadmarkSaver(kind, noServer),
  ]),
  memorySaver,
  delta,
  rawSqlite("state"),
  stringify,
];

describe.each(systems)("$name", (system) => {
  const taken = workloads.filter(({ name, langchain }) =>
    langchain ? system.langchain : !system.conversationOnly || name === "conversation",
  );

  it.each(taken)("a system of the benchmark reads back $title, the latest and an old state", async (workload) => {
    const path = join(folder, `${system.name}-${workload.name}`.replaceAll(/\W+/g, "-"));
    const opened = await system.open({ path, url: "", schema: "", fsync: "normal" });
    const history = new History(opened, workload);
    await history.begin();
    const states = [history.state];
    for (let index = 0; index < 5; index += 1) {
      await history.advance(1);
      states.push(history.state);
    }
    const { thread } = history;
    checkState((await thread.latest?.()) ?? {}, history.state, system.name);
    if (thread.old) checkState(await thread.old(2), states[2] ?? {}, system.name);
    if (thread.history) expect(await thread.history(undefined, false)).toBe(6);
    await opened.close();
  });
});

it("a system that reads another state than was put is found out", () => {
  const expected = { messages: [{ id: "a" }, { id: "b" }] };
  expect(() => checkState({ messages: [{ id: "a" }] }, expected, "it")).toThrow("it read back another state");
});

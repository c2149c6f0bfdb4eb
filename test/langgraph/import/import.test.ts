import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { type BaseCheckpointSaver, type CheckpointTuple, DeltaSnapshot, TASKS } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import { records, threadmark } from "../../cli/run.ts";
import { collect } from "../../support/collect.ts";
import { folderOfFile } from "../../support/folders-of-tests.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/database.ts";
import { scenarios } from "../graphs/all.ts";
import { installOriginalSavers, type OriginalSaver, postgresSaver, sqliteSaver } from "../support/original-savers.ts";
import { checkpointOf, loop, thread } from "../support/saver.ts";

const directory = folderOfFile();
let database: TestDatabase;

beforeAll(async () => {
  await installOriginalSavers();
  database = await createDatabase();
}, 300_000);

afterAll(async () => {
  await database.drop();
});

/** A database of one of LangGraph's savers. */
interface Original {
  readonly name: string;
  /** The arguments that name it on the command line. */
  source(): string[];
  open(): Promise<OriginalSaver>;
  readonly checkpoints: string;
}

const originals: readonly Original[] = [
  {
    name: "SqliteSaver",
    source: () => [join(directory, "original.sqlite")],
    open: () => sqliteSaver(join(directory, "original.sqlite")),
    checkpoints: "checkpoints",
  },
  {
    name: "PostgresSaver",
    source: () => [database.url, "--schema", "their own"],
    open: () => postgresSaver(database.url, "their own"),
    checkpoints: '"their own".checkpoints',
  },
];

/** Where to, by the url that a person would give. */
const targets = [
  { name: "sqlite", url: async () => `sqlite:${join(directory, `${randomUUID()}.db`)}` },
  { name: "file", url: async () => `file:${join(directory, randomUUID())}` },
  // Beside LangGraph's own tables, if those are there too.
  { name: "postgres", url: async () => database.url },
] as const;

describe.each(originals)("what $name has", (original) => {
  let tuples: CheckpointTuple[] = [];

  beforeAll(async () => {
    const { saver, query, close } = await original.open();
    for (const { name, run } of scenarios) await run(saver, name);
    await putOldFormat(saver);
    await putBranches(saver);
    await putOrphan(saver, (id) => query(`DELETE FROM ${original.checkpoints} WHERE checkpoint_id = '${id}'`));
    // Threads one by one: PostgresSaver's list reads pending sends for one thread only.
    tuples = [];
    for (const { config } of await listAll(saver)) tuples.push((await saver.getTuple(config)) as CheckpointTuple);
    await close();
  }, 300_000);

  describe.each(targets)("imported into $name", (target) => {
    let url = "";
    let report: Record<string, unknown> | undefined;

    const run = async (): Promise<void> => {
      const { code, out, err } = await threadmark([
        ...["import-langgraph", ...original.source(), "--into", url, "--json"],
      ]);
      expect([code, err]).toEqual([0, ""]);
      report = records(out)[0];
    };
    const reading = async (work: (saver: ThreadmarkSaver) => Promise<void>): Promise<void> => {
      const saver = await ThreadmarkSaver.open(url);
      try {
        await work(saver);
      } finally {
        await saver.close();
      }
    };

    beforeAll(async () => {
      url = await target.url();
      await run();
    }, 300_000);
    afterAll(async () => {
      if (target.name === "postgres") await database.query("drop schema threadmark cascade");
    });

    it("an imported thread is complete: every tuple reads as LangGraph's saver reads it", async () => {
      expect(tuples.length).toBeGreaterThan(150);
      expect(report).toMatchObject({
        threads: scenarios.length + 4,
        checkpoints: tuples.length,
        unchanged: 0,
        faults: [],
      });
      await reading(async (saver) => {
        for (const tuple of tuples) expect(await saver.getTuple(tuple.config)).toEqual(tuple);
        expect(await listAll(saver)).toHaveLength(tuples.length);
        for (const { name } of scenarios) {
          const ids = tuples.filter(isRootOf(name)).map((tuple) => tuple.checkpoint.id);
          expect((await saver.getTuple(thread(name)))?.checkpoint.id).toBe(ids.sort().at(-1));
        }
      });
    });

    it("an imported thread goes on as a graph, and channels that keep only writes have their values", async () => {
      await reading(async (saver) => {
        const { saver: theirs, close } = await original.open();
        try {
          const names = scenarios.map(({ name }) => name).filter((name) => name.startsWith("a channel that keeps"));
          for (const tuple of tuples.filter((each) => names.some((name) => isRootOf(name)(each)))) {
            const options = { config: tuple.config, channels: ["messages", "turn"] };
            expect(await saver.getDeltaChannelHistory(options)).toEqual(await theirs.getDeltaChannelHistory(options));
          }
        } finally {
          await close();
        }
      });
    });

    it("a second import adds only the checkpoints that have come since", async () => {
      await run();
      expect(report).toMatchObject({ checkpoints: 0, writes: 0, unchanged: tuples.length });
      const { saver, close } = await original.open();
      const id = `later ${target.name}`;
      const config = await saver.put(thread(id), checkpointOf({ n: 1 }), loop, { n: 1 });
      await saver.putWrites(config, [["n", 2]], "task");
      await run();
      expect(report).toMatchObject({ checkpoints: 1, writes: 1, unchanged: tuples.length });
      await saver.putWrites(config, [["__interrupt__", "wait"]], "task");
      await saver.put(config, checkpointOf({ n: 2 }, 2), loop, { n: 2 });
      await run();
      expect(report).toMatchObject({ checkpoints: 1, writes: 1, unchanged: tuples.length + 1 });
      const expected = await saver.getTuple(config);
      await reading(async (ours) => expect(await ours.getTuple(config)).toEqual(expected));
      await saver.deleteThread(id);
      await close();
    });
  });
});

function isRootOf(name: string): (tuple: CheckpointTuple) => boolean {
  return ({ config }) => config.configurable?.["thread_id"] === name && config.configurable["checkpoint_ns"] === "";
}

async function listAll(saver: BaseCheckpointSaver): Promise<CheckpointTuple[]> {
  return collect(saver.list({}));
}

/** Checkpoints before version 4: what was sent is with the parent's writes. */
async function putOldFormat(saver: BaseCheckpointSaver): Promise<void> {
  const old = (values: Record<string, unknown>, version: number): ReturnType<typeof checkpointOf> =>
    checkpointOf(values, version, { v: 3 });
  const first = await saver.put(thread("old format"), old({ a: 1 }, 1), loop, { a: 1 });
  await saver.putWrites(first, [[TASKS, { node: "n", args: { x: 1 } }]], "t1");
  await saver.put(first, old({ a: 2 }, 2), loop, { a: 2 });
}

/** Roots, branches, odd namespaces, metadata, and ids that are not in the order of their parents. */
async function putBranches(saver: BaseCheckpointSaver): Promise<void> {
  const step = (config: RunnableConfig, id: string, values: Record<string, unknown>, version: number) =>
    saver.put(
      config,
      checkpointOf(values, version, { id }),
      { ...loop, step: version, tags: ["x", { deep: null }] } as never,
      Object.fromEntries(Object.keys(values).map((channel) => [channel, version])),
    );
  const messages = [new HumanMessage({ content: "root", id: "m0" })];
  const root = await step(thread("branches"), "5", { messages, kept: new Map([["k", new Set([1])]]) }, 1);
  await step(root, "3", { messages: [...messages, new HumanMessage({ content: "left", id: "m1" })] }, 2);
  await step(root, "4", { log: new DeltaSnapshot(["s"]), undefined: undefined }, 3);
  await step(thread("branches"), "1", { other: "root", __langgraph__: "a channel", "a.b": [null] }, 1);
  const nested = { configurable: { thread_id: "branches", checkpoint_ns: "inner:1|deep||odd", checkpoint_id: "5" } };
  await step(nested, "6", { n: 1 }, 1);
}

/** A checkpoint whose parent is gone, and writes whose checkpoint is. */
async function putOrphan(saver: BaseCheckpointSaver, remove: (id: string) => Promise<void>): Promise<void> {
  for (const [id, v] of [
    ["orphan", 4],
    ["old orphan", 3],
  ] as const) {
    const gone = randomUUID();
    const parent = await saver.put(thread(id), checkpointOf({ n: 1 }, 1, { id: gone, v }), loop, { n: 1 });
    await saver.putWrites(parent, [[TASKS, { node: "n", args: 1 }]], "t");
    const child = checkpointOf({ n: 2, list: [1, 2] }, 2, { v });
    const config = await saver.put(parent, child, loop, child.channel_versions);
    // The two savers do not agree on what a checkpoint of the old format shows whose parent sent nothing.
    const last = checkpointOf({ n: 3, list: [1, 2] }, 2, { channel_versions: { n: 3, list: 2 } });
    await saver.put(config, last, loop, { n: 3 });
    await remove(gone);
  }
}

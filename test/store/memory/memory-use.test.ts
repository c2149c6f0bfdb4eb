import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, expect, test } from "vitest";
import { open, type Store } from "../../../src/index.ts";
import { folderOfFile } from "../../support/folders-of-tests.ts";

let collect: () => void;
const directory = folderOfFile();

beforeAll(() => {
  setFlagsFromString("--expose-gc");
  collect = runInNewContext("gc") as () => void;
});

const MEGABYTE = 2 ** 20;

/** By how many megabytes the heap has grown when the work is done, and what it made is no longer used. */
async function growth(work: () => Promise<void>): Promise<number> {
  collect();
  const before = process.memoryUsage().heapUsed;
  await work();
  collect();
  return (process.memoryUsage().heapUsed - before) / MEGABYTE;
}

function opened(name: string): Promise<Store<{ text: string; turn: number }>> {
  return open(`sqlite:${join(directory, name)}`, { fsync: "normal", cacheBytes: 4 * MEGABYTE });
}

test("what is remembered of many threads' unsealed rows stays within cacheBytes", async () => {
  const store = await opened("rows.db");
  const grown = await growth(async () => {
    for (let number = 0; number < 150; number += 1) {
      const thread = store.thread(`t${number}`);
      await thread.put({ state: { text: "", turn: 0 } });
      // 45 MB of text, in rows that no pack has taken yet.
      for (let turn = 0; turn < 30; turn += 1) {
        await thread.put({ update: { set: { text: `${turn}`.repeat(5_000), turn } } });
      }
    }
  });
  expect(grown).toBeLessThan(20);
  await store.close();
});

test("what is remembered of long histories that were walked through stays within cacheBytes", async () => {
  const store = await opened("histories.db");
  for (let number = 0; number < 20; number += 1) {
    const thread = store.thread(`t${number}`);
    await thread.put({ state: { text: "", turn: 0 } });
    for (let turn = 0; turn < 2_000; turn += 1) await thread.put({ update: { set: { turn } } });
  }
  await store.close();
  const reader = await opened("histories.db");
  const grown = await growth(async () => {
    for (let number = 0; number < 20; number += 1) {
      let count = 0;
      for await (const _ of reader.thread(`t${number}`).history()) count += 1;
      expect(count).toBe(2_001);
    }
  });
  expect(grown).toBeLessThan(8);
  await reader.close();
});

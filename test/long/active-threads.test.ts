import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { open } from "../../src/index.ts";
import { makeFolder, removeFolder } from "../support/temporary-folder.ts";
import { howMany } from "./campaign.ts";

const threads = howMany(1_000_000);
const callers = 64;
const MEGABYTE = 2 ** 20;

test(`a store remembers no more after ${threads} active threads than after a quarter of them`, async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const folder = makeFolder();
  const heaps: number[] = [];
  try {
    await using store = await open<{ n: number; text: string }>(`sqlite:${join(folder, "many.db")}`, {
      fsync: "normal",
    });
    let next = 0;
    for (let quarter = 1; quarter <= 4; quarter += 1) {
      const end = (quarter * threads) / 4;
      await Promise.all(
        Array.from({ length: callers }, async () => {
          while (next < end) {
            const thread = store.thread(`thread-${next++}`);
            await thread.put({ state: { n: 1, text: "some words of a talk ".repeat(12) } });
            await thread.put({ update: { set: { n: 2 } } });
          }
        }),
      );
      collect();
      heaps.push(process.memoryUsage().heapUsed / MEGABYTE);
    }
    console.log(`heap after each quarter: ${heaps.map((heap) => heap.toFixed(0)).join(", ")} MB`);
    expect((heaps[3] as number) - (heaps[0] as number)).toBeLessThan(8);
  } finally {
    removeFolder(folder);
  }
}, 3_600_000);

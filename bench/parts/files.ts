import { open } from "../../src/index.ts";
import { runChild } from "../environment/child.ts";
import type { Part } from "../harness/context.ts";
import type { Cell } from "../harness/report.ts";
import { bytesOf } from "../systems/sizes.ts";
import { words } from "../workloads/words.ts";

interface Opening {
  readonly open: number;
  readonly list: number;
  readonly latest: number;
  readonly memory: number;
  readonly listed: number;
  readonly messages: number;
}

/** Threads that are written at a time: each has its state in memory meanwhile. */
const together = 50;

/** Puts of a thread that are not waited for one by one: they are committed in their order. */
const inARow = 20;

async function fill(path: string, threads: number, checkpoints: number): Promise<number> {
  const store = await open<{ messages: unknown[] }>(`file:${path}`, { fsync: "normal" });
  const start = performance.now();
  for (let first = 0; first < threads; first += together) {
    const some = Array.from({ length: Math.min(together, threads - first) }, (_, index) =>
      store.thread(`thread-${first + index}`),
    );
    await Promise.all(some.map((thread) => thread.put({ state: { messages: [] } })));
    for (let step = 1; step < checkpoints; step += inARow) {
      const updates = Array.from({ length: Math.min(inARow, checkpoints - step) }, (_, index) => ({
        append: { messages: [{ id: step + index, text: words(step + index)(100) }] },
      }));
      await Promise.all(some.flatMap((thread) => updates.map((update) => thread.put({ update }))));
    }
  }
  const taken = performance.now() - start;
  await store.close();
  return taken;
}

/** Opening a file store does not read what is in it: a thousand threads of a thousand checkpoints, in a new process. */
export const files: Part = {
  name: "files",
  title: "opening a file store of 1,000 threads of 1,000 checkpoints in a new process",
  async run({ place, report, quick }) {
    const rows: Cell[][] = [];
    for (const [threads, checkpoints] of quick
      ? ([[100, 100]] as const)
      : ([
          [100, 100],
          [1_000, 1_000],
        ] as const)) {
      const path = place.path("files");
      const taken = await fill(path, threads, checkpoints);
      const found = await runChild<Opening>("open-files.ts", { path, cold: place.path("unused") });
      if (found.messages !== checkpoints - 1 || found.listed !== 100)
        throw new Error(`${found.messages} messages were read, ${found.listed} threads listed.`);
      const { open: opened, list, latest, memory } = found;
      const each = (taken * 1_000) / threads / checkpoints;
      rows.push([`${threads} × ${checkpoints}`, bytesOf(path), each, opened, list, latest, memory]);
      await place.clear({ path, url: "", schema: "", fsync: "normal" });
    }
    report.table(
      "A file store, opened in a new process",
      [
        { title: "threads × checkpoints" },
        { title: "size", unit: "bytes" },
        { title: "a put, when filling", unit: "µs" },
        { title: "open", unit: "ms" },
        { title: "first 100 threads listed", unit: "ms" },
        { title: "latest of one", unit: "ms" },
        { title: "memory for all that", unit: "MB" },
      ],
      rows,
    );
  },
};

import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { open, type Store } from "../../../src/index.ts";
import { makeFolder, removeFolder } from "../../support/temporary-folder.ts";

export type State = { text: string; n: number };

/** Fills a store, then verifies and exports it in a process with a heap of 64 MB. Returns what that found. */
export async function throughSmallHeap(
  fill: (store: Store<State>) => Promise<void>,
): Promise<{ readonly ok: boolean; readonly megabytes: number }> {
  const directory = makeFolder();
  try {
    const url = `sqlite:${join(directory, "store.db")}`;
    const store = await open<State>(url, { fsync: "normal", cacheBytes: 2 ** 20 });
    await fill(store);
    await store.close();
    const script = fileURLToPath(new URL("../../support/whole-store.ts", import.meta.url));
    // Marking in steps takes what is allocated meanwhile for live, so that on a fast machine garbage alone would fill the heap.
    const heap = ["--max-old-space-size=64", "--no-incremental-marking"];
    const { stdout } = await promisify(execFile)(process.execPath, [...heap, script, url]);
    const { ok, characters } = JSON.parse(stdout) as { ok: boolean; characters: number };
    return { ok, megabytes: characters / 2 ** 20 };
  } finally {
    removeFolder(directory);
  }
}

import type { Backend, Batch } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { ThreadmarkError } from "../../../src/errors.ts";
import { forwarding } from "../../../src/testing/index.ts";

/** A real backend whose medium can be made to fail, and which counts the commits that reached it. */
export interface Medium extends Backend {
  /** Commits that carried a checkpoint (or several). */
  checkpointCommits: number;
  /** All commits. */
  commits: number;
  /** Tells whether a commit is to fail; asked before each. */
  fails: (batches: readonly Batch[]) => boolean;
}

/** Whether a commit inserts a checkpoint: new ones go to the tail. */
export function carriesCheckpoint(batches: readonly Batch[]): boolean {
  return batches.some(({ inserts = [] }) => inserts.some(({ key }) => key.table === "tail"));
}

export async function mediumOf(kind: "memory" | "sqlite", path: string): Promise<Medium> {
  const inner = kind === "memory" ? memory() : await sqlite(path, { fsync: "normal" });
  const backend = forwarding(inner, {
    async commit(batches) {
      if (medium.fails(batches)) {
        throw new ThreadmarkError("BACKEND", "The medium is out of order.", { committed: false });
      }
      medium.commits += 1;
      if (carriesCheckpoint(batches)) medium.checkpointCommits += 1;
      return inner.commit(batches);
    },
  });
  const medium: Medium = Object.assign(backend, { checkpointCommits: 0, commits: 0, fails: () => false });
  return medium;
}

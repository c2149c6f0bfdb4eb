import type { Answer, Backend, Batch, Capabilities, Read } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { ThreadmarkError } from "../../../src/errors.ts";

/** A real backend whose medium can be made to fail, and which counts the commits that reached it. */
export class Medium implements Backend {
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly #inner: Backend;
  /** Commits that carried a checkpoint (or several), and all of them. */
  checkpointCommits = 0;
  commits = 0;
  /** Whether a commit is to fail, asked before each. */
  fails: (batches: readonly Batch[]) => boolean = () => false;

  constructor(inner: Backend) {
    this.name = inner.name;
    this.capabilities = inner.capabilities;
    this.#inner = inner;
  }

  read(reads: readonly Read[]): Promise<readonly Answer[]> {
    return this.#inner.read(reads);
  }

  async commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    if (this.fails(batches)) {
      throw new ThreadmarkError("BACKEND", "The medium is out of order.", { committed: false });
    }
    this.commits += 1;
    if (carriesCheckpoint(batches)) this.checkpointCommits += 1;
    return this.#inner.commit(batches);
  }

  size(): ReturnType<Backend["size"]> {
    return this.#inner.size();
  }

  compact(): Promise<void> {
    return this.#inner.compact();
  }

  verify(): Promise<readonly string[]> {
    return this.#inner.verify();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** Whether a commit inserts a checkpoint: new ones go to the tail. */
export function carriesCheckpoint(batches: readonly Batch[]): boolean {
  return batches.some(({ inserts = [] }) => inserts.some(({ key }) => key.table === "tail"));
}

export async function mediumOf(kind: "memory" | "sqlite", path: string): Promise<Medium> {
  return new Medium(kind === "memory" ? memory() : await sqlite(path, { fsync: "normal" }));
}

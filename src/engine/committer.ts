import type { Backend, Batch, DirectoryKey, Key, Range } from "../backend.ts";

interface Waiting {
  readonly batch: Batch;
  readonly resolve: (applied: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: batches that arrive in the same turn, or while a commit is under way, go to the backend together. The
 * lanes see to it that no two of them touch the same tape.
 */
export class Committer {
  readonly #backend: Backend;
  #waiting: Waiting[] = [];
  #running = false;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  commit(batch: Batch): Promise<boolean> {
    return new Promise<boolean>((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      if (!this.#running) {
        this.#running = true;
        queueMicrotask(() => void this.#run());
      }
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#independent();
      try {
        const outcomes = await this.#backend.commit(group.map((entry) => entry.batch));
        for (const [index, entry] of group.entries()) entry.resolve(outcomes[index] === true);
      } catch (error) {
        for (const entry of group) entry.reject(error);
      }
    }
    this.#running = false;
  }

  /** The waiting batches that touch different things; the others wait for the next turn. */
  #independent(): Waiting[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 1) return waiting;
    const taken = new Set<string>();
    const group: Waiting[] = [];
    for (const entry of waiting) {
      const places = placesOf(entry.batch);
      if (places.some((place) => taken.has(place))) this.#waiting.push(entry);
      else group.push(entry);
      // A batch that waits also holds back those behind it: per place, order is kept.
      for (const place of places) taken.add(place);
    }
    return group;
  }
}

function placesOf(batch: Batch): string[] {
  const places = new Set<string>();
  const add = (key: Key | DirectoryKey | Range): void => {
    places.add(key.table === "directory" ? `#${key.id}` : `${key.table}:${key.group}`);
  };
  for (const { key } of batch.checks ?? []) add(key);
  for (const key of batch.deletes ?? []) add(key);
  for (const { key } of batch.inserts ?? []) add(key);
  for (const { key } of batch.puts ?? []) add(key);
  return [...places];
}

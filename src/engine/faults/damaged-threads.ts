import { ThreadmarkError } from "../../errors.ts";
import { isCorrupt } from "./damage.ts";

/** Ids that a message gives; the error has them all. */
const NAMED = 5;

/** The threads that work on a whole store passed over, because they or threads of their lineage are damaged. */
export class DamagedThreads {
  readonly #ids = new Set<string>();
  #cause: unknown;

  /** Notes a thread and its fault. Rethrows any error but `CORRUPT`. */
  add(thread: string, fault: unknown): void {
    if (!isCorrupt(fault)) throw fault;
    this.#ids.add(thread);
    this.#cause ??= fault;
  }

  get count(): number {
    return this.#ids.size;
  }

  /** Throws a `CORRUPT` error that names the threads, if there are any. `standing` says what was done, and what was not. */
  throwIfAny(standing: string, next: string): void {
    if (this.#ids.size === 0) return;
    const threads = [...this.#ids];
    const names = threads.slice(0, NAMED).map((id) => JSON.stringify(id));
    const list = names.join(", ") + (threads.length > NAMED ? " and others" : "");
    const count = `${threads.length} damaged ${threads.length === 1 ? "thread" : "threads"}`;
    const message = `Passed over ${count} and what shares their history: ${list}. ${standing} Run verify() for every fault, restore them from a backup, then ${next} again.`;
    throw new ThreadmarkError("CORRUPT", message, { thread: threads[0] as string, threads, cause: this.#cause });
  }
}

import { compactStore } from "./engine/compact.ts";
import type { Engine } from "./engine/engine.ts";
import { exportStore } from "./engine/export.ts";
import { type ImportResult, importBundle } from "./engine/import.ts";
import { storeStats } from "./engine/stats.ts";
import { listThreads } from "./engine/threads.ts";
import { verifyStore } from "./engine/verify.ts";
import { checkId } from "./model/address.ts";
import type { Stats, ThreadsOptions, VerifyResult, WorkOptions } from "./model/arguments.ts";
import type { ThreadInfo } from "./model/checkpoint.ts";
import { checkThreadsOptions } from "./model/validation.ts";
import { Thread } from "./thread.ts";

/**
 * An open database of threads.
 *
 * @example
 * await using store = await open("sqlite:agent.db");
 * for await (const thread of store.threads({ status: "waiting" })) console.log(thread.id);
 */
export class Store<State = unknown> {
  readonly #engine: Engine;

  /** @internal */
  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** A handle on a thread, whether or not it exists. No I/O. */
  thread(id: string, options: { readonly namespace?: readonly string[] } = {}): Thread<State> {
    return new Thread<State>(this.#engine, id, options.namespace ?? []);
  }

  /** The threads that have checkpoints, in bytewise order of their ids, or with `order: "updated"` the newest first. */
  threads(options: ThreadsOptions = {}): AsyncGenerator<ThreadInfo> {
    checkThreadsOptions(options);
    return listThreads(this.#engine, { ...options });
  }

  /** How many threads and checkpoints there are, and the bytes they take by kind. */
  stats(): Promise<Stats> {
    return this.#engine.track(() => storeStats(this.#engine));
  }

  /** Reads everything back from storage and reports every fault found. */
  verify(options: WorkOptions = {}): Promise<VerifyResult> {
    return this.#engine.track(() => verifyStore(this.#engine, options.progress));
  }

  /** Removes from the medium what no checkpoint reaches any more. */
  compact(options: WorkOptions = {}): Promise<void> {
    return this.#engine.track(() => compactStore(this.#engine, options.progress));
  }

  /**
   * Threads (all of them, or those named) as newline-delimited JSON, each line with a checksum. Any store can import it.
   *
   * @example
   * await pipeline(store.export(), createWriteStream("agent.bundle"));
   */
  export(options: { readonly threads?: readonly string[] } = {}): AsyncGenerator<string> {
    for (const id of options.threads ?? []) checkId(id, "A thread id");
    return exportStore(this.#engine, options.threads && [...options.threads]);
  }

  /** Adds the threads of a bundle. One that is there already, just so, is left alone; a different one is `CONFLICT`. */
  import(source: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>): Promise<ImportResult> {
    return this.#engine.track(() => importBundle(this.#engine, source));
  }

  /** Waits for what is under way, then releases everything. */
  async close(): Promise<void> {
    await this.#engine.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

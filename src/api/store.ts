import type { Engine } from "../engine/engine.ts";
import type { ThreadInfo } from "../model/checkpoint.ts";
import type { ExportOptions, ThreadOptions, ThreadsOptions, WorkOptions } from "../model/options.ts";
import type { ImportResult, Stats, VerifyResult } from "../model/results.ts";
import { checkThreadOptions, checkThreadsOptions } from "../model/validation/reads.ts";
import { checkExportOptions, checkWorkOptions } from "../model/validation/work.ts";
import { Thread } from "./thread.ts";

// Modules that look after a whole store are loaded when they are first needed: most processes only read and write threads.
async function* listed(engine: Engine, options: ThreadsOptions): AsyncGenerator<ThreadInfo> {
  yield* (await import("../engine/reads/list-threads.ts")).listThreads(engine.context, options);
}

async function* exported(engine: Engine, options: ExportOptions): AsyncGenerator<string> {
  yield* (await import("../engine/bundles/export.ts")).exportStore(engine.context, options);
}

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

  /**
   * Makes a handle on a thread, whether or not it exists. No I/O. The type of the thread's state may be given where it is
   * another than the store's.
   *
   * @example
   * const thread = store.thread<Conversation>("user-42");
   * const nested = store.thread("user-42", { namespace: ["research"] });
   */
  thread<ThreadState = State>(id: string, options: ThreadOptions = {}): Thread<ThreadState> {
    checkThreadOptions(options);
    return new Thread<ThreadState>(this.#engine, id, options.namespace === undefined ? [] : options.namespace);
  }

  /**
   * Yields the threads that have checkpoints, in bytewise order of their ids, or with `order: "updated"` the newest first.
   *
   * @example
   * for await (const { id, status } of store.threads({ workflow: "support" })) console.log(id, status);
   * for await (const { id } of store.threads({ order: "updated", limit: 10 })) console.log(id);
   */
  threads(options: ThreadsOptions = {}): AsyncGenerator<ThreadInfo> {
    checkThreadsOptions(options);
    return listed(this.#engine, { ...options });
  }

  /**
   * Counts threads and checkpoints, and the bytes they take by kind.
   *
   * @example
   * const { threads, checkpoints, bytes } = await store.stats();
   * console.log(threads, checkpoints, bytes.total);
   */
  stats(options: WorkOptions = {}): Promise<Stats> {
    return this.#work(async () => {
      const work = checkWorkOptions(options, "stats");
      return (await import("../engine/reads/sizes.ts")).storeStats(this.#engine.context, work);
    });
  }

  /**
   * Reads everything back from storage and reports every fault found.
   *
   * @example
   * const { ok, faults } = await store.verify({ progress: (threads) => console.log(threads) });
   * if (!ok) console.error(faults);
   */
  verify(options: WorkOptions = {}): Promise<VerifyResult> {
    return this.#work(async () => {
      const work = checkWorkOptions(options, "verify");
      return (await import("../engine/upkeep/verify.ts")).verifyStore(this.#engine.context, work);
    });
  }

  /**
   * Removes from the medium what no checkpoint reaches any more. An abort leaves the lineages that are done compacted.
   *
   * @example
   * await store.compact({ signal: AbortSignal.timeout(60_000) });
   */
  compact(options: WorkOptions = {}): Promise<void> {
    return this.#work(async () => {
      const work = checkWorkOptions(options, "compact");
      const { context, committer } = this.#engine;
      return (await import("../engine/upkeep/compact.ts")).compactStore(context, committer, work);
    });
  }

  /**
   * Yields threads (all of them, or those named) as newline-delimited JSON, each line with a checksum. Any store can import
   * it. Each thread is as it was at one moment, whatever others do meanwhile. No more of a thread is held in memory than
   * some megabytes: where a longer one is changed by others while its lines are out, a line says so and it begins again.
   *
   * @example
   * await pipeline(store.export(), createWriteStream("agent.bundle"));
   * await pipeline(store.export({ threads: ["user-42"] }), createWriteStream("user-42.bundle"));
   */
  export(options: ExportOptions = {}): AsyncGenerator<string> {
    return exported(this.#engine, checkExportOptions(options));
  }

  /**
   * Adds the threads of a bundle. A thread that is there already, just so, is left alone; a different one is `CONFLICT`, and
   * a leased one is `BUSY`. Nothing is taken that `put` and `putWrites` would not have taken. Each thread is written in one
   * commit, or not at all: where one is refused, or the signal aborts, the threads before it in the bundle stay.
   *
   * @example
   * const { imported } = await store.import(createReadStream("agent.bundle"));
   * console.log(imported);
   */
  import(
    source: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
    options: WorkOptions = {},
  ): Promise<ImportResult> {
    return this.#work(async () => {
      const work = checkWorkOptions(options, "import");
      const { context, lanes } = this.#engine;
      return (await import("../engine/bundles/import.ts")).importBundle(context, lanes, source, work);
    });
  }

  /**
   * Waits for the calls under way, then releases everything. Later calls are `CLOSED`.
   *
   * @example
   * await store.close();
   */
  async close(): Promise<void> {
    await this.#engine.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #work<T>(operation: () => Promise<T>): Promise<T> {
    return this.#engine.context.calls.track(operation);
  }
}

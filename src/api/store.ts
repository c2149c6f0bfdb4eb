import type { Engine } from "../engine/engine.ts";
import type { ImportResult, Stats, ThreadsOptions, VerifyResult, WorkOptions } from "../model/arguments.ts";
import type { ThreadInfo } from "../model/checkpoint.ts";
import { checkExportOptions, checkObject, checkThreadsOptions, checkWorkOptions } from "../model/validation.ts";
import { Thread } from "./thread.ts";

// What looks after a whole store is loaded when it is first asked for: most processes only read and write threads.
async function* listed(engine: Engine, options: ThreadsOptions): AsyncGenerator<ThreadInfo> {
  yield* (await import("../engine/reads/list-threads.ts")).listThreads(engine.context, options);
}

async function* exported(engine: Engine, threads: readonly string[] | undefined): AsyncGenerator<string> {
  yield* (await import("../engine/bundles/export.ts")).exportStore(engine.context, threads);
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

  /** A handle on a thread, whether or not it exists. No I/O. */
  thread(id: string, options: { readonly namespace?: readonly string[] } = {}): Thread<State> {
    checkObject(options, "The options of thread");
    return new Thread<State>(this.#engine, id, options.namespace === undefined ? [] : options.namespace);
  }

  /** The threads that have checkpoints, in bytewise order of their ids, or with `order: "updated"` the newest first. */
  threads(options: ThreadsOptions = {}): AsyncGenerator<ThreadInfo> {
    checkThreadsOptions(options);
    return listed(this.#engine, { ...options });
  }

  /** How many threads and checkpoints there are, and the bytes they take by kind. */
  stats(): Promise<Stats> {
    return this.#engine.context.calls.track(async () =>
      (await import("../engine/reads/stats.ts")).storeStats(this.#engine.context),
    );
  }

  /** Reads everything back from storage and reports every fault found. */
  verify(options: WorkOptions = {}): Promise<VerifyResult> {
    return this.#engine.context.calls.track(async () => {
      const { progress } = checkWorkOptions(options);
      return (await import("../engine/upkeep/verify.ts")).verifyStore(this.#engine.context, progress);
    });
  }

  /** Removes from the medium what no checkpoint reaches any more. */
  compact(options: WorkOptions = {}): Promise<void> {
    return this.#engine.context.calls.track(async () => {
      const { progress } = checkWorkOptions(options);
      return (await import("../engine/upkeep/compact.ts")).compactStore(
        this.#engine.context,
        this.#engine.committer,
        progress,
      );
    });
  }

  /**
   * Threads (all of them, or those named) as newline-delimited JSON, each line with a checksum. Any store can import it.
   * Each thread is as it was at one moment, whatever others do meanwhile. No more of a thread is held in memory than some
   * megabytes: where a longer one is changed by others while its lines are out, a line says so and it begins again.
   *
   * @example
   * await pipeline(store.export(), createWriteStream("agent.bundle"));
   */
  export(options: { readonly threads?: readonly string[] } = {}): AsyncGenerator<string> {
    checkExportOptions(options);
    return exported(this.#engine, options.threads && [...options.threads]);
  }

  /**
   * Adds the threads of a bundle. One that is there already, just so, is left alone; a different one is `CONFLICT`, and one
   * that is leased is `BUSY`. Nothing is taken that `put` and `putWrites` would not have taken. Each thread is written in one
   * commit, or not at all: where one is refused, those before it in the bundle are there, and nothing of it and of later ones.
   */
  import(source: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>): Promise<ImportResult> {
    return this.#engine.context.calls.track(async () =>
      (await import("../engine/bundles/import.ts")).importBundle(this.#engine.context, this.#engine.lanes, source),
    );
  }

  /** Waits for what is under way, then releases everything. */
  async close(): Promise<void> {
    await this.#engine.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

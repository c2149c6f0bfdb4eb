import type { Engine } from "../engine/engine.ts";
import { closedError } from "../engine/faults/closed.ts";
import { ThreadmarkError } from "../errors.ts";
import type { DueThread, OpenInterrupt, ThreadInfo } from "../model/checkpoint.ts";
import type { ThreadOptions } from "../model/interface/options.ts";
import type {
  BackupResult,
  Counts,
  ImportResult,
  MeasuredStats,
  RestoreResult,
  RotateResult,
  Stats,
  VerifyResult,
} from "../model/interface/results.ts";
import type {
  BackupOptions,
  BackupStream,
  DueOptions,
  ExportOptions,
  InterruptsOptions,
  ResumableOptions,
  RotateOptions,
  StatsOptions,
  SweepOptions,
  ThreadsOptions,
  WatchOptions,
  WorkOptions,
} from "../model/interface/store-options.ts";
import type { SweepResult } from "../model/retention/sweep.ts";
import {
  checkDueOptions,
  checkInterruptsOptions,
  checkThreadOptions,
  checkThreadsOptions,
  checkWatchOptions,
} from "../model/validation/reads.ts";
import { checkSweepOptions } from "../model/validation/store/retention.ts";
import {
  checkBackupOptions,
  checkExportOptions,
  checkResumableOptions,
  checkRotateOptions,
  checkStatsOptions,
  checkWorkOptions,
} from "../model/validation/work.ts";
import { disposable } from "../platform/disposable.ts";
import { otherCopy } from "./other-copy.ts";
import { Thread } from "./thread.ts";
import { Watch } from "./watch.ts";

// Modules that look after a whole store are loaded when they are first needed: most processes only read and write threads.
let finding: typeof import("../engine/reads/finding/find-threads.ts") | undefined;

/** Lists threads. Once the module is loaded, returns its generator itself: wrapped in another, a page took a tenth longer. */
function listed(engine: Engine, options: ThreadsOptions): AsyncGenerator<ThreadInfo> {
  return finding ? finding.listThreads(engine.context, options) : firstListed(engine, options);
}

async function* firstListed(engine: Engine, options: ThreadsOptions): AsyncGenerator<ThreadInfo> {
  finding = await import("../engine/reads/finding/find-threads.ts");
  yield* finding.listThreads(engine.context, options);
}

async function* asked(engine: Engine, options: InterruptsOptions): AsyncGenerator<OpenInterrupt> {
  yield* (await import("../engine/reads/finding/open-interrupts.ts")).openInterrupts(engine.context, options);
}

async function* dueOnes(engine: Engine, options: DueOptions): AsyncGenerator<DueThread> {
  yield* (await import("../engine/reads/finding/due-threads.ts")).dueThreads(engine.context, options);
}

async function* exported(engine: Engine, options: ExportOptions): AsyncGenerator<string> {
  yield* (await import("../engine/bundles/export.ts")).exportStore(engine.context, options);
}

/** Returns the engine of a store, for adapters. */
export let engineOf: <State>(store: Store<State>) => Engine;

/**
 * An open database of threads.
 *
 * @example
 * await using store = await open("sqlite:agent.db");
 * for await (const thread of store.threads({ status: "waiting" })) console.log(thread.id);
 */
export class Store<State = unknown> {
  readonly #engine: Engine;

  static {
    engineOf = (store) => {
      if (!(#engine in store)) throw otherCopy("store");
      return store.#engine;
    };
  }

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
   * Newest first, a list costs what it yields, whatever the number of threads and whichever are asked for. The order is
   * right to a second.
   *
   * @example
   * for await (const { id, status } of store.threads({ workflow: "support" })) console.log(id, status);
   * for await (const { id } of store.threads({ order: "updated", status: "waiting", where: { tenant: "acme" }, limit: 10 })) console.log(id);
   */
  threads(options: ThreadsOptions = {}): AsyncGenerator<ThreadInfo> {
    checkThreadsOptions(options);
    return disposable(listed(this.#engine, { ...options }));
  }

  /**
   * Yields what is committed from now on, or since a cursor: by this store at once, by other processes a few milliseconds
   * later. No change is left out and none comes twice, whatever happens to the writers or to this process; changes of one
   * thread come in their order. A checkpoint that was deleted again before it was yielded is left out.
   *
   * With `after`, the cursor of a change, it goes on behind that change. Cursors hold for a day, or for 100,000 changes other
   * than puts, whichever is shorter; then they are `EXPIRED`. The watch ends when the signal aborts, the loop is left or
   * the store is closed.
   *
   * @example
   * for await (const { kind, thread, id, cursor } of store.watch({ kinds: ["put"] })) console.log(kind, thread, id, cursor);
   */
  watch(options: WatchOptions = {}): Watch {
    checkWatchOptions(options);
    if (this.#engine.context.calls.closed) throw closedError();
    return new Watch(this.#engine, options);
  }

  /**
   * Yields the questions that wait for an answer, of all threads, those of the newest thread first. Questions of LangGraph are
   * among them. A damaged thread is passed over: `verify` names it.
   *
   * @example
   * for await (const { thread, id, value } of store.interrupts({ workflow: "support" })) console.log(thread, id, value);
   */
  interrupts(options: InterruptsOptions = {}): AsyncGenerator<OpenInterrupt> {
    checkInterruptsOptions(options);
    return asked(this.#engine, { ...options });
  }

  /**
   * Yields the threads of a workflow that are due (see `put`) and that nobody has leased, the longest due first. A damaged
   * thread is passed over: `verify` names it.
   *
   * @example
   * for await (const { thread } of store.due({ workflow: "support", limit: 8 })) await work(thread);
   */
  due(options: DueOptions): AsyncGenerator<DueThread> {
    checkDueOptions(options);
    return dueOnes(this.#engine, { ...options });
  }

  /**
   * Counts threads by status and workflow, without reading them.
   *
   * @example
   * const { threads, status, workflows } = await store.counts();
   * console.log(threads, status.waiting, workflows["support"]?.failed);
   */
  counts(): Promise<Counts> {
    return this.#work(async () =>
      (await import("../engine/reads/finding/counts.ts")).countThreads(this.#engine.context),
    );
  }

  /**
   * Tells how many threads there are, by the index, how many bytes the store takes on its medium, and how it is looked after.
   * Checkpoints, bytes by kind and state versions are told of a small store, which is read for it: of at most 10,000 threads and
   * 64 MiB on the medium; in memory and on Redis, which do not tell their bytes, 100,000 checkpoints. Of a larger store they are
   * null, and `measure` finds them: no record is measured, and no thread read unless it takes the checkpoints of few threads to
   * tell that the store is larger. A store of an earlier version is read until its index is complete, as by `counts`.
   *
   * @example
   * const { threads, checkpoints, bytes } = await store.stats();
   * console.log(threads, bytes.total, checkpoints ?? (await store.measure()).checkpoints);
   */
  stats(options: StatsOptions = {}): Promise<Stats> {
    return this.#work(async () => {
      const work = checkStatsOptions(options);
      return (await import("../engine/stats.ts")).storeStats(this.#engine.context, work);
    });
  }

  /**
   * Reads every thread and measures every record, and tells what `stats` does with no number missing: its time grows with the store.
   * With `after`, threads, checkpoints and state versions are counted behind that thread, so that a count that was stopped goes on;
   * the bytes are always those of the whole store. Damaged threads that cannot be listed are not counted: `verify` names them.
   *
   * @example
   * const { checkpoints, bytes } = await store.measure({ progress: (threads) => console.log(threads) });
   * console.log(checkpoints, bytes.packs, bytes.values);
   */
  measure(options: ResumableOptions = {}): Promise<MeasuredStats> {
    return this.#work(async () => {
      const work = checkResumableOptions(options, "measure");
      return (await import("../engine/stats.ts")).measureStore(this.#engine.context, work);
    });
  }

  /**
   * Reads everything back from storage and reports every fault found.
   *
   * @example
   * const { ok, faults } = await store.verify({ progress: (threads) => console.log(threads) });
   * if (!ok) console.error(faults);
   */
  verify(options: ResumableOptions = {}): Promise<VerifyResult> {
    return this.#work(async () => {
      const work = checkResumableOptions(options, "verify");
      return (await import("../engine/upkeep/verifying/verify.ts")).verifyStore(this.#engine.context, work);
    });
  }

  /**
   * Makes the index by which threads are found anew, while others write. A store of an earlier version builds it by itself
   * once it is used; this waits for it, tells how far it is, and repairs an index that `verify` found faults in. Resolves to
   * the number of threads. Damaged threads keep the entries they have, and `CORRUPT` names them once all others are done.
   *
   * @example
   * await store.reindex({ progress: (threads) => console.log(threads) });
   */
  reindex(options: WorkOptions = {}): Promise<number> {
    return this.#work(async () => {
      const work = checkWorkOptions(options, "reindex");
      const { context, lanes, committer } = this.#engine;
      const { reindexStore } = await import("../engine/upkeep/reindex.ts");
      const { threads, damaged } = await reindexStore(context, lanes, committer, work);
      damaged.throwIfAny("They keep the entries they have, and all others are indexed.", "reindex");
      return threads;
    });
  }

  /**
   * Removes from the medium what no checkpoint reaches any more. An abort leaves the lineages that are done compacted. Damaged
   * threads, and what shares their history, stay as they are: `CORRUPT` names them (`error.threads`) once all others are done.
   *
   * @example
   * await store.compact({ signal: AbortSignal.timeout(60_000) });
   */
  compact(options: ResumableOptions = {}): Promise<void> {
    return this.#work(async () => {
      const work = checkResumableOptions(options, "compact");
      const { context, committer } = this.#engine;
      return (await import("../engine/upkeep/compact.ts")).compactStore(context, committer, work);
    });
  }

  /**
   * Deletes the threads and checkpoints that the store's retention (see `open`) does not keep, in small batches beside other
   * work, and gives their room back. `BUSY` while another process sweeps the store. A sweep that was stopped, by its signal or
   * by the end of the process, goes on with the next one. Damaged threads are left alone, and counted.
   *
   * @example
   * const { threads, checkpoints, bytes } = await store.sweep({ dryRun: true });
   * await store.sweep({ progress: (threads) => console.log(threads) });
   */
  sweep(options: SweepOptions = {}): Promise<SweepResult> {
    return this.#work(async () => this.#engine.sweep(checkSweepOptions(options)));
  }

  /**
   * Wraps the data keys of an encrypted store by its current key, while others write: after it, earlier keys are needed no
   * more. With `data`, everything is written anew under new data keys. Stopped or killed, it leaves a store that reads; called
   * again, it goes on. In a store that was opened with `migrating`, it encrypts what is not encrypted yet. Damaged threads
   * keep the keys they have: `CORRUPT` names them once all others are done.
   *
   * @example
   * const { wrapped } = await store.rotate();
   * await store.rotate({ data: true, signal: AbortSignal.timeout(60_000) });
   */
  rotate(options: RotateOptions = {}): Promise<RotateResult> {
    return this.#work(async () => {
      const work = checkRotateOptions(options);
      const { context, committer } = this.#engine;
      return (await import("../engine/upkeep/rotate.ts")).rotateStore(context, committer, work);
    });
  }

  /**
   * Yields threads (all of them, or those named) as newline-delimited JSON, each line with a checksum. Any store can import
   * it. Each thread is as it was at one moment, whatever others do meanwhile. At most some
   * megabytes of a thread are held in memory: if others change a longer one during its export, a line says so and it begins again.
   * A damaged thread ends it with `CORRUPT`, which names the thread: no thread is left out unless you name the others.
   *
   * @example
   * await pipeline(store.export(), createWriteStream("agent.bundle"));
   * await pipeline(store.export({ threads: ["user-42"] }), createWriteStream("user-42.bundle"));
   */
  export(options: ExportOptions = {}): AsyncGenerator<string> {
    return disposable(exported(this.#engine, checkExportOptions(options)));
  }

  /**
   * Adds the threads of a bundle. A thread that the store has already is left alone if it is identical; a different one is `CONFLICT`, and
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
   * Writes a backup: a bundle in a file, which gets its name when it is whole, or into a stream. Others may write meanwhile. On
   * SQLite it is of one moment; elsewhere of one moment if nothing was committed meanwhile, else thread by thread: `consistent`
   * says which. With `since`, the cursor of an earlier backup, it has the threads that were changed or deleted since. The
   * backup of an encrypted store is encrypted. A damaged thread ends it with `CORRUPT`, which names the thread, and no file is left.
   *
   * @example
   * const { cursor } = await store.backup("monday.bundle");
   * await store.backup("tuesday.bundle", { since: cursor });
   */
  backup(target: string | URL | BackupStream, options: BackupOptions = {}): Promise<BackupResult> {
    return this.#work(async () => {
      const { writeBackup } = await import("./backup-file.ts");
      const { context, lanes } = this.#engine;
      const result = await writeBackup(context, target, checkBackupOptions(options));
      const { noteBackup } = await import("../engine/bundles/store-notes.ts");
      // A store that cannot be written to, now or at all, is backed up nevertheless: only the note is missing.
      await noteBackup(context, lanes, result).catch((error: unknown) => {
        if (!(error instanceof ThreadmarkError)) throw error;
      });
      return result;
    });
  }

  /**
   * Restores backups from files: a whole one, and those that go on from it, in order. All are checked before anything is
   * written. Threads of their names are replaced (`BUSY` while one is leased), other threads stay. Stopped or killed, it can be
   * called again; until then `verify` and `stats` say that it has not ended.
   *
   * @example
   * await store.restore(["monday.bundle", "tuesday.bundle"]);
   */
  restore(sources: string | URL | readonly (string | URL)[], options: WorkOptions = {}): Promise<RestoreResult> {
    return this.#work(async () => {
      const work = checkWorkOptions(options, "restore");
      const { context, lanes } = this.#engine;
      return (await import("./backup-file.ts")).restoreFiles(context, lanes, sources, work);
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

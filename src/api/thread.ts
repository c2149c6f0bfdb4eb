import { attributesChange } from "../engine/changes/attributes.ts";
import { captureFork } from "../engine/changes/fork-capture.ts";
import { breakChange } from "../engine/changes/lease.ts";
import { capturePut } from "../engine/changes/put/capture.ts";
import { PutChange } from "../engine/changes/put/plan.ts";
import { writesChange } from "../engine/changes/writes.ts";
import { captureWrites } from "../engine/changes/writes-capture.ts";
import { lazyChange } from "../engine/commits/lazy-change.ts";
import type { ThreadChange } from "../engine/commits/thread-change.ts";
import type { Engine } from "../engine/engine.ts";
import { closedError } from "../engine/faults/closed.ts";
import { refusedBy } from "../engine/faults/missing.ts";
import { checkId } from "../model/address.ts";
import type { AttributeChanges } from "../model/attributes.ts";
import type { CheckpointInfo } from "../model/checkpoint.ts";
import type { Erasable, EraseOptions, EraseResult } from "../model/interface/erasure.ts";
import type {
  AcquireOptions,
  BreakOptions,
  CheckpointRef,
  CopyOptions,
  ForkOptions,
  PruneOptions,
  PutInput,
  PutOptions,
  WritesInput,
  WritesOptions,
} from "../model/interface/options.ts";
import type { BrokenLease, PruneResult, WritesResult } from "../model/interface/results.ts";
import { checkAttributes } from "../model/validation/attributes.ts";
import { checkText } from "../model/validation/checks.ts";
import { checkErasable, checkEraseOptions } from "../model/validation/erase.ts";
import { checkCopyOptions, checkForkOptions } from "../model/validation/fork.ts";
import { checkAcquireOptions, checkBreakOptions } from "../model/validation/lease.ts";
import { checkPruneOptions } from "../model/validation/prune.ts";
import { checkPutInput, checkPutOptions } from "../model/validation/put.ts";
import { checkRef, checkRefs, copyRef } from "../model/validation/refs.ts";
import { checkWritesInput, checkWritesOptions } from "../model/validation/writes.ts";
import { announce } from "../platform/diagnostics.ts";
import { acquire } from "./acquire.ts";
import type { Handle } from "./handle.ts";
import type { Lease } from "./lease.ts";
import { handleOf, ReadableThread } from "./readable-thread.ts";

/**
 * A handle on a thread, or on one namespace of it: a named history of checkpoints. Making one does no I/O.
 *
 * @example
 * const thread = store.thread("user-42");
 * await thread.put({ state: { messages: [] }, next: ["plan"] });
 */
export class Thread<State = unknown> extends ReadableThread<State> {
  readonly #engine: Engine;
  readonly #handle: Handle;

  /** @internal */
  constructor(engine: Engine, id: string, namespace: readonly string[]) {
    super(engine, id, namespace);
    this.#engine = engine;
    this.#handle = handleOf<State>(this);
  }

  /**
   * Saves a checkpoint. Takes the whole `state`, and finds what changed, or an `update` of the parent's.
   *
   * @example
   * const first = await thread.put({ state: { messages: [] }, next: ["plan"] });
   * await thread.put({ update: { append: { messages: [message] } } }, { expect: first.id });
   */
  put(input: PutInput<State>, options: PutOptions = {}): Promise<CheckpointInfo> {
    if (this.#engine.context.calls.closed) return Promise.reject(closedError());
    try {
      checkPutInput(input);
      checkPutOptions(options);
      const { context, key, lane, place } = this.#handle;
      const captured = capturePut(context, this.id, key, input as PutInput<Record<string, unknown>>, options);
      return lane.add(new PutChange(captured, place));
    } catch (error) {
      return Promise.reject(refusedBy(this.id, error));
    }
  }

  /**
   * Saves a task's results against a checkpoint, so that a resumed step need not run the task again. The checkpoint is named
   * by its id, and need not be there yet.
   *
   * @example
   * await thread.putWrites(checkpoint.id, { task: "t1", node: "act", writes: [{ channel: "answer", value: 42 }] });
   * const [write] = await thread.writes(checkpoint.id);
   */
  putWrites(id: string, input: WritesInput, options: WritesOptions = {}): Promise<WritesResult> {
    return this.#handle.attempt(() => {
      checkId(id, "A checkpoint id");
      checkWritesInput(input);
      checkWritesOptions(options);
      const { context, key, lane } = this.#handle;
      const change = writesChange(captureWrites(context, key, id, input, options.lease));
      return () => lane.add(change);
    });
  }

  /**
   * Makes a new thread that begins with a checkpoint of this one and its ancestors. Costs the same whatever the history, unless
   * it is to be `detached`.
   *
   * @example
   * const fork = await thread.fork({ at: { step: 3 }, edits: { plan: "another" } });
   * console.log(fork.id, (await fork.latest())?.state);
   */
  fork(options: ForkOptions<State> = {}): Promise<Thread<State>> {
    return this.#handle.attempt(() => {
      this.#handle.rootOnly("fork");
      checkForkOptions(options);
      const { context, lane } = this.#handle;
      const { committer } = this.#engine;
      const into = options.into ?? context.ids?.() ?? crypto.randomUUID();
      const request = captureFork(context, into, options);
      const change = lazyChange(async () => (await import("../engine/changes/fork.ts")).forkChange(request, committer));
      const { detached = false } = options;
      return async () => {
        await (detached ? this.#detach(into, change) : lane.add(change));
        return new Thread<State>(this.#engine, into, []);
      };
    });
  }

  /**
   * Makes a new thread with all checkpoints of this one: ids, seqs and parents kept. Costs the same whatever the history,
   * unless it is to be `detached`.
   *
   * @example
   * const copy = await thread.copy("user-42-archive");
   * console.log(await copy.count());
   */
  copy(into: string, options: CopyOptions = {}): Promise<Thread<State>> {
    return this.#handle.attempt(() => {
      this.#handle.rootOnly("copy");
      checkId(into, "A thread id");
      checkCopyOptions(options);
      const { detached = false } = options;
      const { committer } = this.#engine;
      const change = lazyChange(async () => (await import("../engine/changes/fork.ts")).copyChange(into, committer));
      return async () => {
        await (detached ? this.#detach(into, change) : this.#handle.lane.add(change));
        return new Thread<State>(this.#engine, into, []);
      };
    });
  }

  /**
   * Deletes old checkpoints of every namespace of the thread. Needs a rule: `keepLast`, `olderThan` or both. `UNSUPPORTED` for
   * a thread of LangGraph with DeltaChannels, unless a ThreadmarkSaver uses the store.
   *
   * @example
   * await thread.prune({ keepLast: 10, keepLabelled: true });
   * const { deleted } = await thread.prune({ olderThan: 7 * 24 * 60 * 60 * 1000, dryRun: true });
   */
  prune(options: PruneOptions): Promise<PruneResult> {
    return this.#handle.attempt(() => {
      checkPruneOptions(options);
      const { lane } = this.#handle;
      const { signal, ...rules } = options;
      const load = async (): Promise<ThreadChange<PruneResult>> => {
        signal?.throwIfAborted();
        return (await import("../engine/removal/prune.ts")).pruneChange(rules);
      };
      return async () => {
        signal?.throwIfAborted();
        const result = (await this.#prunedByHandler(rules)) ?? (await lane.add(lazyChange(load, true)));
        if (!rules.dryRun) announce("sweep", { thread: this.#handle.place.thread, ...result });
        return result;
      };
    });
  }

  /**
   * Deletes the named checkpoints of the namespace; returns how many there were. No other checkpoint's state changes.
   *
   * @example
   * const deleted = await thread.deleteCheckpoints([checkpoint.id, { label: "draft" }]);
   * console.log(deleted);
   */
  deleteCheckpoints(refs: readonly CheckpointRef[]): Promise<number> {
    return this.#handle.attempt(() => {
      checkRefs(refs, "ids", "A checkpoint id");
      const { key, lane } = this.#handle;
      const named = refs.map(copyRef);
      const load = async (): Promise<ThreadChange<PruneResult>> =>
        (await import("../engine/removal/remove.ts")).removeNamed(key, named);
      return async () => (await lane.add(lazyChange(load, true))).deleted;
    });
  }

  /**
   * Deletes a run's checkpoints in every namespace; returns how many there were.
   *
   * @example
   * const deleted = await thread.deleteRun("r1");
   * console.log(deleted);
   */
  deleteRun(run: string): Promise<number> {
    return this.#handle.attempt(() => {
      checkId(run, "A run id");
      const load = async (): Promise<ThreadChange<PruneResult>> =>
        (await import("../engine/removal/remove.ts")).removeWhere((row) => row.run === run);
      return async () => (await this.#handle.lane.add(lazyChange(load, true))).deleted;
    });
  }

  /**
   * Deletes the thread, and ends its lease. Forks and copies of it stay as they are.
   *
   * @example
   * await thread.delete();
   * console.log(await thread.latest()); // undefined
   */
  delete(): Promise<void> {
    return this.#handle.attempt(() => {
      this.#handle.rootOnly("delete");
      const change = lazyChange(async () => (await import("../engine/changes/delete-thread.ts")).deleteThreadChange());
      return () => this.#handle.lane.add(change);
    });
  }

  /**
   * Takes values out of every checkpoint of the thread, whatever its namespace, and out of writes, labels, metadata, attributes
   * and mail; the text `[erased]` stays in their place. With paths of the state, the values at these paths are erased wherever
   * else they stand, too: texts of six characters or more also inside longer ones. A function is asked about every value by
   * itself. `CONFLICT` where threads that share the history show a value, unless told `forks`. Beside `label` it is the only
   * call that changes what a checkpoint shows. `compact` then removes the last traces from the medium.
   *
   * @example
   * const { erased } = await thread.erase(["user", "email"], { forks: true });
   * await thread.erase((path, value) => value === "secret");
   */
  erase(what: Erasable, options: EraseOptions = {}): Promise<EraseResult> {
    return this.#handle.attempt(() => {
      this.#handle.rootOnly("erase");
      const target = checkErasable(what);
      const captured = checkEraseOptions(options);
      const { context, committer } = this.#engine;
      return async () => {
        const { eraseValues } = await import("../engine/removal/erasing/erase.ts");
        return eraseValues(context, committer, this.id, target, captured);
      };
    });
  }

  /**
   * Names a checkpoint, in this thread only: a fork keeps the name it saw. `""` takes the name away.
   *
   * @example
   * await thread.label(checkpoint.id, "before-refactor");
   * await thread.get({ label: "before-refactor" });
   */
  label(at: CheckpointRef, label: string): Promise<void> {
    return this.#handle.attempt(() => {
      checkRef(at, "A checkpoint id");
      checkText(label, "label");
      const { key, lane } = this.#handle;
      const ref = copyRef(at);
      const load = async (): Promise<ThreadChange<void>> =>
        (await import("../engine/changes/label.ts")).labelChange(key, ref, label);
      return () => lane.add(lazyChange(load));
    });
  }

  /**
   * Sets attributes of the thread without a checkpoint, whoever has leased it; null removes one, the others stay.
   *
   * @example
   * await thread.setAttributes({ tenant: "acme", draft: null });
   * console.log(await thread.attributes());
   */
  setAttributes(attributes: AttributeChanges): Promise<void> {
    return this.#handle.attempt(() => {
      this.#handle.rootOnly("setAttributes");
      checkAttributes(attributes);
      const captured = { ...attributes };
      return () => this.#handle.lane.add(attributesChange(captured));
    });
  }

  /**
   * Takes the right to advance the thread. `BUSY` while another holds it, unless told to `wait`.
   *
   * @example
   * await using lease = await thread.acquire({ holder: "worker-7", ttl: 30_000, wait: 5_000 });
   * await thread.put({ state }, { lease });
   */
  acquire(options: AcquireOptions = {}): Promise<Lease> {
    return this.#handle.attempt(() => {
      this.#handle.rootOnly("acquire");
      checkAcquireOptions(options);
      const captured = { ...options };
      return () => acquire(this.#engine, this.id, captured);
    });
  }

  /**
   * Ends another's lease before its time, as when its holder's clock was far ahead; that holder gets `FENCED`. The thread
   * notes who did it and why, see {@link lease}. Resolves to the lease that was broken, undefined if there was none.
   *
   * @example
   * const broken = await thread.breakLease({ by: "ops", reason: "the clock of worker-7 was a year ahead" });
   * console.log(broken?.holder);
   */
  breakLease(options: BreakOptions = {}): Promise<BrokenLease | undefined> {
    return this.#handle.attempt(() => {
      this.#handle.rootOnly("breakLease");
      checkBreakOptions(options);
      const change = breakChange({ ...options });
      return () => this.#handle.lane.add(change);
    });
  }

  /** Makes a fork or a copy by value. */
  async #detach(into: string, change: ThreadChange<void>): Promise<void> {
    const { context, lanes } = this.#engine;
    // Changes that were asked for before are committed first.
    await this.#handle.lane.add({ plan: async () => {} });
    const { detach } = await import("../engine/bundles/detached.ts");
    await detach(context, lanes, this.id, into, change);
  }

  /** Has a marked thread pruned by its handler, if there is one. */
  async #prunedByHandler(options: PruneOptions): Promise<PruneResult | undefined> {
    const { pruners, context } = this.#engine;
    if (pruners.size === 0) return undefined;
    const { pruner = "" } = (await context.thread(this.id))?.meta ?? {};
    return pruners.get(pruner)?.(this.id, options);
  }
}

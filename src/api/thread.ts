import { captureFork } from "../engine/changes/fork-capture.ts";
import { acquireChange, breakChange, leaseInfo } from "../engine/changes/lease.ts";
import { capturePut } from "../engine/changes/put/capture.ts";
import { putChange } from "../engine/changes/put/plan.ts";
import { type WritesResult, writesChange } from "../engine/changes/writes.ts";
import { captureWrites } from "../engine/changes/writes-capture.ts";
import type { Change as LaneChange } from "../engine/commits/lane.ts";
import { deferred } from "../engine/commits/lazy-change.ts";
import type { Engine } from "../engine/engine.ts";
import { closedError } from "../engine/faults/closed.ts";
import { notFound, refusedBy } from "../engine/faults/missing.ts";
import type { Place } from "../engine/reads/checkpoint.ts";
import { type Gathered, gather, type Named, type RecentRows, recentRows } from "../engine/reads/for-langgraph.ts";
import { historyOf } from "../engine/reads/history.ts";
import { Reading } from "../engine/reads/thread-reads.ts";
import type { Shown } from "../engine/view/row-at.ts";
import { checkId, checkNamespace, namespaceKey } from "../model/address.ts";
import type {
  AcquireOptions,
  BreakOptions,
  BrokenLease,
  Change,
  CheckpointSize,
  ForkOptions,
  HistoryOptions,
  LeaseInfo,
  LeaseToken,
  PruneOptions,
  PruneResult,
  PutInput,
  PutOptions,
  ThreadSize,
  WritesInput,
} from "../model/arguments.ts";
import type { Checkpoint, CheckpointInfo, CheckpointTuple, Write } from "../model/checkpoint.ts";
import {
  checkAcquireOptions,
  checkBreakOptions,
  checkForkOptions,
  checkHistoryOptions,
  checkIds,
  checkLabel,
  checkLeaseToken,
  checkNamed,
  checkObject,
  checkPruneOptions,
  checkPutInput,
  checkPutOptions,
  checkWritesInput,
} from "../model/validation.ts";
import { Lease } from "./lease.ts";

/**
 * A handle on a thread, or on one namespace of it: a named history of checkpoints. Making one does no I/O.
 *
 * @example
 * const thread = store.thread("user-42");
 * await thread.put({ state: { messages: [] }, next: ["plan"] });
 */
export class Thread<State = unknown> {
  readonly id: string;
  readonly namespace: readonly string[];
  readonly #engine: Engine;
  readonly #key: string;
  readonly #place: Place;
  readonly #reading: Reading<State>;

  /** @internal */
  constructor(engine: Engine, id: string, namespace: readonly string[]) {
    this.#engine = engine;
    this.id = checkId(id, "A thread id");
    this.namespace = Object.freeze(checkNamespace(namespace));
    this.#key = namespaceKey(this.namespace);
    this.#place = { thread: this.id, namespace: this.namespace };
    this.#reading = new Reading<State>(engine.context, this.#place, this.#key);
  }

  /** Saves a checkpoint. Takes the whole `state`, and finds what changed, or an `update` of the parent's. */
  put(input: PutInput<State>, options: PutOptions = {}): Promise<CheckpointInfo> {
    if (this.#engine.context.calls.closed) return Promise.reject(closedError());
    try {
      checkPutInput(input);
      checkPutOptions(options);
      const captured = capturePut(
        this.#engine.context,
        this.id,
        this.#key,
        input as PutInput<Record<string, unknown>>,
        options,
      );
      return this.#engine.lane(this.id).add(putChange(captured, this.#place));
    } catch (error) {
      return Promise.reject(refusedBy(this.id, error));
    }
  }

  /** The checkpoint that was committed last, or (`by: "step"`) the one with the greatest step. */
  latest(options: { readonly by?: "commit" | "step" } = {}): Promise<Checkpoint<State> | undefined> {
    return this.#attempt(() => {
      const { by } = checkObject(options, "The options of latest");
      if (by !== undefined && by !== "step" && by !== "commit") throw new TypeError('by must be "commit" or "step".');
      return () => this.#reading.latest(by ?? "commit");
    });
  }

  /** The checkpoint with this id, or the last committed one with this step. */
  get(at: string | { readonly step: number }): Promise<Checkpoint<State> | undefined> {
    return this.#attempt(() => {
      if (typeof at === "string") {
        checkId(at, "A checkpoint id");
        return () => this.#reading.byId(at);
      }
      const { step } = checkObject(at, "A checkpoint id or { step }");
      if (!Number.isSafeInteger(step)) throw new TypeError("step must be a safe integer.");
      return () => this.#reading.byStep(step as number);
    });
  }

  /**
   * A checkpoint with its parent's address and its writes: by its id, the latest, or (`by: "id"`) the one of those this
   * thread committed whose id is the greatest.
   */
  tuple(at?: string | { readonly by: "commit" | "id" }): Promise<CheckpointTuple<State> | undefined> {
    return this.#attempt(() => {
      if (typeof at === "string") checkId(at, "A checkpoint id");
      else if (
        at !== undefined &&
        !["commit", "id"].includes(checkObject(at, "A checkpoint id or { by }")["by"] as string)
      ) {
        throw new TypeError('by must be "commit" or "id".');
      }
      return () => this.#reading.tuple(at);
    });
  }

  /** Checkpoints, newest first: their metadata, or with `states: true` the whole of them. */
  history(options: HistoryOptions & { readonly states: true }): AsyncGenerator<Checkpoint<State>>;
  history(options?: HistoryOptions & { readonly states?: false }): AsyncGenerator<CheckpointInfo>;
  history(options?: HistoryOptions): AsyncGenerator<CheckpointInfo | Checkpoint<State>>;
  history(options: HistoryOptions = {}): AsyncGenerator<CheckpointInfo | Checkpoint<State>> {
    checkHistoryOptions(options);
    return historyOf(this.#engine.context, this.#place, this.#key, { ...options }) as AsyncGenerator<
      CheckpointInfo | Checkpoint<State>
    >;
  }

  /** Saves a task's results against a checkpoint, so that a resumed step need not run the task again. */
  putWrites(id: string, input: WritesInput, options: { readonly lease?: LeaseToken } = {}): Promise<WritesResult> {
    try {
      return this.startWrites(id, input, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * @internal Like `putWrites`, but throws at once what is wrong with the arguments. With `keep`, control that is there stays, as
   * data does.
   */
  startWrites(
    id: string,
    input: WritesInput,
    options: { readonly lease?: LeaseToken; readonly keep?: boolean },
  ): Promise<WritesResult> {
    if (this.#engine.context.calls.closed) throw closedError();
    try {
      checkId(id, "A checkpoint id");
      checkWritesInput(input);
      checkObject(options, "The options of putWrites");
      if (options.lease !== undefined) checkLeaseToken(options.lease, "lease");
      const { lease, keep = false } = options;
      const change = writesChange({ ...captureWrites(this.#engine.context, this.#key, id, input, lease), keep });
      return this.#engine.context.calls.track(() => this.#engine.lane(this.id).add(change));
    } catch (error) {
      throw refusedBy(this.id, error);
    }
  }

  /** The writes saved against a checkpoint, by task and index. */
  writes(id: string): Promise<readonly Write[]> {
    return this.#attempt(() => {
      checkId(id, "A checkpoint id");
      return () => this.#reading.writes(id);
    });
  }

  /**
   * The writes of several checkpoints by their ids, in one read however many there are. Takes what `history` yields, or
   * anything else that tells ids and seqs.
   */
  async writesOf(
    checkpoints: readonly Pick<CheckpointInfo, "id" | "seq">[],
  ): Promise<ReadonlyMap<string, readonly Write[]>> {
    return (await this.gather(checkpoints, [])).writes;
  }

  /** @internal The writes of some checkpoints and the whole of others, by their ids, in one read. */
  gather(
    written: readonly Pick<CheckpointInfo, "id" | "seq">[],
    whole: readonly Pick<CheckpointInfo, "id" | "seq">[],
  ): Promise<Gathered> {
    return this.#attempt(() => {
      checkNamed(written);
      checkNamed(whole);
      const named = ({ id, seq }: Named): Named => ({ id, seq });
      const [some, others] = [written.map(named), whole.map(named)];
      return () => gather(this.#engine.context, this.#place, this.#key, some, others);
    });
  }

  /** @internal The history as it is remembered: nothing is read. */
  recent(): RecentRows | undefined {
    return this.#engine.context.calls.closed ? undefined : recentRows(this.#engine.context, this.#place, this.#key);
  }

  /** A new thread that begins with a checkpoint of this one and its ancestors. Costs the same whatever the history. */
  fork(options: ForkOptions<State> = {}): Promise<Thread<State>> {
    return this.#attempt(() => {
      this.#rootOnly("fork");
      checkForkOptions(options);
      const into = options.into ?? this.#engine.context.ids?.() ?? crypto.randomUUID();
      const request = captureFork(this.#engine.context, into, options);
      const change = deferred(async () => (await import("../engine/changes/fork.ts")).forkChange(request));
      return async () => {
        await this.#engine.lane(this.id).add(change);
        return new Thread<State>(this.#engine, into, []);
      };
    });
  }

  /** A new thread with all checkpoints of this one: ids, seqs and parents kept. */
  copy(into: string): Promise<Thread<State>> {
    return this.#attempt(() => {
      this.#rootOnly("copy");
      checkId(into, "A thread id");
      return async () => {
        await this.#engine
          .lane(this.id)
          .add(deferred(async () => (await import("../engine/changes/fork.ts")).copyChange(into)));
        return new Thread<State>(this.#engine, into, []);
      };
    });
  }

  /** Deletes old checkpoints of every namespace of the thread. */
  prune(options: PruneOptions = {}): Promise<PruneResult> {
    return this.#attempt(() => {
      checkPruneOptions(options);
      const asked = { ...options };
      const load = async (): Promise<LaneChange<PruneResult>> =>
        (await import("../engine/removal/prune.ts")).pruneChange(this.#engine.context, asked);
      return () => this.#engine.lane(this.id).add(deferred(load, true));
    });
  }

  /** Deletes checkpoints by id; returns how many there were. */
  deleteCheckpoints(ids: readonly string[]): Promise<number> {
    return this.#attempt(() => {
      checkIds(ids);
      const wanted = new Set(ids);
      return () => this.#remove((row) => row.namespace === this.#key && wanted.has(row.id));
    });
  }

  /** Deletes a run's checkpoints in every namespace; returns how many there were. */
  deleteRun(run: string): Promise<number> {
    return this.#attempt(() => {
      checkId(run, "A run id");
      return () => this.#remove((row) => row.run === run);
    });
  }

  /** Deletes the thread. Forks and copies of it stay as they are. */
  delete(): Promise<void> {
    return this.#attempt(() => {
      this.#rootOnly("delete");
      const change = deferred(async () => (await import("../engine/changes/delete-thread.ts")).deleteThreadChange());
      return () => this.#engine.lane(this.id).add(change);
    });
  }

  /** What differs between two checkpoints' states, by path. */
  diff(a: string, b: string): Promise<readonly Change[]> {
    return this.#attempt(() => {
      checkId(a, "A checkpoint id");
      checkId(b, "A checkpoint id");
      return () => this.#reading.diff(a, b);
    });
  }

  /** Names a checkpoint, in this thread only: a fork keeps the name it saw. */
  label(id: string, label: string): Promise<void> {
    return this.#attempt(() => {
      checkId(id, "A checkpoint id");
      checkLabel(label);
      const load = async (): Promise<LaneChange<void>> =>
        (await import("../engine/changes/put/replace.ts")).labelChange(this.#key, id, label, () =>
          notFound(this.id, id),
        );
      return () => this.#engine.lane(this.id).add(deferred(load));
    });
  }

  /** What the thread takes on the medium, without what it shares with those it was forked from. Reads all of it. */
  size(): Promise<ThreadSize> {
    return this.#attempt(() => {
      this.#rootOnly("size");
      return () => this.#reading.size();
    });
  }

  /** What a checkpoint takes: its frame, as a delta against its parent's. */
  sizeOf(id: string): Promise<CheckpointSize> {
    return this.#attempt(() => {
      checkId(id, "A checkpoint id");
      return () => this.#reading.sizeOf(id);
    });
  }

  /** How many checkpoints the namespace has. */
  count(): Promise<number> {
    return this.#attempt(() => () => this.#reading.count());
  }

  /** The namespaces that have checkpoints, the root as `[]`. */
  namespaces(): Promise<readonly (readonly string[])[]> {
    return this.#attempt(() => () => this.#reading.namespaces());
  }

  /** Takes the right to advance the thread. `BUSY` while another holds it. */
  acquire(options: AcquireOptions): Promise<Lease> {
    return this.#attempt(() => {
      this.#rootOnly("acquire");
      checkAcquireOptions(options);
      const { holder, ttl } = options;
      return async () =>
        new Lease(this.#engine, this.id, await this.#engine.lane(this.id).add(acquireChange({ holder, ttl })), ttl);
    });
  }

  /** Who holds the lease, for how long, and which leases were broken. */
  lease(): Promise<LeaseInfo> {
    return this.#attempt(() => {
      this.#rootOnly("lease");
      return () => leaseInfo(this.#engine.context, this.id);
    });
  }

  /**
   * Ends another's lease before its time, as when its holder's clock was far ahead; that holder gets `FENCED`. The thread
   * notes who did it and why, see {@link lease}. Resolves to the lease that was broken, undefined if there was none.
   *
   * @example
   * await thread.breakLease({ by: "ops", reason: "the clock of worker-7 was a year ahead" });
   */
  breakLease(options: BreakOptions = {}): Promise<BrokenLease | undefined> {
    return this.#attempt(() => {
      this.#rootOnly("breakLease");
      checkBreakOptions(options);
      const change = breakChange({ ...options });
      return () => this.#engine.lane(this.id).add(change);
    });
  }

  /** Checks and captures the arguments in the call itself; whatever is wrong with them rejects before any I/O. */
  #attempt<T>(prepare: () => () => Promise<T>): Promise<T> {
    if (this.#engine.context.calls.closed) return Promise.reject(closedError());
    try {
      return this.#engine.context.calls.track(prepare());
    } catch (error) {
      return Promise.reject(refusedBy(this.id, error));
    }
  }

  #rootOnly(operation: string): void {
    if (this.#key !== "")
      throw new TypeError(
        `${operation} is for whole threads. Use store.thread(${JSON.stringify(this.id)}) without a namespace.`,
      );
  }

  async #remove(goes: (row: Shown) => boolean): Promise<number> {
    const change = deferred(async () => (await import("../engine/removal/remove.ts")).removeWhere(goes), true);
    return (await this.#engine.lane(this.id).add(change)).deleted;
  }
}

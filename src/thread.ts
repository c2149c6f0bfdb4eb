import { aheadOfHead, aheadOfId, aheadOfWrites, type ReadAhead } from "./engine/ahead.ts";
import { capturePut } from "./engine/capture.ts";
import { captureFork } from "./engine/capture-fork.ts";
import { putChange } from "./engine/commit.ts";
import { countOf } from "./engine/count.ts";
import { deleteThreadChange } from "./engine/delete.ts";
import { closedError, type Engine } from "./engine/engine.ts";
import { findById, headOf } from "./engine/find.ts";
import { copyChange, forkChange } from "./engine/fork.ts";
import { type Gathered, gather, type Named, type RecentRows, recentRows } from "./engine/gather.ts";
import { historyOf, latestById, latestByStep, namespacesOf } from "./engine/history.ts";
import { acquireChange } from "./engine/lease.ts";
import { sizeOfCheckpoint, sizeOfThread } from "./engine/measure.ts";
import { notFound } from "./engine/missing.ts";
import { pruneChoice } from "./engine/prune.ts";
import { checkpointOf, named, type Place, writeOf } from "./engine/read.ts";
import { type Candidate, removeChange } from "./engine/remove.ts";
import { labelChange } from "./engine/replace.ts";
import { shownWrites } from "./engine/shown-writes.ts";
import { findByStep } from "./engine/step.ts";
import type { Tape } from "./engine/tape.ts";
import { tupleOf } from "./engine/tuple.ts";
import type { Shown } from "./engine/view.ts";
import { type WritesResult, writesChange } from "./engine/writes.ts";
import { ThreadmarkError } from "./errors.ts";
import { Lease } from "./lease.ts";
import { checkId, checkNamespace, namespaceKey, parseNamespaceKey } from "./model/address.ts";
import type {
  AcquireOptions,
  Change,
  CheckpointSize,
  ForkOptions,
  HistoryOptions,
  LeaseToken,
  PruneOptions,
  PruneResult,
  PutInput,
  PutOptions,
  ThreadSize,
  WritesInput,
} from "./model/arguments.ts";
import { changesBetween } from "./model/changes.ts";
import type { Checkpoint, CheckpointInfo, CheckpointTuple, Write } from "./model/checkpoint.ts";
import {
  checkAcquireOptions,
  checkForkOptions,
  checkHistoryOptions,
  checkIds,
  checkLabel,
  checkLeaseToken,
  checkObject,
  checkPruneOptions,
  checkPutInput,
  checkPutOptions,
  checkWritesInput,
} from "./model/validation.ts";

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

  /** @internal */
  constructor(engine: Engine, id: string, namespace: readonly string[]) {
    this.#engine = engine;
    this.id = checkId(id, "A thread id");
    this.namespace = Object.freeze(checkNamespace(namespace));
    this.#key = namespaceKey(this.namespace);
    this.#place = { thread: this.id, namespace: this.namespace };
  }

  /** Saves a checkpoint. Takes the whole `state`, and finds what changed, or an `update` of the parent's. */
  put(input: PutInput<State>, options: PutOptions = {}): Promise<CheckpointInfo> {
    if (this.#engine.closed) return Promise.reject(closedError());
    try {
      checkPutInput(input);
      checkPutOptions(options);
      const captured = capturePut(
        this.#engine,
        this.id,
        this.#key,
        input as PutInput<Record<string, unknown>>,
        options,
      );
      return this.#engine.lane(this.id).add(putChange(captured, this.#place));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The checkpoint that was committed last, or (`by: "step"`) the one with the greatest step. */
  latest(options: { readonly by?: "commit" | "step" } = {}): Promise<Checkpoint<State> | undefined> {
    return this.#attempt(() => {
      const { by } = checkObject(options, "The options of latest");
      if (by !== undefined && by !== "step" && by !== "commit") throw new TypeError('by must be "commit" or "step".');
      const find = by === "step" ? latestByStep : headOf;
      return () => this.#show((tape) => find(this.#engine, tape, this.#key), aheadOfHead(this.#engine, this.#key));
    });
  }

  /** The checkpoint with this id, or the last committed one with this step. */
  get(at: string | { readonly step: number }): Promise<Checkpoint<State> | undefined> {
    return this.#attempt(() => {
      if (typeof at === "string") {
        checkId(at, "A checkpoint id");
        return () =>
          this.#show((tape) => findById(this.#engine, tape, this.#key, at), aheadOfId(this.#engine, at)).catch(
            (error: unknown) => {
              throw named(error, this.id, at);
            },
          );
      }
      const { step } = checkObject(at, "A checkpoint id or { step }");
      if (!Number.isSafeInteger(step)) throw new TypeError("step must be a safe integer.");
      return () => this.#show((tape) => findByStep(this.#engine, tape, this.#key, step as number));
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
      return async () => {
        const engine = this.#engine;
        const ahead = typeof at === "string" ? aheadOfId(engine, at, this.#key) : aheadOfHead(engine, this.#key, true);
        const tape = await engine.thread(this.id, ahead);
        if (tape) ahead.settle(tape);
        const row = tape && (await this.#find(tape, at));
        if (!tape || !row) return undefined;
        return (await tupleOf(engine, tape, this.#place, row, ahead)) as CheckpointTuple<State> | undefined;
      };
    });
  }

  /** Checkpoints, newest first: their metadata, or with `states: true` the whole of them. */
  history(options: HistoryOptions & { readonly states: true }): AsyncGenerator<Checkpoint<State>>;
  history(options?: HistoryOptions & { readonly states?: false }): AsyncGenerator<CheckpointInfo>;
  history(options?: HistoryOptions): AsyncGenerator<CheckpointInfo | Checkpoint<State>>;
  history(options: HistoryOptions = {}): AsyncGenerator<CheckpointInfo | Checkpoint<State>> {
    checkHistoryOptions(options);
    return historyOf(this.#engine, this.#place, this.#key, { ...options }) as AsyncGenerator<
      CheckpointInfo | Checkpoint<State>
    >;
  }

  /** Saves a task's results against a checkpoint, so that a resumed step need not run the task again. */
  putWrites(id: string, input: WritesInput, options: { readonly lease?: LeaseToken } = {}): Promise<WritesResult> {
    return this.#attempt(() => {
      checkId(id, "A checkpoint id");
      checkWritesInput(input);
      if (options.lease !== undefined) checkLeaseToken(options.lease, "lease");
      const writes = input.writes.map((write, position) => {
        const { tree } = this.#engine.codec.encode(write.value, `writes[${position}].value`);
        return [write.index ?? position, write.channel, tree] as const;
      });
      const { task, node = null } = input;
      const change = writesChange({ namespace: this.#key, checkpoint: id, task, node, writes, lease: options.lease });
      return () => this.#engine.lane(this.id).add(change);
    });
  }

  /** The writes saved against a checkpoint, by task and index. */
  writes(id: string): Promise<readonly Write[]> {
    return this.#attempt(() => {
      checkId(id, "A checkpoint id");
      return async () => {
        const ahead = aheadOfWrites(this.#engine, this.#key, [id]);
        const tape = await this.#engine.thread(this.id, ahead);
        if (!tape) return [];
        const writes = await shownWrites(this.#engine, tape, this.#key, id, ahead.writes(tape, id));
        return writes.map((write) => writeOf(this.#engine, write));
      };
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
      const named = ({ id, seq }: Named): Named => ({ id: checkId(id, "A checkpoint id"), seq });
      const [some, others] = [written.map(named), whole.map(named)];
      return () => gather(this.#engine, this.#place, this.#key, some, others);
    });
  }

  /** @internal The history as it is remembered: nothing is read. */
  recent(): RecentRows | undefined {
    return this.#engine.closed ? undefined : recentRows(this.#engine, this.#place, this.#key);
  }

  /** A new thread that begins with a checkpoint of this one and its ancestors. Costs the same whatever the history. */
  fork(options: ForkOptions<State> = {}): Promise<Thread<State>> {
    return this.#attempt(() => {
      this.#rootOnly("fork");
      checkForkOptions(options);
      const into = options.into ?? this.#engine.ids?.() ?? crypto.randomUUID();
      const change = forkChange(captureFork(this.#engine, into, options));
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
        await this.#engine.lane(this.id).add(copyChange(into));
        return new Thread<State>(this.#engine, into, []);
      };
    });
  }

  /** Deletes old checkpoints of every namespace of the thread. */
  prune(options: PruneOptions = {}): Promise<PruneResult> {
    return this.#attempt(() => {
      checkPruneOptions(options);
      const { dryRun = false } = options;
      const choose = pruneChoice(this.#engine, { ...options });
      return () => this.#engine.lane(this.id).add(removeChange(choose, dryRun));
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
      return () => this.#engine.lane(this.id).add(deleteThreadChange());
    });
  }

  /** What differs between two checkpoints' states, by path. */
  diff(a: string, b: string): Promise<readonly Change[]> {
    return this.#attempt(() => {
      checkId(a, "A checkpoint id");
      checkId(b, "A checkpoint id");
      return async () => {
        const [before, after] = [await this.#stateOf(a), await this.#stateOf(b)];
        const { codec } = this.#engine;
        const text = (value: unknown): string => JSON.stringify(codec.encode(value, "state").tree);
        return changesBetween(before, after, (left, right) => Object.is(left, right) || text(left) === text(right));
      };
    });
  }

  /** Names a checkpoint, in this thread only: a fork keeps the name it saw. */
  label(id: string, label: string): Promise<void> {
    return this.#attempt(() => {
      checkId(id, "A checkpoint id");
      checkLabel(label);
      return () => this.#engine.lane(this.id).add(labelChange(this.#key, id, label, () => notFound(this.id, id)));
    });
  }

  /** What the thread takes on the medium, without what it shares with those it was forked from. Reads all of it. */
  size(): Promise<ThreadSize> {
    return this.#attempt(() => {
      this.#rootOnly("size");
      return async () => {
        const tape = await this.#engine.thread(this.id);
        if (!tape)
          throw new ThreadmarkError("NOT_FOUND", `There is no thread ${JSON.stringify(this.id)}.`, { thread: this.id });
        return sizeOfThread(this.#engine, tape);
      };
    });
  }

  /** What a checkpoint takes: its frame, as a delta against its parent's. */
  sizeOf(id: string): Promise<CheckpointSize> {
    return this.#attempt(() => {
      checkId(id, "A checkpoint id");
      return async () => {
        const tape = await this.#engine.thread(this.id);
        const row = tape && (await this.#find(tape, id));
        if (!tape || !row) throw notFound(this.id, id);
        return sizeOfCheckpoint(this.#engine, tape, row);
      };
    });
  }

  /** How many checkpoints the namespace has. */
  count(): Promise<number> {
    return this.#attempt(() => async () => {
      const tape = await this.#engine.thread(this.id);
      return tape ? countOf(this.#engine, tape, this.#key) : 0;
    });
  }

  /** The namespaces that have checkpoints, the root as `[]`. */
  namespaces(): Promise<readonly (readonly string[])[]> {
    return this.#attempt(() => async () => {
      const tape = await this.#engine.thread(this.id);
      return tape ? [...(await namespacesOf(this.#engine, tape))].sort().map(parseNamespaceKey) : [];
    });
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

  /** Checks and captures the arguments in the call itself; whatever is wrong with them rejects before any I/O. */
  #attempt<T>(prepare: () => () => Promise<T>): Promise<T> {
    if (this.#engine.closed) return Promise.reject(closedError());
    try {
      return this.#engine.track(prepare());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #rootOnly(operation: string): void {
    if (this.#key !== "")
      throw new TypeError(
        `${operation} is for whole threads. Use store.thread(${JSON.stringify(this.id)}) without a namespace.`,
      );
  }

  async #show(
    find: (tape: Tape) => Promise<Shown | undefined>,
    ahead?: ReadAhead,
  ): Promise<Checkpoint<State> | undefined> {
    const tape = await this.#engine.thread(this.id, ahead);
    const records = tape && ahead?.settle(tape).records;
    const row = tape && (await find(tape));
    return (
      tape && row && ((await checkpointOf(this.#engine, tape, this.#place, row, { records })) as Checkpoint<State>)
    );
  }

  #find(tape: Tape, at: string | { readonly by: "commit" | "id" } | undefined): Promise<Shown | undefined> {
    if (typeof at === "string") return findById(this.#engine, tape, this.#key, at);
    const latest = at?.by === "id" ? latestById : headOf;
    return latest(this.#engine, tape, this.#key);
  }

  async #stateOf(id: string): Promise<State> {
    const checkpoint = await this.#show((tape) => findById(this.#engine, tape, this.#key, id));
    if (!checkpoint) throw notFound(this.id, id);
    return checkpoint.state;
  }

  async #remove(goes: (row: Shown) => boolean): Promise<number> {
    const choose = (rows: readonly Candidate[]): ReadonlySet<number> =>
      new Set(rows.filter(({ row }) => goes(row)).map(({ row }) => row.seq));
    return (await this.#engine.lane(this.id).add(removeChange(choose, false))).deleted;
  }
}

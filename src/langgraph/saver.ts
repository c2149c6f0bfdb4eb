import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type DeltaChannelHistory,
  type PendingWrite,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { handlePrunes, hasSchema, putMarked, startWrites } from "../api/adapter.ts";
import { type AnyOpenOptions, open } from "../api/open.ts";
import type { Store } from "../api/store.ts";
import type { Thread } from "../api/thread.ts";
import type { ThreadInfo } from "../model/checkpoint.ts";
import type { LeaseToken, PruneOptions } from "../model/interface/options.ts";
import type { PruneResult } from "../model/interface/results.ts";
import type { ThreadsOptions } from "../model/interface/store-options.ts";
import { checkOptions, checkStrings } from "../model/validation/checks.ts";
import { historiesAt } from "./channel-history.ts";
import { listed } from "./list.ts";
import { type Address, addressOf, configOf, idOf, levelsOf, requiredAddress } from "./mapping/address.ts";
import { attributesOf } from "./mapping/attributes.ts";
import { isActivation } from "./mapping/bookkeeping.ts";
import { putInput } from "./mapping/checkpoint.ts";
import type { SaverOptions } from "./options.ts";
import { rePut } from "./re-put.ts";
import { readTuple } from "./read-tuple.ts";
import { deleteRuns, prune, readsAncestors } from "./remove.ts";
import { beginsRun, Exclusive } from "./runs/exclusive.ts";
import { channelFailure, writeFailure } from "./runs/failure.ts";
import { handledByRun, Refusals } from "./runs/refusals.ts";
import { isNested, isRun, savesAtExit } from "./runs/run-config.ts";
import { fromStored } from "./values/from-stored.ts";
import { toStored } from "./values/to-stored.ts";

type State = Record<string, unknown>;

/** The mark of threads with checkpoints that read from others. */
const PRUNER = "langgraph";

/**
 * LangGraph's checkpoints in a Threadmark store. Takes the place of any other checkpointer.
 *
 * @example
 * const checkpointer = await ThreadmarkSaver.open("sqlite:agent.db");
 * const graph = builder.compile({ checkpointer });
 */
export class ThreadmarkSaver extends BaseCheckpointSaver {
  /** The store, for everything that the saver itself does not offer. */
  readonly store: Store;
  readonly #store: Store<State>;
  readonly #exclusive: Exclusive | undefined;
  readonly #refusals = new Refusals();
  /** True if messages that were stored before are taken to be unchanged. */
  readonly #trusted: boolean;
  readonly #attributes: readonly string[];
  #last: { readonly thread: string; readonly namespace: string; readonly handle: Thread<State> } | undefined;
  #owned = false;

  /** Uses an open store, which closing the saver leaves open. */
  constructor(store: Store, options: SaverOptions = {}) {
    super();
    this.store = store;
    this.#store = store as Store<State>;
    checkOptions(options, ["exclusive", "changesInPlace", "attributes"], "ThreadmarkSaver");
    const { exclusive = false, changesInPlace = true, attributes = [] } = options;
    checkStrings(attributes, "attributes");
    this.#attributes = [...attributes];
    if (typeof changesInPlace !== "boolean") throw new TypeError("changesInPlace must be true or false.");
    this.#trusted = !changesInPlace;
    handlePrunes(this.#store, PRUNER, (thread, rules) => prune(this.#store, thread, rules));
    if (exclusive !== false) this.#exclusive = new Exclusive(this.#store, exclusive === true ? {} : exclusive);
  }

  /**
   * Opens a store (`memory:`, `file:./directory`, `sqlite:path`, `postgres://…`), which is closed with the saver.
   *
   * @example
   * const checkpointer = await ThreadmarkSaver.open("sqlite:agent.db");
   */
  static async open(url: string, options: SaverOptions & AnyOpenOptions = {}): Promise<ThreadmarkSaver> {
    const { exclusive, changesInPlace, attributes, ...rest } = options;
    const saver = new ThreadmarkSaver(await open(url, rest), {
      ...(exclusive !== undefined && { exclusive }),
      ...(changesInPlace !== undefined && { changesInPlace }),
      ...(attributes !== undefined && { attributes }),
    });
    saver.#owned = true;
    return saver;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const address = addressOf(config);
    if (address === undefined) return undefined;
    if (this.#exclusive !== undefined && beginsRun(config)) await this.#exclusive.begin(address.thread, config);
    return readTuple(this.#handle(address), address.checkpoint, this.getNextVersion(undefined));
  }

  override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { limit = Number.POSITIVE_INFINITY, ...others } = options;
    let left = limit;
    if (left <= 0) return;
    const isOfAll = addressOf(config) === undefined;
    const version = this.getNextVersion(undefined);
    for await (const { thread, namespace, info } of listed(this.#store, config, others, this.#attributes)) {
      const tuple = await readTuple(this.#handle({ thread, namespace }), info.id, version, isOfAll);
      // The checkpoint may have been deleted since it was listed, or be another program's.
      if (tuple === undefined) continue;
      yield tuple;
      left -= 1;
      if (left <= 0) return;
    }
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    // Some callers leave this argument out, though the contract requires it.
    newVersions: ChannelVersions = checkpoint.channel_versions ?? {},
  ): Promise<RunnableConfig> {
    const address = addressOf(config);
    const done = this.#put(address, config, checkpoint, metadata, newVersions);
    return address === undefined ? done : this.#refusals.hold({ ...address, checkpoint: checkpoint.id }, config, done);
  }

  async #put(
    address: Address | undefined,
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread, namespace, checkpoint: parent = null } = address ?? requiredAddress(config, "put");
    const handle = this.#handle({ thread, namespace });
    const input = putInput({
      config,
      namespace,
      checkpoint,
      metadata,
      newVersions,
      hasParent: parent !== null,
      grows: parent !== null && parent !== checkpoint.id,
      hasSchema: hasSchema(handle),
      trusted: this.#trusted,
    });
    try {
      // Invariant: nothing is awaited before the store has captured the input, which the graph may change later.
      await this.#running<unknown>(thread, config, (lease) => {
        const leased = lease === undefined ? {} : { lease };
        if (parent === checkpoint.id) return rePut(handle, input, leased);
        const attributes =
          this.#attributes.length > 0 && attributesOf(this.#attributes, { ...config.metadata, ...metadata });
        const given = attributes ? { ...input, attributes } : input;
        const placed = { parent, ...leased };
        return readsAncestors({ metadata: input.metadata ?? {}, stateVersion: input.stateVersion ?? 0 })
          ? putMarked(handle, given, placed, PRUNER)
          : handle.put(given, placed);
      });
    } catch (error) {
      throw channelFailure(error, thread, Object.keys(input.state ?? input.update?.set ?? {}));
    }
    return configOf(thread, namespace, checkpoint.id);
  }

  /**
   * Saves the writes of a task. For a run, a value that cannot be stored is thrown in the call itself: LangGraph looks at
   * rejected promises only when the run ends, but a thrown error fails the run in the step that made the value.
   */
  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const run = isRun(config);
    try {
      const address = requiredAddress(config, "putWrites");
      if (run) this.#refusals.check(address);
      const done = this.#putWrites(address, config, writes, taskId);
      return run ? handledByRun(done) : done;
    } catch (error) {
      if (!run) return Promise.reject(error);
      // An error thrown at the end of a run would hide the error that the run ended with.
      if (savesAtExit(config)) return handledByRun(Promise.reject(error));
      if (!isNested(config)) this.#exclusive?.fail(addressOf(config)?.thread ?? "");
      throw error;
    }
  }

  #putWrites(address: Address, config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { thread, checkpoint } = address;
    if (checkpoint === undefined) throw new TypeError("putWrites needs config.configurable.checkpoint_id.");
    if (writes.length === 0) return Promise.resolve();
    // Ordinary writes are numbered among themselves. With durability "exit" LangGraph puts writes again that it has read, with
    // the special ones first: numbered by position, ordinary writes would be stored twice.
    let ordinary = 0;
    const indexed = writes.map(([channel, value]) => ({
      channel,
      value: toStored(value),
      index: WRITES_IDX_MAP[channel] ?? ordinary++,
    }));
    // Special writes together with ordinary ones do not replace stored ones.
    const keep = ordinary > 0;
    const failure = (error: unknown): unknown => writeFailure(error, thread, indexed);
    const handle = this.#handle(address);
    try {
      return this.#running(thread, config, (lease) =>
        startWrites(handle, checkpoint, { task: taskId, writes: indexed }, { keep, ...(lease && { lease }) }),
      ).then(
        () => undefined,
        (error) => {
          throw failure(error);
        },
      );
    } catch (error) {
      throw failure(error);
    }
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.#store.thread(threadId).delete();
  }

  /** Returns the histories of channels that keep only writes, in a single read where the thread is remembered. */
  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const { config, channels } = options;
    if (channels.some(isActivation)) return super.getDeltaChannelHistory(options);
    const address = addressOf(config);
    // A config without a checkpoint id means that LangGraph found no checkpoint to begin with: there is no history.
    const id = address?.checkpoint;
    const histories =
      address && id && channels.length > 0 ? await historiesAt(this.#handle(address), id, channels) : undefined;
    const result: Record<string, DeltaChannelHistory> = {};
    for (const channel of channels) {
      const { writes, ...seed } = histories?.get(channel) ?? { writes: [] };
      result[channel] = {
        writes: writes.map(([task, value]): CheckpointPendingWrite => [task, channel, fromStored(value)]),
        ...("seed" in seed && { seed: fromStored(seed.seed) }),
      };
    }
    return result;
  }

  /**
   * Yields the threads that have checkpoints, in order of their ids, or with `order: "updated"` the newest first.
   *
   * @example
   * for await (const { id, status } of saver.threads({ order: "updated", limit: 20 })) console.log(id, status);
   */
  threads(options: ThreadsOptions = {}): AsyncGenerator<ThreadInfo> {
    return this.#store.threads(options);
  }

  /**
   * Deletes old checkpoints of a thread. The remaining checkpoints read as before.
   *
   * @example
   * await saver.prune("user-42", { keepLast: 10 });
   */
  prune(threadId: string, options: PruneOptions): Promise<PruneResult> {
    return prune(this.#store, threadId, options);
  }

  /**
   * Makes a new thread with all checkpoints and writes of another, at the same cost for any length of history.
   *
   * @example
   * await saver.copyThread("user-42", "user-42-backup");
   */
  async copyThread(sourceThreadId: string, targetThreadId: string): Promise<void> {
    await this.#store.thread(sourceThreadId).copy(targetThreadId);
  }

  /**
   * Makes a new thread that begins with a checkpoint of another (default: the latest) and its ancestors. Returns the config of
   * that checkpoint in the new thread.
   *
   * @example
   * const config = await saver.forkThread({ configurable: { thread_id: "user-42" } }, "user-42-again");
   */
  async forkThread(config: RunnableConfig, newThreadId: string): Promise<RunnableConfig> {
    const { thread, namespace, checkpoint } = requiredAddress(config, "forkThread");
    if (namespace !== "")
      throw new TypeError("forkThread takes a checkpoint of the root graph: leave checkpoint_ns out.");
    const at = checkpoint ?? (await this.#store.thread(thread).tuple({ by: "id" }))?.checkpoint.id;
    const fork = await this.#store.thread(thread).fork({ ...(at !== undefined && { at }), into: newThreadId });
    return configOf(fork.id, "", at as string);
  }

  /**
   * Deletes the checkpoints of runs, given by the `run_id` they were invoked with. Returns their number.
   *
   * @example
   * const deleted = await saver.deleteForRuns(["run-1"]);
   */
  async deleteForRuns(runIds: readonly string[]): Promise<number> {
    const runs = new Set(runIds.map(idOf));
    let count = 0;
    if (runs.size === 0) return count;
    const threads = new Set<string>();
    for (const run of runs) for await (const { id } of this.#store.threads({ run })) threads.add(id);
    for (const id of threads) count += await deleteRuns(this.#store, id, runs);
    return count;
  }

  /**
   * Closes the store, if the saver opened it.
   *
   * @example
   * await saver.close();
   */
  async close(): Promise<void> {
    await this.#exclusive?.close();
    if (this.#owned) await this.#store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Returns the handle on a thread. The handle used last is kept: a step saves its writes and its checkpoint in turn. */
  #handle({ thread, namespace }: Pick<Address, "thread" | "namespace">): Thread<State> {
    const last = this.#last;
    if (last?.thread === thread && last.namespace === namespace) return last.handle;
    const handle = this.#store.thread(thread, { namespace: levelsOf(namespace) });
    this.#last = { thread, namespace, handle };
    return handle;
  }

  /** Commits a change: for a run under its lease, if runs take leases; for others while no run is under way. */
  #running<T>(thread: string, config: RunnableConfig, action: (lease?: LeaseToken) => Promise<T>): Promise<T> {
    if (this.#exclusive === undefined) return action();
    return isRun(config) ? this.#exclusive.with(thread, action) : this.#exclusive.beside(thread, action);
  }
}

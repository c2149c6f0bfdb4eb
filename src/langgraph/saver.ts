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
  maxChannelVersion,
  type PendingWrite,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { type BackendOptions, open } from "../api/open.ts";
import type { Store } from "../api/store.ts";
import type { Thread } from "../api/thread.ts";
import type { LeaseToken, OpenOptions, PruneOptions, PruneResult, ThreadsOptions } from "../model/arguments.ts";
import type { ThreadInfo } from "../model/checkpoint.ts";
import { historiesAt } from "./history.ts";
import { listed } from "./list.ts";
import { type Address, addressOf, configOf, idOf, levelsOf, requiredAddress } from "./mapping/address.ts";
import { type Bookkeeping, isActivation, reserved } from "./mapping/bookkeeping.ts";
import { putInput, shownTuple } from "./mapping/checkpoint.ts";
import { putAgain } from "./re-put.ts";
import { deleteRuns, firstVersionWithSends, prune, sendsOf } from "./remove.ts";
import { beginsRun, Exclusive, type ExclusiveOptions } from "./runs/exclusive.ts";
import { channelFailure, writeFailure } from "./runs/failure.ts";
import { handledByRun, Refusals } from "./runs/refusals.ts";
import { isNested, isRun, savesAtExit } from "./runs/run-config.ts";
import { fromStored, toStored } from "./values/to-stored.ts";

export interface SaverOptions {
  /**
   * One run at a time on a thread, whatever process it is in: a second one is refused with `BUSY` before it does any work.
   * Default false: runs on one thread go side by side, each on a branch of its own.
   */
  readonly exclusive?: boolean | ExclusiveOptions;
}

type State = Record<string, unknown>;

/**
 * LangGraph's checkpoints in a Threadmark store. Takes the place of any other checkpointer.
 *
 * @example
 * const checkpointer = await ThreadmarkSaver.open("sqlite:agent.db");
 * const graph = builder.compile({ checkpointer });
 */
export class ThreadmarkSaver extends BaseCheckpointSaver {
  /** The store, for whatever the saver itself does not offer. */
  readonly store: Store;
  readonly #store: Store<State>;
  readonly #exclusive: Exclusive | undefined;
  readonly #refusals = new Refusals();
  #owned = false;

  /** Uses a store that is open already, and stays so when the saver is closed. */
  constructor(store: Store, options: SaverOptions = {}) {
    super();
    this.store = store;
    this.#store = store as Store<State>;
    const { exclusive = false } = options;
    if (exclusive !== false) this.#exclusive = new Exclusive(this.#store, exclusive === true ? {} : exclusive);
  }

  /** Opens a store (`memory:`, `file:./directory`, `sqlite:path`, `postgres://…`) of the saver's own. */
  static async open(url: string, options: SaverOptions & OpenOptions & BackendOptions = {}): Promise<ThreadmarkSaver> {
    const { exclusive, ...rest } = options;
    const saver = new ThreadmarkSaver(await open(url, rest), exclusive === undefined ? {} : { exclusive });
    saver.#owned = true;
    return saver;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const address = addressOf(config);
    if (address === undefined) return undefined;
    if (this.#exclusive !== undefined && beginsRun(config)) await this.#exclusive.begin(address.thread, config);
    return this.#tuple(this.#handle(address), address.checkpoint);
  }

  override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    for await (const { thread, namespace, info } of listed(this.#store, config, options)) {
      const tuple = await this.#tuple(this.#handle({ thread, namespace }), info.id);
      // It may have been deleted since it was listed.
      if (tuple !== undefined) yield tuple;
    }
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    // Not every caller passes them, though the contract has them.
    newVersions: ChannelVersions = checkpoint.channel_versions ?? {},
  ): Promise<RunnableConfig> {
    const done = this.#put(config, checkpoint, metadata, newVersions);
    const address = addressOf(config);
    return address === undefined ? done : this.#refusals.hold({ ...address, checkpoint: checkpoint.id }, config, done);
  }

  async #put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread, namespace, checkpoint: parent = null } = requiredAddress(config, "put");
    const handle = this.#handle({ thread, namespace });
    const input = putInput({ config, namespace, checkpoint, metadata, newVersions, hasParent: parent !== null });
    try {
      // Nothing is awaited before the store has captured the input.
      await this.#running<unknown>(thread, config, (lease) => {
        const leased = lease === undefined ? {} : { lease };
        return parent === checkpoint.id ? putAgain(handle, input, leased) : handle.put(input, { parent, ...leased });
      });
    } catch (error) {
      throw channelFailure(error, thread, Object.keys(input.state ?? input.update?.set ?? {}));
    }
    return configOf(thread, namespace, checkpoint.id);
  }

  /**
   * Saves what a task wrote. For a run, what cannot be stored is thrown at once and not given as a rejection: LangGraph looks at
   * promises when the run ends, but passes on what is thrown, so that the run fails in the step that made the value.
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
      // An error thrown at the end of a run would take the place of the one that the run ended with.
      if (savesAtExit(config)) return handledByRun(Promise.reject(error));
      if (!isNested(config)) this.#exclusive?.fail(addressOf(config)?.thread ?? "");
      throw error;
    }
  }

  #putWrites(address: Address, config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { thread, checkpoint } = address;
    if (checkpoint === undefined) throw new TypeError("putWrites needs config.configurable.checkpoint_id.");
    if (writes.length === 0) return Promise.resolve();
    // Ordinary ones are counted among themselves: with durability "exit" LangGraph puts again what it has read, in which special
    // ones come first, and by position what a task wrote once would be there twice.
    let ordinary = 0;
    const indexed = writes.map(([channel, value]) => ({
      channel,
      value: toStored(value),
      index: WRITES_IDX_MAP[channel] ?? ordinary++,
    }));
    // Beside ordinary writes, special ones do not replace what is there.
    const keep = ordinary > 0;
    const failure = (error: unknown): unknown => writeFailure(error, thread, indexed);
    const handle = this.#handle(address);
    try {
      return this.#running(thread, config, (lease) =>
        handle.startWrites(checkpoint, { task: taskId, writes: indexed }, { keep, ...(lease && { lease }) }),
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

  /** What channels that keep only their writes are made of: one read where the thread is remembered, however long it is. */
  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const { config, channels } = options;
    if (channels.some(isActivation)) return super.getDeltaChannelHistory(options);
    const address = addressOf(config);
    // Without a checkpoint there is no history, though the thread has one: LangGraph found none to begin with.
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

  /** The threads that have checkpoints, in order of their ids, or with `order: "updated"` the newest first. */
  threads(options: ThreadsOptions = {}): AsyncGenerator<ThreadInfo> {
    return this.#store.threads(options);
  }

  /** Deletes old checkpoints of a thread; what remains reads as before. */
  prune(threadId: string, options: PruneOptions = {}): Promise<PruneResult> {
    return prune(this.#store, threadId, options);
  }

  /** A new thread with all checkpoints and writes of another. Costs the same whatever the history. */
  async copyThread(sourceThreadId: string, targetThreadId: string): Promise<void> {
    await this.#store.thread(sourceThreadId).copy(targetThreadId);
  }

  /**
   * A new thread that begins with a checkpoint of another (the latest, if the config names none) and its ancestors. Returns
   * the config of that checkpoint in the new thread.
   */
  async forkThread(config: RunnableConfig, newThreadId: string): Promise<RunnableConfig> {
    const { thread, namespace, checkpoint } = requiredAddress(config, "forkThread");
    if (namespace !== "")
      throw new TypeError("forkThread takes a checkpoint of the root graph: leave checkpoint_ns out.");
    const at = checkpoint ?? (await this.#store.thread(thread).tuple({ by: "id" }))?.checkpoint.id;
    const fork = await this.#store.thread(thread).fork({ ...(at !== undefined && { at }), into: newThreadId });
    return configOf(fork.id, "", at as string);
  }

  /** Deletes the checkpoints of runs, given by the `run_id` they were invoked with; returns how many there were. */
  async deleteForRuns(runIds: readonly string[]): Promise<number> {
    const runs = new Set(runIds.map(idOf));
    let count = 0;
    if (runs.size === 0) return count;
    for await (const { id } of this.#store.threads()) count += await deleteRuns(this.#store, id, runs);
    return count;
  }

  /** Closes the store, if the saver opened it. */
  async close(): Promise<void> {
    await this.#exclusive?.close();
    if (this.#owned) await this.#store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #handle(address: Pick<Address, "thread" | "namespace">): Thread<State> {
    return this.#store.thread(address.thread, { namespace: levelsOf(address.namespace) });
  }

  /** Commits something: for a run under its lease, if runs have one; else when no run is under way. */
  #running<T>(thread: string, config: RunnableConfig, action: (lease?: LeaseToken) => Promise<T>): Promise<T> {
    if (this.#exclusive === undefined) return action();
    return isRun(config) ? this.#exclusive.with(thread, action) : this.#exclusive.beside(thread, action);
  }

  async #tuple(handle: Thread<State>, id: string | undefined): Promise<CheckpointTuple | undefined> {
    const stored = await handle.tuple(id ?? { by: "id" });
    if (stored === undefined) return undefined;
    const { checkpoint: info } = stored;
    const kept = (info.state[reserved] as Bookkeeping | undefined)?.sends;
    const tuple = shownTuple(stored);
    if (tuple.checkpoint.v < firstVersionWithSends) {
      const sends = kept ?? (await sendsOf(handle, info));
      if (sends !== undefined) this.#addSends(tuple.checkpoint, sends);
    }
    return tuple;
  }

  /** Until version 4, what was sent to nodes was with the parent's writes. */
  #addSends(checkpoint: Checkpoint, sends: readonly unknown[]): void {
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = sends.map(fromStored);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }
}

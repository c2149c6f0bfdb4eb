import { attributesOf } from "../engine/changes/attributes.ts";
import { leaseInfo } from "../engine/changes/lease.ts";
import type { Engine } from "../engine/engine.ts";
import { gather } from "../engine/reads/gather.ts";
import { historyOf } from "../engine/reads/history.ts";
import { Reading } from "../engine/reads/thread-reads.ts";
import { checkId, checkNamespace } from "../model/address.ts";
import type { Attributes } from "../model/attributes.ts";
import type { Checkpoint, CheckpointInfo, CheckpointTuple, ThreadInfo, Write } from "../model/checkpoint.ts";
import type { CheckpointElsewhere, CheckpointRef, HistoryOptions, LatestOptions } from "../model/interface/options.ts";
import type { Change, CheckpointSize, LeaseInfo, ThreadSize } from "../model/interface/results.ts";
import { checkHistoryOptions, checkLatestOptions, checkNamed, checkTupleOf } from "../model/validation/reads.ts";
import { checkRef, checkSide, copyRef } from "../model/validation/refs.ts";
import { disposable } from "../platform/disposable.ts";
import { Handle } from "./handle.ts";
import { otherCopy } from "./other-copy.ts";

/** @internal Returns the inside of a handle, for the modules of this folder. */
export let handleOf: <State>(thread: ReadableThread<State>) => Handle;

/** A handle on a thread, or on one namespace of it, as far as it reads. {@link Thread} adds the changes. */
export class ReadableThread<State = unknown> {
  /** The id of the thread. */
  readonly id: string;
  /** The namespace of the handle; `[]` is the root. */
  readonly namespace: readonly string[];
  readonly #handle: Handle;
  readonly #reading: Reading<State>;

  static {
    handleOf = (thread) => {
      if (!(#handle in thread)) throw otherCopy("thread");
      return thread.#handle;
    };
  }

  /** @internal */
  constructor(engine: Engine, id: string, namespace: readonly string[]) {
    this.id = checkId(id, "A thread id");
    this.namespace = Object.freeze(checkNamespace(namespace));
    this.#handle = new Handle(engine, this.id, this.namespace);
    this.#reading = new Reading<State>(engine.context, this.#handle.place, this.#handle.key);
  }

  /**
   * Reads the checkpoint that was committed last, or (`by: "step"`) the one with the greatest step. Undefined if there is none.
   *
   * @example
   * const head = await thread.latest();
   * console.log(head?.state);
   */
  latest(options: LatestOptions = {}): Promise<Checkpoint<State> | undefined> {
    return this.#handle.attempt(() => {
      checkLatestOptions(options);
      const { by = "commit" } = options;
      return () => this.#reading.latest(by);
    });
  }

  /**
   * Reads the thread as `store.threads` yields it: status, head, workflow, attributes, times. Undefined if it has no checkpoint.
   *
   * @example
   * const info = await thread.info();
   * console.log(info?.status, info?.head.step);
   */
  info(): Promise<ThreadInfo | undefined> {
    return this.#handle.attempt(() => {
      this.#handle.rootOnly("info");
      return async () => (await import("../engine/reads/thread-info.ts")).infoOfThread(this.#handle.context, this.id);
    });
  }

  /**
   * Reads the values that the thread is found by; none for a thread that does not exist.
   *
   * @example
   * const { tenant } = await thread.attributes();
   * console.log(tenant);
   */
  attributes(): Promise<Attributes> {
    return this.#handle.attempt(() => () => attributesOf(this.#handle.context, this.id));
  }

  /**
   * Reads a checkpoint, whole. Undefined if the thread does not show it.
   *
   * @example
   * const checkpoint = await thread.get(id);
   * const named = await thread.get({ label: "before-refactor" });
   */
  get(at: CheckpointRef): Promise<Checkpoint<State> | undefined> {
    return this.#handle.attempt(() => {
      checkRef(at, "A checkpoint id");
      const ref = copyRef(at);
      return () => this.#reading.get(ref);
    });
  }

  /**
   * Reads a checkpoint with its parent's address and its writes: the one named, the head, or (`by: "id"`) the one of those
   * this thread committed whose id is the greatest.
   *
   * @example
   * const tuple = await thread.tuple({ step: 3 });
   * console.log(tuple?.parent, tuple?.writes.length);
   */
  tuple(at?: CheckpointRef | { readonly by: "commit" | "id" }): Promise<CheckpointTuple<State> | undefined> {
    return this.#handle.attempt(() => {
      checkTupleOf(at);
      const wanted = typeof at === "object" ? { ...at } : at;
      return () => this.#reading.tuple(wanted);
    });
  }

  /**
   * Yields checkpoints, newest first: their metadata, or with `states: true` the whole of them. Reads about as far as it is
   * asked to.
   *
   * @example
   * for await (const { id, step, node } of thread.history({ limit: 10 })) console.log(id, step, node);
   * for await (const { state } of thread.history({ before: { step: 3 }, states: true })) console.log(state);
   */
  history(options: HistoryOptions & { readonly states: true }): AsyncGenerator<Checkpoint<State>>;
  history(options?: HistoryOptions & { readonly states?: false }): AsyncGenerator<CheckpointInfo>;
  history(options?: HistoryOptions): AsyncGenerator<CheckpointInfo | Checkpoint<State>>;
  history(options: HistoryOptions = {}): AsyncGenerator<CheckpointInfo | Checkpoint<State>> {
    checkHistoryOptions(options);
    const { context, place, key } = this.#handle;
    const { before } = options;
    const captured = { ...options, ...(typeof before === "object" && { before: { ...before } }) };
    return disposable(historyOf(context, place, key, captured)) as AsyncGenerator<CheckpointInfo | Checkpoint<State>>;
  }

  /**
   * Reads the writes saved against a checkpoint, by task and index. Writes may be there before their checkpoint.
   *
   * @example
   * const writes = await thread.writes(checkpoint.id);
   * const results = writes.filter(({ index }) => index >= 0);
   */
  writes(at: CheckpointRef): Promise<readonly Write[]> {
    return this.#handle.attempt(() => {
      checkRef(at, "A checkpoint id");
      const ref = copyRef(at);
      return () => this.#reading.writes(ref);
    });
  }

  /**
   * Reads the writes of several checkpoints by their ids, in one read however many there are. Takes what `history` yields, or
   * anything else that has ids and seqs.
   *
   * @example
   * const writes = await thread.writesOf([parent, child]);
   * console.log(writes.get(child.id));
   */
  writesOf(checkpoints: readonly Pick<CheckpointInfo, "id" | "seq">[]): Promise<ReadonlyMap<string, readonly Write[]>> {
    return this.#handle.attempt(() => {
      checkNamed(checkpoints);
      const named = checkpoints.map(({ id, seq }) => ({ id, seq }));
      const { context, place, key } = this.#handle;
      return async () => (await gather(context, place, key, named, [])).writes;
    });
  }

  /**
   * Compares the states of two checkpoints, by path. Either may be one of another thread.
   *
   * @example
   * for (const { path, kind } of await thread.diff({ step: 1 }, { step: 2 })) console.log(kind, path.join("."));
   * await thread.diff(head.id, { thread: fork.id, at: { label: "edited" } });
   */
  diff(
    before: CheckpointRef | CheckpointElsewhere,
    after: CheckpointRef | CheckpointElsewhere,
  ): Promise<readonly Change[]> {
    return this.#handle.attempt(() => {
      checkSide(before, "A checkpoint id");
      checkSide(after, "A checkpoint id");
      const [left, right] = [structuredClone(before), structuredClone(after)];
      return () => this.#reading.diff(left, right);
    });
  }

  /**
   * Measures the bytes that the thread takes on the medium, without those it shares with the threads it was forked from.
   * Reads all of it. `NOT_FOUND` if there is no such thread.
   *
   * @example
   * const { bytes, growth } = await thread.size();
   * console.log(bytes.total, growth.at(-1));
   */
  size(): Promise<ThreadSize> {
    return this.#handle.attempt(() => {
      this.#handle.rootOnly("size");
      return () => this.#reading.size();
    });
  }

  /**
   * Measures the bytes of a checkpoint's frame, as a delta against its parent's. `NOT_FOUND` if there is no such checkpoint.
   *
   * @example
   * const { bytes, full } = await thread.sizeOf({ step: 3 });
   * console.log(full ? "whole" : "delta", bytes);
   */
  sizeOf(at: CheckpointRef): Promise<CheckpointSize> {
    return this.#handle.attempt(() => {
      checkRef(at, "A checkpoint id");
      const ref = copyRef(at);
      return () => this.#reading.sizeOf(ref);
    });
  }

  /**
   * Counts the checkpoints of the namespace.
   *
   * @example
   * const before = await thread.count();
   * console.log(`${before} checkpoints`);
   */
  count(): Promise<number> {
    return this.#handle.attempt(() => () => this.#reading.count());
  }

  /**
   * Lists the namespaces that have checkpoints, the root as `[]`.
   *
   * @example
   * for (const namespace of await thread.namespaces())
   *   console.log(await store.thread(thread.id, { namespace }).count());
   */
  namespaces(): Promise<readonly (readonly string[])[]> {
    return this.#handle.attempt(() => () => this.#reading.namespaces());
  }

  /**
   * Reads who holds the lease, for how long, and which leases were broken.
   *
   * @example
   * const { held } = await thread.lease();
   * if (held) console.log(held.holder, held.remaining);
   */
  lease(): Promise<LeaseInfo> {
    return this.#handle.attempt(() => {
      this.#handle.rootOnly("lease");
      return () => leaseInfo(this.#handle.context, this.id);
    });
  }
}

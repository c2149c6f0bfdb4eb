import { dueChange } from "../engine/changes/attributes.ts";
import { captureLease, capturePut } from "../engine/changes/put/capture.ts";
import { PutChange } from "../engine/changes/put/plan.ts";
import { writesChange } from "../engine/changes/writes.ts";
import { captureWrites } from "../engine/changes/writes-capture.ts";
import { lazyChange } from "../engine/commits/lazy-change.ts";
import { closedError } from "../engine/faults/closed.ts";
import { refusedBy } from "../engine/faults/missing.ts";
import { type Gathered, gather, type Named, type RecentRows, recentRows } from "../engine/reads/gather.ts";
import { checkId } from "../model/address.ts";
import type { CheckpointInfo } from "../model/checkpoint.ts";
import type {
  LeaseToken,
  PruneOptions,
  PutInput,
  PutOptions,
  WritesInput,
  WritesOptions,
} from "../model/interface/options.ts";
import type { PruneResult, WritesResult } from "../model/interface/results.ts";
import type { StateSchema } from "../model/state-versions.ts";
import { checkPruneOptions } from "../model/validation/prune.ts";
import { checkPutInput, checkPutOptions } from "../model/validation/put.ts";
import { checkNamed } from "../model/validation/reads.ts";
import { checkWritesInput, checkWritesOptions } from "../model/validation/writes.ts";
import { handleOf, type ReadableThread } from "./readable-thread.ts";
import { engineOf, type Store } from "./store.ts";
import type { Thread } from "./thread.ts";

/*
 * For adapters of other checkpoint interfaces, as LangGraph's: reads that take several things at once, and writes that are
 * refused in the call itself.
 */

export type { Gathered, RecentRows };

/**
 * Reads the writes of some checkpoints and the whole of others, in one read.
 *
 * @example
 * const { writes, checkpoints } = await readTogether(thread, ancestors, [seed]);
 */
export function readTogether<State>(
  thread: ReadableThread<State>,
  written: readonly Named[],
  whole: readonly Named[],
): Promise<Gathered<State>> {
  const handle = handleOf(thread);
  return handle.attempt(() => {
    checkNamed(written);
    checkNamed(whole);
    const named = ({ id, seq }: Named): Named => ({ id, seq });
    const [some, others] = [written.map(named), whole.map(named)];
    return () => gather(handle.context, handle.place, handle.key, some, others) as Promise<Gathered<State>>;
  });
}

/**
 * Returns the history as it is remembered, without reading anything; undefined where nothing is remembered.
 *
 * @example
 * const recent = recentHistory(thread);
 * for (const row of recent?.rows ?? []) console.log(row.id);
 */
export function recentHistory<State>(thread: ReadableThread<State>): RecentRows | undefined {
  const { context, place, key } = handleOf(thread);
  return context.calls.closed ? undefined : recentRows(context, place, key);
}

/** Options of {@link startWrites}. */
export interface StartWritesOptions extends WritesOptions {
  /** Control writes that are there stay, as data does. @default false */
  readonly keep?: boolean;
}

/**
 * Saves writes like `putWrites`, but throws in the call itself if something is wrong with the arguments.
 *
 * @example
 * await startWrites(thread, checkpoint.id, { task, writes }, { keep: true });
 */
export function startWrites<State>(
  thread: Thread<State>,
  id: string,
  input: WritesInput,
  options: StartWritesOptions = {},
): Promise<WritesResult> {
  const { context, key, lane } = handleOf(thread);
  if (context.calls.closed) throw closedError();
  try {
    checkId(id, "A checkpoint id");
    checkWritesInput(input);
    checkWritesOptions(options, ["keep"]);
    const { lease, keep = false } = options;
    const change = writesChange({ ...captureWrites(context, key, id, input, lease), keep });
    return context.calls.track(() => lane.add(change));
  } catch (error) {
    throw refusedBy(thread.id, error);
  }
}

/**
 * Sets when a worker is to take a thread, without a checkpoint; null: not at all.
 *
 * @example
 * await setDue(thread, null, lease);
 */
export function setDue<State>(thread: Thread<State>, due: number | null, lease: LeaseToken | undefined): Promise<void> {
  const handle = handleOf(thread);
  return handle.attempt(() => {
    const token = captureLease(lease);
    return () => handle.lane.add(dueChange(due, token));
  });
}

/**
 * Returns the time by the clock of a thread's store, in milliseconds since 1970.
 *
 * @example
 * const age = storeTime(thread) - checkpoint.createdAt;
 */
export function storeTime<State>(thread: ReadableThread<State>): number {
  return handleOf(thread).context.clock();
}

/**
 * Makes the version of a graph that of its workflow, in a store that was opened with a schema; in others, nothing.
 *
 * @example
 * adoptSchema(thread, "support", { version: 2, migrate: { 1: (state) => state } });
 */
export function adoptSchema<State>(thread: ReadableThread<State>, workflow: string, schema: StateSchema): void {
  handleOf(thread).context.versions?.adopt(workflow, schema);
}

/**
 * Tells whether a thread's store was opened with a schema: then the `stateVersion` of a put is the schema's.
 *
 * @example
 * const fields = hasSchema(thread) ? {} : { stateVersion: 4 };
 */
export function hasSchema<State>(thread: ReadableThread<State>): boolean {
  return handleOf(thread).context.versions !== undefined;
}

/**
 * Puts a checkpoint that is read from others in a way that the store does not know, and marks its thread: from then on only
 * the handler of this name prunes it. See {@link handlePrunes}.
 *
 * @example
 * await putMarked(thread, { state }, { parent }, "langgraph");
 */
export function putMarked<State>(
  thread: Thread<State>,
  input: PutInput<State>,
  options: PutOptions,
  pruner: string,
): Promise<CheckpointInfo> {
  const { context, key, lane, place } = handleOf(thread);
  if (context.calls.closed) return Promise.reject(closedError());
  try {
    checkPutInput(input);
    checkPutOptions(options);
    const captured = capturePut(context, thread.id, key, input as PutInput<Record<string, unknown>>, options);
    return lane.add(new PutChange(captured, place, pruner));
  } catch (error) {
    return Promise.reject(refusedBy(thread.id, error));
  }
}

/**
 * Registers the function that prunes the threads marked with this name, for `prune` and `sweep`. It deletes the checkpoints
 * with {@link pruneMarked} or `deleteCheckpoints`.
 *
 * @example
 * handlePrunes(store, "langgraph", (thread, options) => prune(store, thread, options));
 */
export function handlePrunes<State>(
  store: Store<State>,
  pruner: string,
  handler: (thread: string, options: PruneOptions) => Promise<PruneResult>,
): void {
  engineOf(store).pruners.set(pruner, handler);
}

/**
 * Deletes old checkpoints like `prune`, also of a marked thread: for its handler.
 *
 * @example
 * const { deleted } = await pruneMarked(thread, { keepLast: 10 });
 */
export function pruneMarked<State>(thread: Thread<State>, options: PruneOptions): Promise<PruneResult> {
  const handle = handleOf(thread);
  return handle.attempt(() => {
    checkPruneOptions(options);
    const { signal: _, ...rules } = options;
    const change = lazyChange(async () => (await import("../engine/removal/prune.ts")).pruneChange(rules, true), true);
    return () => handle.lane.add(change);
  });
}

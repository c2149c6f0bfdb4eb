import assert from "node:assert/strict";
import type { Lease } from "../../src/api/lease.ts";
import type { Store } from "../../src/api/store.ts";
import { ThreadmarkError } from "../../src/errors.ts";
import type { Checkpoint } from "../../src/model/checkpoint.ts";
import type { NaiveLease } from "./naive/lease.ts";
import { countOf, type Line, type NaiveThread, type Namespace, newThread } from "./naive/thread.ts";
import type { Free } from "./states.ts";

/** The contents that the store should have, kept whole, and the time, which both sides read. */
export interface Model {
  readonly threads: Map<string, NaiveThread>;
  /** Threads that show nothing, as far as anything was ever done to them. */
  readonly empty: Map<string, NaiveThread>;
  /** By thread, the lease that was taken last, live or not. */
  readonly leases: Map<string, NaiveLease>;
  now: number;
  /** How many threads were named so far. */
  made: number;
}

/** The store under test. */
export interface System {
  store: Store<Free>;
  /** Closes the store and opens it again: nothing is known from before. */
  reopen(): Promise<void>;
  /** Goes on with another store at the same place, as another process would: what this one knows may be old. */
  swap(): void;
  /** Leases of stores that are open, by thread, the last one last. */
  readonly leases: Map<string, readonly Lease[]>;
}

const namespaces: readonly Namespace[] = [[], [], [], ["a"], ["a", "b"], ["b"]];
const pool = ["t0", "t1", "t2"];

/** Returns one of the threads of the pool or of the model; it may not exist yet. */
export function pickThread(model: Model, choice: number): NaiveThread {
  const ids = [...new Set([...pool, ...model.threads.keys()])];
  const id = ids[choice % ids.length] ?? "t0";
  return model.threads.get(id) ?? model.empty.get(id) ?? newThread(id);
}

/** A name that was or will be a thread's, and is free. */
export function pickFreeName(model: Model, choice: number): string | undefined {
  const free = pool.filter((id) => !model.threads.has(id));
  return free[choice % Math.max(1, free.length)];
}

export function pickNamespace(choice: number): Namespace {
  return namespaces[choice % namespaces.length] ?? [];
}

export function pickCheckpoint(line: Line, choice: number): Checkpoint | undefined {
  return line.checkpoints[choice % Math.max(1, line.checkpoints.length)];
}

/** A thread is in the model exactly while it has a checkpoint. */
export function settle(model: Model, thread: NaiveThread): void {
  // A thread without checkpoints is no thread: the next one of its name begins without these.
  if (countOf(thread) === 0) [thread.attributes, thread.due] = [{}, null];
  const [into, from] = countOf(thread) > 0 ? [model.threads, model.empty] : [model.empty, model.threads];
  into.set(thread.id, thread);
  from.delete(thread.id);
}

/** How a call ended: with a value, or with a code (`TypeError` for misuse). Anything else is a fault. */
export type Outcome<T> = { readonly value: T } | { readonly failed: string };

export async function outcomeOf<T>(call: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await call() };
  } catch (error) {
    if (error instanceof TypeError) return { failed: "TypeError" };
    if (error instanceof ThreadmarkError) return { failed: error.code };
    throw error;
  }
}

/** Fails unless the model's call fails as the store's did. */
export async function failsAlike(failed: string, call: () => unknown): Promise<void> {
  assert.deepEqual(await outcomeOf(call).then((one) => ("failed" in one ? one.failed : "success")), failed);
}

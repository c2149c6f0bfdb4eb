import type { Checkpoint, CheckpointInfo, Store } from "../../../src/index.ts";
import { collect } from "../../support/collect.ts";

/** A thread's checkpoints, oldest first. */
export async function line(
  store: Store<unknown>,
  thread: string,
  namespace: readonly string[] = [],
): Promise<CheckpointInfo[]> {
  return (await collect(store.thread(thread, { namespace }).history())).reverse();
}

/** A thread's head, which must be there. */
export async function head<State>(store: Store<unknown>, thread: string): Promise<Checkpoint<State>> {
  const checkpoint = await store.thread(thread).latest();
  if (checkpoint === undefined) throw new Error(`thread ${thread} has no checkpoint`);
  return checkpoint as Checkpoint<State>;
}

/** A promise to be kept from outside. */
export function deferred<T = void>(): { promise: Promise<T>; resolve(value: T): void; reject(error: unknown): void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

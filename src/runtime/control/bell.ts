/*
 * Tells those who wait in this process that a thread has news: a message, or a run to take. Other processes learn it from the
 * store; this only makes it sooner.
 */

type Listener = (thread: string) => void;

const listeners = new WeakMap<object, Set<Listener>>();

/** Calls a function for every thread of a store that has news. Returns a function that ends it. */
export function listen(store: object, listener: Listener): () => void {
  const all = listeners.get(store) ?? new Set();
  listeners.set(store, all);
  all.add(listener);
  return () => void all.delete(listener);
}

/** Tells that a thread has news. */
export function ring(store: object, thread: string): void {
  for (const listener of [...(listeners.get(store) ?? [])]) listener(thread);
}

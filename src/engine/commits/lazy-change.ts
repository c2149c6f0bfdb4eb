import type { ThreadChange } from "./thread-change.ts";

/**
 * Returns a change whose code is loaded when it is planned: a process that never asks for it never parses it. Its position
 * in the thread's lane is that of the call.
 */
export function lazyChange<T>(load: () => Promise<ThreadChange<T>>, fresh = false): ThreadChange<T> {
  return { fresh, plan: async (draft) => (await load()).plan(draft) };
}

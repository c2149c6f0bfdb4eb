import type { Change } from "./lane.ts";

/**
 * A change whose code is loaded when it is planned: whoever never asks for it never parses it. Its place among the changes
 * of its thread is that of the call.
 */
export function deferred<T>(load: () => Promise<Change<T>>, fresh = false): Change<T> {
  return { fresh, plan: async (draft) => (await load()).plan(draft) };
}

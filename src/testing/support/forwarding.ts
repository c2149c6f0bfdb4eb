import type { Backend } from "../../backend.ts";

/** Members of a backend to replace. `undefined` takes an optional member away. */
export type Overrides = { readonly [Member in keyof Backend]?: Backend[Member] | undefined };

/**
 * Returns a backend that passes every call on to `backend`, except for the members in `overrides`. Tests count, delay,
 * refuse or damage calls with it. (A spread would not do: a backend that is a class keeps its methods on its prototype.)
 *
 * @example
 * let reads = 0;
 * const counted = forwarding(backend, { read: (list) => ((reads += 1), backend.read(list)) });
 */
export function forwarding(backend: Backend, overrides: Overrides = {}): Backend {
  const passed: Backend = {
    name: backend.name,
    capabilities: backend.capabilities,
    read: (reads) => backend.read(reads),
    commit: (batches) => backend.commit(batches),
    size: () => backend.size(),
    compact: () => backend.compact(),
    verify: () => backend.verify(),
    close: () => backend.close(),
    ...(backend.total && { total: () => backend.total?.() ?? backend.size() }),
    ...(backend.reclaim && {
      reclaim: (lineages: readonly number[]) => backend.reclaim?.(lineages) ?? Promise.resolve(false),
    }),
    ...(backend.numberFor && {
      numberFor: (id: string, number: number) => backend.numberFor?.(id, number) ?? number,
    }),
    ...(backend.hear && { hear: (callback: () => void) => backend.hear?.(callback) ?? (() => {}) }),
  };
  // A getter, because the count changes while the backend is open.
  Object.defineProperty(passed, "interruptions", {
    get: () => backend.interruptions,
    enumerable: true,
    configurable: true,
  });
  // Descriptors, so that an override may be a getter too.
  return Object.defineProperties(passed, Object.getOwnPropertyDescriptors(overrides));
}

import type { Backend } from "../../src/backend.ts";

/** A view of a backend before each of whose reads, which are numbered, others may do something. It closes nothing. */
export function meanwhile(inner: Backend, act: (read: number) => Promise<unknown>): Backend {
  let reads = 0;
  return {
    name: inner.name,
    capabilities: inner.capabilities,
    async read(asked) {
      await act(reads++);
      return inner.read(asked);
    },
    commit: (batches) => inner.commit(batches),
    size: () => inner.size(),
    compact: () => inner.compact(),
    verify: () => inner.verify(),
    close: async () => {},
  };
}

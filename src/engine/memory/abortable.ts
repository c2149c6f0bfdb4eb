import type { Backend } from "../../backend.ts";

/** Returns the backend with reads that fail with the signal's reason once it is aborted. */
export function abortable(backend: Backend, signal: AbortSignal | undefined): Backend {
  if (!signal) return backend;
  return {
    name: backend.name,
    capabilities: backend.capabilities,
    get interruptions() {
      return backend.interruptions as number;
    },
    read: async (reads) => {
      signal.throwIfAborted();
      return backend.read(reads);
    },
    commit: (batches) => backend.commit(batches),
    size: () => backend.size(),
    compact: () => backend.compact(),
    verify: () => backend.verify(),
    close: () => backend.close(),
  };
}

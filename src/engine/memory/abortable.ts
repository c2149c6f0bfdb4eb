import type { Backend } from "../../backend.ts";
import { nextTurn } from "../../platform/turns.ts";

/** Reads between two turns of the event loop: without turns, a timer could not abort work on a backend that never waits. */
const READS_PER_TURN = 16;

/** Returns the backend with reads that fail with the signal's reason once it is aborted. */
export function abortable(backend: Backend, signal: AbortSignal | undefined): Backend {
  if (!signal) return backend;
  let count = 0;
  return {
    name: backend.name,
    capabilities: backend.capabilities,
    get interruptions() {
      return backend.interruptions as number;
    },
    read: async (reads) => {
      count += 1;
      if (count % READS_PER_TURN === 0) await nextTurn();
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

import type { Store } from "../../api/store.ts";
import type { ImportFault } from "./fault.ts";
import type { Source } from "./source.ts";
import { ThreadImport } from "./thread-import.ts";

export interface ImportResult {
  /** How many threads were read. */
  readonly threads: number;
  /** How many checkpoints and writes were imported. */
  readonly checkpoints: number;
  readonly writes: number;
  /** How many checkpoints were there already. */
  readonly unchanged: number;
  readonly faults: readonly ImportFault[];
}

export interface ImportOptions {
  readonly signal?: AbortSignal;
  /** Told how many of all checkpoints have been looked at. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Takes over every thread of a source: checkpoints, parents, metadata, writes, in all namespaces. What is in the store already
 * is left as it is, so that an import that was stopped goes on when it is run again.
 */
export async function transfer(
  source: Source,
  store: Store<Record<string, unknown>>,
  { signal, onProgress }: ImportOptions = {},
): Promise<ImportResult> {
  const total = await source.count();
  const result = { threads: 0, checkpoints: 0, writes: 0, unchanged: 0, faults: [] as ImportFault[] };
  let done = 0;
  onProgress?.(done, total);
  for (const thread of await source.threads()) {
    const work = new ThreadImport(source, store, thread);
    for await (const step of work.steps()) {
      result.checkpoints += step.checkpoints;
      result.writes += step.writes;
      result.unchanged += step.unchanged;
      result.faults.push(...step.faults);
      done += step.checkpoints + step.unchanged + step.faults.length;
      onProgress?.(Math.min(done, total), total);
      signal?.throwIfAborted();
    }
    result.threads += 1;
  }
  return result;
}

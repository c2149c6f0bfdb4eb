import type { Store } from "../../api/store.ts";
import type { ImportFault } from "./fault.ts";
import type { SaverDatabase } from "./saver-database.ts";
import { ThreadImport } from "./thread-import.ts";

export interface ImportResult {
  /** The number of threads that were read. */
  readonly threads: number;
  /** The numbers of checkpoints and writes that were imported. */
  readonly checkpoints: number;
  readonly writes: number;
  /** The number of checkpoints that the store already had. */
  readonly unchanged: number;
  readonly faults: readonly ImportFault[];
}

export interface ImportOptions {
  readonly signal?: AbortSignal;
  /** Called with the number of checkpoints dealt with, and the number of all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Imports every thread of a saver's database: checkpoints, parents, metadata and writes, in all namespaces. Checkpoints that
 * the store already has are left alone, so that an interrupted import goes on when it is run again.
 */
export async function transfer(
  database: SaverDatabase,
  store: Store<Record<string, unknown>>,
  { signal, onProgress }: ImportOptions = {},
): Promise<ImportResult> {
  const total = await database.count();
  const result = { threads: 0, checkpoints: 0, writes: 0, unchanged: 0, faults: [] as ImportFault[] };
  let done = 0;
  onProgress?.(done, total);
  for (const thread of await database.threads()) {
    const work = new ThreadImport(database, store, thread);
    for await (const part of work.run()) {
      result.checkpoints += part.checkpoints;
      result.writes += part.writes;
      result.unchanged += part.unchanged;
      result.faults.push(...part.faults);
      done += part.checkpoints + part.unchanged + part.faults.length;
      onProgress?.(Math.min(done, total), total);
      signal?.throwIfAborted();
    }
    result.threads += 1;
  }
  return result;
}

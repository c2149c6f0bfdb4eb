import type { Backend, Batch, DirectoryKey, Key, Range } from "../../backend.ts";
import { forwarding } from "./forwarding.ts";

/**
 * Returns a backend that passes every call on, and refuses a batch that no sharded backend could apply at one place: with
 * records, entries or lines of two lineages, or with two directory entries. Stores are tested on it.
 *
 * @example
 * const store = await open(oneLineage(sharedMemory()));
 */
export function oneLineage(backend: Backend): Backend {
  return forwarding(backend, {
    commit: async (batches) => {
      for (const batch of batches) checkScope(batch);
      return backend.commit(batches);
    },
  });
}

/** Throws a TypeError for a batch that touches more than one lineage, or more than one directory entry. */
function checkScope({ checks = [], deletes = [], inserts = [], puts = [], entries, log, follows }: Batch): void {
  const keys: (Key | DirectoryKey | Range)[] = [...checks, ...inserts, ...puts].map(({ key }) => key);
  keys.push(...deletes);
  if (follows !== undefined) keys.push(follows.key);
  const lineages = new Set<number>();
  const ids = new Set<string>();
  for (const key of keys) {
    if (key.table === "directory") ids.add(key.id);
    else lineages.add(key.lineage);
  }
  for (const { lineage } of [...(entries?.remove ?? []), ...(entries?.add ?? [])]) lineages.add(lineage);
  if (log !== undefined) lineages.add(log.lineage);
  if (lineages.size > 1) throw new TypeError(`a batch touches the lineages ${[...lineages].join(", ")}, not only one`);
  if (ids.size > 1) throw new TypeError(`a batch touches the directory entries ${[...ids].join(", ")}, not only one`);
}

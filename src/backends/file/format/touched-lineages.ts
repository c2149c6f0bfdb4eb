import type { Batch, DirectoryKey, Key, Range, Read } from "../../../backend.ts";
import { directoryLineage } from "./operation.ts";

/** The lineage whose journal holds a key, or the directory. */
export function lineageOfKey(key: Key | DirectoryKey | Range): number {
  return key.table === "directory" ? directoryLineage : key.lineage;
}

/** The journals that reads need. */
export function lineagesOfReads(reads: readonly Read[]): Set<number> {
  return new Set(
    reads.map((read) =>
      "get" in read ? lineageOfKey(read.get) : "scan" in read ? read.scan.lineage : directoryLineage,
    ),
  );
}

/** The journals that batches look at or change. */
export function lineagesOfBatches(batches: readonly Batch[]): Set<number> {
  const lineages = new Set<number>();
  for (const { checks = [], deletes = [], inserts = [], puts = [] } of batches) {
    for (const { key } of [...checks, ...inserts, ...puts]) lineages.add(lineageOfKey(key));
    for (const target of deletes) lineages.add(lineageOfKey(target));
  }
  return lineages;
}

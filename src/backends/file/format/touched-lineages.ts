import type { Batch, DirectoryKey, Key, Range, Read } from "../../../backend.ts";
import { directoryLineage } from "./operation.ts";

/** Returns the lineage whose journal holds a key; that of the directory for a directory key. */
export function lineageOfKey(key: Key | DirectoryKey | Range): number {
  return key.table === "directory" ? directoryLineage : key.lineage;
}

/** Returns the lineages whose journals the reads need. */
export function lineagesOfReads(reads: readonly Read[]): Set<number> {
  return new Set(
    reads.map((read) =>
      "get" in read ? lineageOfKey(read.get) : "scan" in read ? read.scan.lineage : directoryLineage,
    ),
  );
}

/** Returns the lineages whose journals the batches read or change. */
export function lineagesOfBatches(batches: readonly Batch[]): Set<number> {
  const lineages = new Set<number>();
  for (const { checks = [], deletes = [], inserts = [], puts = [], entries, log } of batches) {
    for (const { key } of [...checks, ...inserts, ...puts]) lineages.add(lineageOfKey(key));
    for (const target of deletes) lineages.add(lineageOfKey(target));
    // Index entries and the log span all lineages: they are in the directory's journal.
    if (entries?.remove?.length || entries?.add?.length || log?.lines.length) lineages.add(directoryLineage);
  }
  return lineages;
}

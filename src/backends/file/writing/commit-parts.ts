import type { Batch } from "../../../backend.ts";
import { lineagesOfBatches } from "../format/touched-lineages.ts";

/** The most journals of a part: all are open at the same time, and a process may open only so many files. */
const mostJournals = 128;

/** A part of a commit, and the lineages whose journals it reads or changes. */
export interface CommitPart {
  readonly batches: readonly Batch[];
  readonly lineages: ReadonlySet<number>;
}

/**
 * Splits a commit's batches, in order, into parts with few journals each. Only a single batch with more journals
 * exceeds the limit.
 */
export function commitPartsOf(batches: readonly Batch[]): CommitPart[] {
  const parts: { readonly batches: Batch[]; readonly lineages: Set<number> }[] = [];
  for (const batch of batches) {
    const lineages = lineagesOfBatches([batch]);
    const last = parts.at(-1);
    const added = [...lineages].filter((lineage) => !last?.lineages.has(lineage));
    if (last === undefined || last.lineages.size + added.length > mostJournals) {
      parts.push({ batches: [batch], lineages });
      continue;
    }
    last.batches.push(batch);
    for (const lineage of added) last.lineages.add(lineage);
  }
  return parts;
}

import type { Batch } from "../../../backend.ts";
import { lineagesOfBatches } from "../format/touched-lineages.ts";

/** The journals of a slice are open at the same time, and a process may have few files open. */
const mostJournals = 128;

/** A part of a commit, and the journals it looks at or changes. */
export interface CommitPart {
  readonly batches: readonly Batch[];
  readonly lineages: ReadonlySet<number>;
}

/** The batches of a commit in their order, in parts with few journals each. Only a batch that has more by itself is larger. */
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

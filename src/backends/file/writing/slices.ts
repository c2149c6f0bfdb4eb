import type { Batch } from "../../../backend.ts";
import { placesOfBatches } from "../reading/answers.ts";

/** The journals of a slice are open at the same time, and a process may have few files open. */
const mostJournals = 128;

/** A part of a commit, and the journals it looks at or changes. */
export interface Slice {
  readonly batches: readonly Batch[];
  readonly places: ReadonlySet<number>;
}

/** The batches of a commit in their order, in parts with few journals each. Only a batch that has more by itself is larger. */
export function slicesOf(batches: readonly Batch[]): Slice[] {
  const slices: { readonly batches: Batch[]; readonly places: Set<number> }[] = [];
  for (const batch of batches) {
    const places = placesOfBatches([batch]);
    const last = slices.at(-1);
    const added = [...places].filter((place) => !last?.places.has(place));
    if (last === undefined || last.places.size + added.length > mostJournals) {
      slices.push({ batches: [batch], places });
      continue;
    }
    last.batches.push(batch);
    for (const place of added) last.places.add(place);
  }
  return slices;
}

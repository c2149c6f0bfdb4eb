import type { Batch, Key, Value } from "../../../backend.ts";
import { covers } from "../../shared/delete-covers.ts";
import { deleteOf, directoryLineage, putOf } from "../format/change.ts";
import type { Journal, Written } from "../journal/journal.ts";
import { placeOf } from "../reading/answers.ts";
import { fetchAll } from "../reading/fetch.ts";

/** What batches that were judged add to each journal. */
export interface Verdict {
  /** For each batch whether it is applied. */
  readonly applied: readonly boolean[];
  readonly changes: ReadonlyMap<number, readonly Written[]>;
  /** Lineages with a batch that changes another journal too: it counts once the directory says so. */
  readonly joint: ReadonlySet<number>;
}

/**
 * Decides which batches are applied. No two of them touch the same records, so each is judged by what is there now.
 * `isTaken` tells whether the item of a `meta` record is known to be the number of another lineage's tape.
 */
export async function judge(
  batches: readonly Batch[],
  journalOf: (place: number) => Journal,
  isTaken: (meta: Key) => Promise<boolean>,
): Promise<Verdict> {
  const applied: boolean[] = [];
  const changes = new Map<number, Written[]>();
  const joint = new Set<number>();
  for (const batch of batches) {
    const admitted = (await admits(batch, journalOf)) && !(await takesNumber(batch, isTaken));
    applied.push(admitted);
    if (!admitted) continue;
    const own = changesOf(batch, journalOf);
    for (const [place, written] of own) {
      changes.set(place, [...(changes.get(place) ?? []), ...written]);
      if (own.size > 1 && place !== directoryLineage) joint.add(place);
    }
  }
  return { applied, changes, joint };
}

async function admits(batch: Batch, journalOf: (place: number) => Journal): Promise<boolean> {
  const { checks = [], deletes = [], inserts = [] } = batch;
  for (const { key } of inserts) {
    const present = journalOf(placeOf(key)).index.get(key) !== undefined;
    if (present && !deletes.some((target) => covers(target, key))) return false;
  }
  for (const { key, value } of checks) {
    const journal = journalOf(placeOf(key));
    const slot = journal.index.get(key);
    if ((slot === undefined) !== (value === undefined)) return false;
    if (slot === undefined || value === undefined) continue;
    const present = slot.value ?? (await fetchAll([{ journal, slot }])).get(slot);
    if (!isSame(present as Value, value)) return false;
    if (key.table === "meta" && typeof present === "string") slot.value = present;
  }
  return true;
}

async function takesNumber({ inserts = [] }: Batch, isTaken: (meta: Key) => Promise<boolean>): Promise<boolean> {
  for (const { key } of inserts) if (key.table === "meta" && (await isTaken(key))) return true;
  return false;
}

function isSame(present: Value, expected: Value): boolean {
  if (typeof present === "string" || typeof expected === "string") return present === expected;
  return Buffer.compare(present, expected) === 0;
}

/** Deletes first, as the contract has it; checkpoints last, where whoever looks at the file expects them. */
function changesOf(
  { deletes = [], inserts = [], puts = [] }: Batch,
  journalOf: (place: number) => Journal,
): Map<number, Written[]> {
  const changes = new Map<number, Written[]>();
  const add = (place: number, written: Written): void => {
    const present = changes.get(place);
    if (present === undefined) changes.set(place, [written]);
    else present.push(written);
  };
  for (const target of deletes) {
    const change = deleteOf(target);
    // What is not there needs no line that says so.
    if (journalOf(placeOf(target)).index.mayHold(change)) add(placeOf(target), [change, undefined]);
  }
  const entries = [...inserts, ...puts];
  for (const { key, value } of entries) if (key.table !== "tail") add(placeOf(key), [putOf(key), value]);
  for (const { key, value } of entries) if (key.table === "tail") add(placeOf(key), [putOf(key), value]);
  return changes;
}

import type { Batch, Key } from "../../../backend.ts";
import { covers } from "../../shared/delete-covers.ts";
import { isSameValue } from "../../shared/same-value.ts";
import type { Operation } from "../format/operation.ts";
import { deleteOf, directoryLineage, putOf } from "../format/operation.ts";
import { lineageOfKey } from "../format/touched-lineages.ts";
import type { JournalEntry } from "../journal/encode-batch.ts";
import type { JournalFile } from "../journal/journal.ts";
import { fetchAll } from "../reading/fetch-values.ts";

/** The lines that admitted batches add to each journal. */
export interface Admission {
  /** For each batch whether it is applied. */
  readonly applied: readonly boolean[];
  readonly entries: ReadonlyMap<number, readonly JournalEntry[]>;
  /** Lineages with a batch that also changes another journal. It counts once the directory confirms it. */
  readonly joint: ReadonlySet<number>;
}

/**
 * Decides which batches are applied. No two batches touch the same records, so each is checked against the current
 * records. `isTaken` tells whether the item of a `meta` record is known as the number of another lineage's tape.
 */
export async function admitBatches(
  batches: readonly Batch[],
  journalOf: (lineage: number) => JournalFile,
  isTaken: (meta: Key) => Promise<boolean>,
): Promise<Admission> {
  const applied: boolean[] = [];
  const entries = new Map<number, JournalEntry[]>();
  const joint = new Set<number>();
  let lines = 0;
  for (const batch of batches) {
    const admitted = (await admits(batch, journalOf)) && !(await takesNumber(batch, isTaken));
    applied.push(admitted);
    if (!admitted) continue;
    const own = entriesOf(batch, journalOf, lines);
    lines += batch.log?.lines.length ?? 0;
    for (const [lineage, written] of own) {
      entries.set(lineage, [...(entries.get(lineage) ?? []), ...written]);
      if (own.size > 1 && lineage !== directoryLineage) joint.add(lineage);
    }
  }
  return { applied, entries, joint };
}

async function admits(batch: Batch, journalOf: (lineage: number) => JournalFile): Promise<boolean> {
  const { checks = [], deletes = [], inserts = [] } = batch;
  for (const { key } of inserts) {
    const present = journalOf(lineageOfKey(key)).index.get(key) !== undefined;
    if (present && !deletes.some((target) => covers(target, key))) return false;
  }
  for (const { key, value } of checks) {
    const journal = journalOf(lineageOfKey(key));
    const slot = journal.index.get(key);
    if ((slot === undefined) !== (value === undefined)) return false;
    if (slot === undefined || value === undefined) continue;
    const present = slot.value ?? (await fetchAll([{ journal, slot }])).get(slot);
    if (!isSameValue(present, value)) return false;
    if (key.table === "meta" && typeof present === "string") slot.value = present;
  }
  return true;
}

async function takesNumber({ inserts = [] }: Batch, isTaken: (meta: Key) => Promise<boolean>): Promise<boolean> {
  for (const { key } of inserts) if (key.table === "meta" && (await isTaken(key))) return true;
  return false;
}

/**
 * Returns a batch's lines for each journal: deletes first, by the contract; checkpoints last, where a reader of the
 * file expects them. `linesBefore`: the lines of the log that the batches before it add.
 */
function entriesOf(
  { deletes = [], inserts = [], puts = [], entries: index, log }: Batch,
  journalOf: (lineage: number) => JournalFile,
  linesBefore: number,
): Map<number, JournalEntry[]> {
  const entries = new Map<number, JournalEntry[]>();
  const add = (lineage: number, entry: JournalEntry): void => {
    const present = entries.get(lineage);
    if (present === undefined) entries.set(lineage, [entry]);
    else present.push(entry);
  };
  for (const target of deletes) {
    const operation = deleteOf(target);
    // Deleting an absent record needs no line.
    if (journalOf(lineageOfKey(target)).index.mayHold(operation)) add(lineageOfKey(target), [operation, undefined]);
  }
  const written = [...inserts, ...puts];
  for (const { key, value } of written) if (key.table !== "tail") add(lineageOfKey(key), [putOf(key), value]);
  for (const { key, value } of written) if (key.table === "tail") add(lineageOfKey(key), [putOf(key), value]);
  for (const entry of index?.remove ?? []) {
    const operation: Operation = { is: "unentry", ...entry };
    if (journalOf(directoryLineage).index.mayHold(operation)) add(directoryLineage, [operation, undefined]);
  }
  for (const entry of index?.add ?? []) add(directoryLineage, [{ is: "entry", ...entry }, undefined]);
  for (const [number, { at, text }] of (log?.lines ?? []).entries()) {
    const position = journalOf(directoryLineage).index.logEnd + linesBefore + number + 1;
    add(directoryLineage, [{ is: "log", position, at, text }, undefined]);
  }
  return entries;
}

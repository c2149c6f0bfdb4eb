import type { Answer, Batch, DirectoryKey, Found, Key, Listed, Range, Read, Value } from "../../backend.ts";
import { directoryLineage } from "./change.ts";
import type { Wanted } from "./fetch.ts";
import type { Journal } from "./journal.ts";
import type { NameSlot, RecordSlot, Slot } from "./record-index.ts";

/** The lineage whose journal holds a key, or the directory. */
export function placeOf(key: Key | DirectoryKey | Range): number {
  return key.table === "directory" ? directoryLineage : key.lineage;
}

/** The journals that reads need. */
export function placesOfReads(reads: readonly Read[]): Set<number> {
  return new Set(
    reads.map((read) => ("get" in read ? placeOf(read.get) : "scan" in read ? read.scan.lineage : directoryLineage)),
  );
}

/** The journals that batches look at or change. */
export function placesOfBatches(batches: readonly Batch[]): Set<number> {
  const places = new Set<number>();
  for (const { checks = [], deletes = [], inserts = [], puts = [] } of batches) {
    for (const { key } of [...checks, ...inserts, ...puts]) places.add(placeOf(key));
    for (const target of deletes) places.add(placeOf(target));
  }
  return places;
}

/** Where the answer to a read lies. Found without waiting, so that all of one call come from one moment. */
export interface Located {
  readonly wanted: readonly Wanted[];
  answer(values: ReadonlyMap<Slot, Value>): Answer;
}

export function locate(read: Read, journalOf: (place: number) => Journal): Located {
  if ("get" in read) {
    const journal = journalOf(placeOf(read.get));
    const slot = journal.index.get(read.get);
    if (slot === undefined) return { wanted: [], answer: () => undefined };
    const keeps = read.get.table === "meta";
    return {
      wanted: [{ journal, slot }],
      answer: (values) => {
        const value = values.get(slot) as Value;
        if (keeps && typeof value === "string") slot.value = value;
        return value;
      },
    };
  }
  if ("scan" in read) {
    const journal = journalOf(read.scan.lineage);
    const slots = journal.index.scan(read.scan, read.reverse ?? false, read.limit ?? Number.POSITIVE_INFINITY);
    return { wanted: slots.map((slot) => ({ journal, slot })), answer: (values) => slots.map(foundIn(values)) };
  }
  const journal = journalOf(directoryLineage);
  const { prefix = "", after, limit } = read.list;
  const slots = journal.index.list(prefix, after, limit);
  return { wanted: slots.map((slot) => ({ journal, slot })), answer: (values) => slots.map(listedIn(values)) };
}

function foundIn(values: ReadonlyMap<Slot, Value>): (slot: RecordSlot) => Found {
  return (slot) => ({ item: slot.item, part: slot.part, value: values.get(slot) as Value });
}

function listedIn(values: ReadonlyMap<Slot, Value>): (slot: NameSlot) => Listed {
  return (slot) => ({ id: slot.id, value: values.get(slot) as Value });
}

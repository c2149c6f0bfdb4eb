import type { Answer, DirectoryKey, Found, Key, Listed, Read, Value } from "../../../backend.ts";
import { directoryLineage } from "../format/operation.ts";
import { lineageOfKey } from "../format/touched-lineages.ts";
import type { JournalFile } from "../journal/journal.ts";
import type { Slot } from "../journal/record-index.ts";
import type { Wanted } from "./fetch-values.ts";
import { damageOf } from "./fetch-values.ts";

/** The location of a read's answer. Located without awaiting, so that all answers of one call are from one snapshot. */
export interface Located {
  readonly wanted: readonly Wanted[];
  /** Whether a damaged record leaves the rest of the answer valid. */
  readonly isTolerant: boolean;
  answer(values: ReadonlyMap<Slot, Value>): Answer;
}

/**
 * Returns the text that replaces a damaged record in a scan or a list; a get fails with CORRUPT instead. The text has
 * no envelope, so that decoding it fails and names the record.
 */
function standIn(damaged: Wanted): string {
  return `damaged: ${damageOf(damaged).message}`;
}

export function locate(read: Read, journalOf: (lineage: number) => JournalFile): Located {
  if ("get" in read) return locateOne(read.get, journalOf(lineageOfKey(read.get)));
  if ("scan" in read) {
    const journal = journalOf(read.scan.lineage);
    const slots = journal.index.scan(read.scan, read.reverse ?? false, read.limit ?? Number.POSITIVE_INFINITY);
    return locateMany(journal, slots, ({ item, part }, value): Found => ({ item, part, value }));
  }
  const journal = journalOf(directoryLineage);
  if ("find" in read) return located(journal.index.find(read.find, read.reverse ?? false));
  if ("tally" in read) return located(journal.index.tally(read.tally));
  if ("log" in read) return located(journal.index.logPage(read.log));
  const { prefix = "", after, limit } = read.list;
  return locateMany(journal, journal.index.list(prefix, after, limit), ({ id }, value): Listed => ({ id, value }));
}

/** Returns an answer that is in memory. */
function located(answer: Answer): Located {
  return { wanted: [], isTolerant: true, answer: () => answer };
}

function locateOne(key: Key | DirectoryKey, journal: JournalFile): Located {
  const slot = journal.index.get(key);
  if (slot === undefined) return { wanted: [], isTolerant: false, answer: () => undefined };
  const answer = (values: ReadonlyMap<Slot, Value>): Value => {
    const value = values.get(slot) as Value;
    if (key.table === "meta" && typeof value === "string") slot.value = value;
    return value;
  };
  return { wanted: [{ journal, slot }], isTolerant: false, answer };
}

function locateMany<Kind extends Slot, Item extends Found | Listed>(
  journal: JournalFile,
  slots: readonly Kind[],
  itemOf: (slot: Kind, value: Value) => Item,
): Located {
  return {
    wanted: slots.map((slot) => ({ journal, slot })),
    isTolerant: true,
    answer: (values) =>
      slots.map((slot) => itemOf(slot, values.get(slot) ?? standIn({ journal, slot }))) as
        | readonly Found[]
        | readonly Listed[],
  };
}

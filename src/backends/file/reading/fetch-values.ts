import type { Value } from "../../../backend.ts";
import type { ThreadmarkError } from "../../../errors.ts";
import { damagedJournal } from "../faults.ts";
import { isSound, valueOf } from "../format/line-reader.ts";
import type { JournalFile } from "../journal/journal.ts";
import type { Slot } from "../journal/record-index.ts";

/** Reading this many unneeded bytes costs less than a second read. */
const gapBytes = 128 * 1024;
const spanBytes = 8 << 20;

export interface Wanted {
  readonly journal: JournalFile;
  readonly slot: Slot;
}

/** The values that were read, and the records that are damaged. */
export interface Fetched {
  readonly values: ReadonlyMap<Slot, Value>;
  readonly damaged: readonly Wanted[];
}

/** Reads values with as few reads of the file as possible. */
export async function fetchValues(wanted: Iterable<Wanted>): Promise<Fetched> {
  const values = new Map<Slot, Value>();
  const damaged: Wanted[] = [];
  const missing = new Map<JournalFile, Set<Slot>>();
  for (const { journal, slot } of wanted) {
    if (slot.sound === false) damaged.push({ journal, slot });
    else if (slot.value !== undefined) values.set(slot, slot.value);
    else {
      const slots = missing.get(journal);
      if (slots === undefined) missing.set(journal, new Set([slot]));
      else slots.add(slot);
    }
  }
  const reads: Promise<void>[] = [];
  for (const [journal, slots] of missing) {
    for (const span of spansOf(slots)) reads.push(readSpan(journal, span, values, damaged));
  }
  await Promise.all(reads);
  return { values, damaged };
}

/** Reads values like {@link fetchValues}, but fails with CORRUPT at a damaged record. */
export async function fetchAll(wanted: Iterable<Wanted>): Promise<ReadonlyMap<Slot, Value>> {
  const { values, damaged } = await fetchValues(wanted);
  const [first] = damaged;
  if (first !== undefined) throw damageOf(first);
  return values;
}

export function damageOf({ journal, slot }: Wanted): ThreadmarkError {
  return damagedJournal(journal.path, slot.line, "the record is damaged");
}

/** Groups slots that lie near each other in the file, in file order. */
function spansOf(slots: Iterable<Slot>): Slot[][] {
  const spans: Slot[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  let start = 0;
  for (const slot of [...slots].sort((a, b) => a.offset - b.offset)) {
    if (slot.offset - end > gapBytes || end - start > spanBytes) {
      spans.push([]);
      start = slot.offset;
    }
    spans.at(-1)?.push(slot);
    end = slot.offset + slot.length;
  }
  return spans;
}

async function readSpan(
  journal: JournalFile,
  slots: readonly Slot[],
  values: Map<Slot, Value>,
  damaged: Wanted[],
): Promise<void> {
  const [first] = slots;
  const last = slots.at(-1);
  if (first === undefined || last === undefined) return;
  const bytes = await journal.read(first.offset, last.offset + last.length - first.offset);
  for (const slot of slots) {
    const from = slot.offset - first.offset;
    const line = bytes.subarray(from, from + slot.length);
    slot.sound ??= line.length === slot.length && isSound(line, slot.crc);
    if (slot.sound) values.set(slot, valueOf(line));
    else damaged.push({ journal, slot });
  }
}

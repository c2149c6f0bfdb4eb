import type { Answer, Found, Read, Value } from "../../backend.ts";
import { isNarrow } from "./key-sql.ts";
import type { Statements } from "./statements.ts";

/** The most tapes in one statement. */
const MOST_TAPES = 96;

/** Statements are prepared for this many tapes and its multiples. */
const STEP = 8;

type Row = readonly [
  number: number,
  meta: Value | null,
  item: number | null,
  value: Value | null,
  itemBefore: number | null,
  valueBefore: Value | null,
];

/**
 * Answers reads that ask of each of several tapes for its meta record and its newest two rows, as a page of threads does, in one
 * statement. Returns undefined for other reads.
 */
export function newestOfTapes(statements: Statements, reads: readonly Read[]): readonly Answer[] | undefined {
  const count = reads.length / 2;
  if (count < 2 || count > MOST_TAPES || !Number.isInteger(count)) return undefined;
  const bound: (number | null)[] = [];
  for (let index = 0; index < reads.length; index += 2) {
    const meta = reads[index] as Read;
    const rows = reads[index + 1] as Read;
    if (!("get" in meta && isNarrow(meta.get) && meta.get.table === "meta") || !isNewestTwo(rows)) return undefined;
    bound.push(meta.get.group, meta.get.item, rows.scan.group);
  }
  const places = Math.ceil(count / STEP) * STEP;
  while (bound.length < 3 * places) bound.push(null);
  const answers: Answer[] = new Array(reads.length).fill(undefined);
  for (const row of statements.newestOfTapes(places, bound) as readonly unknown[] as readonly Row[]) {
    const [number, meta, item, value, itemBefore, valueBefore] = row;
    if (number >= count) continue;
    answers[2 * number] = meta ?? undefined;
    const found: Found[] = [];
    if (value !== null) found.push({ item: item as number, part: 0, value });
    if (valueBefore !== null) found.push({ item: itemBefore as number, part: 0, value: valueBefore });
    answers[2 * number + 1] = found;
  }
  return answers;
}

function isNewestTwo(read: Read): read is Extract<Read, { scan: unknown }> {
  if (!("scan" in read) || read.reverse !== true || read.limit !== 2) return false;
  return read.scan.table === "tail" && read.scan.from === undefined && read.scan.to === undefined;
}

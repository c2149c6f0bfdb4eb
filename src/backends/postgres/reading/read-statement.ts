import type { Answer, Found, FoundEntry, Listed, Read, Value } from "../../../backend.ts";
import { compareIds } from "../../shared/id-order.ts";
import type { ShardPage } from "../../shared/merged-log.ts";
import { compareEntries } from "../../shared/ordered/entries.ts";
import { compareItemKeys } from "../../shared/ordered/records.ts";
import type { Statement } from "../connection/server.ts";
import { statement } from "../connection/server.ts";
import { comparePositions, logPage } from "./log-position.ts";
import { subSelectsOf } from "./sub-selects.ts";

type Row = readonly [
  readNumber: string,
  item: string | null,
  part: string | null,
  id: string,
  text: string | null,
  bytes: Buffer | null,
];

/**
 * Builds one statement for any list of reads: a sub-select for each kind of read and table, joined by `union all`, so
 * that all are answered from one snapshot in one round trip. The text depends on the kinds, never on values, and is
 * kept.
 */
export class Reader {
  readonly #schema: string;
  readonly #numbered: boolean;
  readonly #statements = new Map<string, Statement>();

  /** Takes the schema's name as SQL, and whether it is a shard, whose log is numbered. */
  constructor(schema: string, numbered: boolean) {
    this.#schema = schema;
    this.#numbered = numbered;
  }

  statement(reads: readonly Read[]): { readonly statement: Statement; readonly values: readonly unknown[] } {
    const selects = subSelectsOf(reads, this.#numbered);
    const form = selects.map((select) => select.form).join(" ");
    let found = this.#statements.get(form);
    if (found === undefined) {
      let count = 0;
      const parameter = (): string => `$${++count}`;
      const parts = selects.map((select) => select.sql(this.#schema, parameter));
      found = statement(
        parts.length === 1 ? (parts[0] as string) : parts.map((part) => `(${part})`).join(" union all "),
      );
      this.#statements.set(form, found);
    }
    return { statement: found, values: selects.flatMap((select) => select.values) };
  }
}

/** Returns whether a read needs a table that layouts of earlier versions lack. */
export function isOfLaterLayout(read: Read): boolean {
  if ("find" in read || "tally" in read || "log" in read) return true;
  const table = "get" in read ? read.get.table : "scan" in read ? read.scan.table : undefined;
  return table === "value" || table === "mail";
}

/** The answer of one schema to a read. That of a shard to a read of the log is a page of its own lines. */
export type SchemaAnswer = Answer | ShardPage;

/** Converts rows to answers, in the order of the reads. `numbered`: the schema is a shard. */
export function answersOf(
  reads: readonly Read[],
  rows: readonly unknown[],
  numbered: boolean,
): readonly SchemaAnswer[] {
  const byRead: Row[][] = reads.map(() => []);
  for (const row of rows as readonly Row[]) byRead[Number(row[0])]?.push(row);
  return reads.map((read, index) => {
    const own = byRead[index] as Row[];
    return numbered && "log" in read ? shardPageOf(own) : answerOf(read, own);
  });
}

/** Converts the rows of a shard's log. A row with a time is a line; of the rows without one, part 0 is the log's first number and part 1 its last. */
function shardPageOf(rows: readonly Row[]): ShardPage {
  const bounds = [0, 0];
  const lines: ShardPage["lines"][number][] = [];
  for (const [, at, part, number, text] of rows) {
    if (at === null) bounds[Number(part)] = Number(number ?? 0);
    else lines.push({ number: Number(number), at: Number(at), text: text as string, time: Number(part) });
  }
  lines.sort((a, b) => a.number - b.number);
  return { lines, first: bounds[0] as number, last: bounds[1] as number };
}

/**
 * Converts the rows of one read. Where there are several, they are sorted: SQL promises no order across `union all`, though
 * the server keeps the order of each sub-select.
 */
function answerOf(read: Read, rows: readonly Row[]): Answer {
  if ("get" in read) return rows[0] === undefined ? undefined : valueOf(rows[0]);
  if ("tally" in read) return Number(rows[0]?.[1] ?? 0);
  if ("log" in read) return logOf(read.log.after, rows);
  if ("find" in read) {
    const found = read.reverse === true && read.find.tapes ? entriesWithTapes(rows) : rows.map(entryOf);
    return sorted(found, read.reverse === true ? (a, b) => compareEntries(b, a) : compareEntries);
  }
  if ("list" in read)
    return sorted(
      rows.map((row): Listed => ({ id: row[3], value: valueOf(row) })),
      compareListed,
    );
  const found = rows.map((row): Found => ({ item: Number(row[1]), part: Number(row[2]), value: valueOf(row) }));
  return sorted(found, read.reverse === true ? compareDown : compareItemKeys);
}

function entryOf([, lineage, tape, text]: Row): FoundEntry {
  return { text, lineage: Number(lineage), tape: Number(tape) };
}

/** Converts the rows of entries and of their tapes' newest records, which have a value. */
function entriesWithTapes(rows: readonly Row[]): FoundEntry[] {
  // The records of a tape come once for each entry that names it.
  const tapes = new Map<string, { meta: Value | undefined; tail: Found[] }>();
  const entries: Row[] = [];
  for (const row of rows) {
    const value = valueOf(row) as Value | null;
    if (value === null) {
      entries.push(row);
      continue;
    }
    const name = tapeOf(row);
    const records = tapes.get(name) ?? { meta: undefined, tail: [] };
    tapes.set(name, records);
    if (row[3] === "meta") records.meta = value;
    else if (!records.tail.some(({ item }) => item === Number(row[3]))) {
      records.tail.push({ item: Number(row[3]), part: 0, value });
    }
  }
  for (const { tail } of tapes.values()) tail.sort(compareDown);
  return entries.map((row) => {
    const records = tapes.get(tapeOf(row));
    return records === undefined ? entryOf(row) : { ...entryOf(row), records };
  });
}

function tapeOf([, lineage, tape]: Row): string {
  return `${lineage}:${tape}`;
}

function valueOf([, , , , text, bytes]: Row): Value {
  return (text ?? bytes) as Value;
}

/** Converts the rows of a log: lines have a time in place of an item; of the others, part 0 is the cut, part 1 the end. */
function logOf(after: string, rows: readonly Row[]): Answer {
  let cut = "";
  let newest = "";
  const unsettled: string[] = [];
  const lines: { position: string; at: number; text: string }[] = [];
  for (const [, at, part, position, text] of rows) {
    if (at !== null && position === null) unsettled.push(text as string);
    else if (at !== null) lines.push({ position, at: Number(at), text: text as string });
    else if (part === "0") cut = position;
    else newest = position;
  }
  const page = logPage(after, sorted(lines, comparePositions), cut, newest);
  return unsettled.length === 0 ? page : { ...page, unsettled };
}

function sorted<T>(answer: T[], compare: (a: T, b: T) => number): readonly T[] {
  const isSorted = answer.every((entry, index) => index === 0 || compare(answer[index - 1] as T, entry) <= 0);
  return isSorted ? answer : answer.sort(compare);
}

const compareDown = (a: Found, b: Found): number => compareItemKeys(b, a);
const compareListed = (a: Listed, b: Listed): number => compareIds(a.id, b.id);

import type { Answer, Found, IndexEntry, Listed, LogPage, LogRange, Read, Stored, Value } from "../../backend.ts";
import { tables } from "../../backend.ts";
import { answerEmpty } from "../shared/empty-answers.ts";
import { compareIds } from "../shared/id-order.ts";
import { afterPrefix } from "../shared/key-bounds.ts";
import { startOf } from "../shared/ordered/entries.ts";
import type { Database } from "./database.ts";
import { isNarrow } from "./key-sql.ts";
import type { Statements } from "./statements.ts";
import { newestOfTapes } from "./tape-records.ts";

/** Returns a limit for SQLite, which takes an integer, and -1 for no limit. */
function rows(limit: number): number {
  return Number.isSafeInteger(limit) ? limit : -1;
}

/** An upper bound above every id: SQLite sorts bytes after text. */
const afterAllText = Uint8Array.of(0);

/** Answers all reads from one snapshot. */
export function answerReads(database: Database, reads: readonly Read[]): readonly Answer[] {
  const { statements } = database;
  const [only] = reads;
  if (only === undefined) return [];
  if (reads.some((read) => database.lacks(tableOf(read)))) return answerFromOld(database, reads);
  // A single statement has a snapshot of its own; a read of the log takes two.
  if (reads.length === 1 && !("log" in only)) return [answer(statements, only)];
  const together =
    reads.length === 2 ? getThenScan(statements, only, reads[1] as Read) : newestOfTapes(statements, reads);
  if (together !== undefined) return together;
  statements.beginRead();
  try {
    const answers = reads.map((read) => answer(statements, read));
    statements.commit();
    return answers;
  } catch (error) {
    database.rollback();
    throw error;
  }
}

/** Answers reads inside the transaction that is open, which is the snapshot. */
export function answerInTransaction({ statements }: Database, reads: readonly Read[]): readonly Answer[] {
  return reads.map((read) => answer(statements, read));
}

function tableOf(read: Read): Stored {
  if ("get" in read) return read.get.table;
  if ("scan" in read) return read.scan.table;
  return "log" in read ? "log" : "list" in read ? "directory" : "entry";
}

/** Answers reads of a database that lacks some tables, and is not to be changed. */
function answerFromOld(database: Database, reads: readonly Read[]): readonly Answer[] {
  const lacks = (read: Read): boolean => database.lacks(tableOf(read));
  const known = reads.filter((read) => !lacks(read));
  const answers = answerReads(database, known);
  let index = 0;
  return reads.map((read) => (lacks(read) ? answerEmpty(read) : answers[index++]));
}

/**
 * Answers a get and a scan in one statement, as most reads of a thread begin: a meta record and the rows since. Returns
 * undefined for other reads.
 */
function getThenScan(statements: Statements, one: Read, other: Read): readonly Answer[] | undefined {
  if (!("get" in one && isNarrow(one.get)) || !("scan" in other)) return undefined;
  const { scan, reverse, limit } = other;
  if (reverse || limit !== undefined || tables[scan.table].wide) return undefined;
  let value: Value | undefined;
  let last = 0;
  let isAscending = true;
  const since: Found[] = [];
  for (const row of statements.getAndScan(one.get, scan) as readonly (Found | RowOfGet)[]) {
    if (row.item === null) {
      value = row.value;
      continue;
    }
    isAscending &&= row.item >= last;
    last = row.item;
    since.push(row);
  }
  // SQLite scans a table in key order, but does not promise to.
  if (!isAscending) since.sort((left, right) => left.item - right.item);
  return [value, since];
}

interface RowOfGet {
  readonly item: null;
  readonly value: Value;
}

function answer(statements: Statements, read: Read): Answer {
  if ("get" in read) return (statements.get(read.get) as { readonly value: Value } | undefined)?.value;
  if ("scan" in read) {
    return statements.scan(read.scan, read.reverse ?? false, rows(read.limit ?? -1)) as readonly Found[];
  }
  if ("find" in read) return find(statements, read);
  if ("tally" in read) return statements.tally(read.tally.from, read.tally.to);
  if ("log" in read) return logPage(statements, read.log);
  return list(statements, read.list);
}

function find(statements: Statements, read: Extract<Read, { find: unknown }>): readonly IndexEntry[] {
  const { from, to, limit } = read.find;
  const start = startOf(read.find, read.reverse ?? false);
  const found = read.reverse
    ? statements.findDown(start, from, rows(limit))
    : statements.findUp(start, to, rows(limit));
  return (found as readonly (readonly [string, number, number])[]).map(([text, lineage, tape]) => ({
    text,
    lineage,
    tape,
  }));
}

function logPage(statements: Statements, { after, limit, newest: fromEnd = false }: LogRange): LogPage {
  const position = Number(after);
  const { oldest, newest } = statements.logEnds();
  const isKnown = Number.isSafeInteger(position) && position >= (oldest ?? 1) - 1 && position <= (newest ?? 0);
  const lines = statements.lines(Number.isSafeInteger(position) ? position : 0, rows(limit), fromEnd);
  return {
    lines: (lines as readonly { readonly position: number; readonly at: number; readonly text: string }[]).map(
      ({ position, at, text }) => ({ position: String(position), at, text }),
    ),
    end: newest === null ? "" : String(newest),
    expired: !isKnown,
  };
}

function list(
  statements: Statements,
  { prefix = "", after, limit }: { readonly prefix?: string; readonly after?: string; readonly limit: number },
): readonly Listed[] {
  const high = afterPrefix(prefix) ?? afterAllText;
  if (after === undefined || (!after.startsWith(prefix) && compareIds(after, prefix) < 0)) {
    return statements.list(prefix, true, high, rows(limit)) as readonly Listed[];
  }
  if (!after.startsWith(prefix)) return [];
  return statements.list(after, false, high, rows(limit)) as readonly Listed[];
}

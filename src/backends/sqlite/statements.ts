import type { DirectoryKey, IndexEntry, Key, LogLine, Range, Stored } from "../../backend.ts";
import type { Bound, Connection, Statement } from "./driver/contract.ts";
import { type ListStatement, withRowsAsLists } from "./driver/row-arrays.ts";
import type { TableName } from "./key-sql.ts";
import { bindKey, bindRange, isNarrow } from "./key-sql.ts";
import {
  addEntry,
  addLine,
  type Checks,
  cutLog,
  deleteOne,
  deleteRange,
  findDown,
  findUp,
  get,
  getAndScan,
  holds,
  linesAfter,
  listAfter,
  listFrom,
  logEnds,
  newestLines,
  newestOfTapes,
  removeEntry,
  scanDown,
  scanUp,
  size,
  takenElsewhere,
  tally,
  type Verb,
  write,
} from "./statement-texts.ts";

/** Prepares every statement of the backend when it is first used. */
export class Statements {
  readonly #connection: Connection;
  readonly #prepared = new Map<string, Statement>();
  readonly #lists = new Map<string, ListStatement>();
  #lastWrite: { verb: Verb; table: TableName; checked: TableName; statement: Statement } | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  beginWrite(): void {
    this.#statement("BEGIN IMMEDIATE").run();
  }

  beginRead(): void {
    this.#statement("BEGIN").run();
  }

  /** Returns SQLite's count of commits by other connections. */
  dataVersion(): number {
    return (this.#statement("PRAGMA data_version").get() as { readonly data_version: number }).data_version;
  }

  commit(): void {
    this.#statement("COMMIT").run();
  }

  get(key: Key | DirectoryKey): unknown {
    const bound: Bound[] = [];
    bindKey(bound, key);
    return this.#of("get", key.table, get).get(...bound);
  }

  scan(range: Range, reverse: boolean, limit: number): unknown[] {
    const bound: Bound[] = [];
    bindRange(bound, range);
    bound.push(limit);
    return reverse
      ? this.#of("scan down", range.table, scanDown).all(...bound)
      : this.#of("scan up", range.table, scanUp).all(...bound);
  }

  /** Returns a record, with `item` null, and the records of a range, in any order: two reads in one statement. */
  getAndScan(key: Key, range: Range): readonly unknown[] {
    const bound: Bound[] = [];
    bindKey(bound, key);
    bindRange(bound, range);
    return this.#prepare(`get ${key.table} and scan ${range.table}`, () => getAndScan(key.table, range.table)).all(
      ...bound,
    );
  }

  /** Returns the newest records of several tapes, a row each: see `tape-records.ts`. */
  newestOfTapes(places: number, bound: readonly Bound[]): readonly (readonly unknown[])[] {
    return this.#list(`newest of ${places}`, () => newestOfTapes(places)).all(...bound);
  }

  /** Returns directory entries with `low <= id < high`, or `low < id < high`. */
  list(low: string, including: boolean, high: Bound, limit: number): unknown[] {
    const sql = including ? listFrom : listAfter;
    return this.#statement(sql).all(low, high, limit);
  }

  /** Returns whether the record at `key` is exactly `value`, text or bytes; null means absent. */
  holds(key: Key | DirectoryKey, value: Bound): boolean {
    const bound: Bound[] = [];
    bindKey(bound, key);
    bound.push(value);
    return (this.#of("holds", key.table, holds).get(...bound) as { holds: number }).holds === 1;
  }

  /** Returns whether another lineage has a record in `meta` with this item. */
  isTakenElsewhere({ group, item }: Key): boolean {
    return this.#statement(takenElsewhere).get(item, group) !== undefined;
  }

  /**
   * Writes one record if all checks hold, in one statement. Returns false when a check fails or an inserted key exists.
   */
  write(verb: Verb, key: Key | DirectoryKey, value: Bound, checks: Checks): boolean {
    const statement = this.#writing(verb, key.table, checks);
    const [first] = checks;
    if (checks.length === 1 && first !== undefined && isNarrow(key) && isNarrow(first.key)) {
      // Nearly every put: passing the values without a list saves half a microsecond.
      const expected = first.value ?? null;
      return statement.run(key.group, key.item, value, first.key.group, first.key.item, expected).changes === 1;
    }
    const bound: Bound[] = [];
    bindKey(bound, key);
    bound.push(value);
    for (const check of checks) {
      bindKey(bound, check.key);
      bound.push(check.value ?? null);
    }
    return statement.run(...bound).changes === 1;
  }

  #writing(verb: Verb, table: TableName, checks: Checks): Statement {
    const checked = checks.length === 1 ? checks[0]?.key.table : undefined;
    const last = this.#lastWrite;
    if (
      last !== undefined &&
      last.verb === verb &&
      last.table === table &&
      last.checked === checked &&
      checked !== undefined
    ) {
      return last.statement;
    }
    let name = `${verb} ${table}`;
    for (const { key } of checks) name += ` ${key.table}`;
    const statement = this.#prepare(name, () => write(verb, table, checks));
    if (checked !== undefined) this.#lastWrite = { verb, table, checked, statement };
    return statement;
  }

  delete(target: Key | DirectoryKey | Range): void {
    const bound: Bound[] = [];
    if ("item" in target || target.table === "directory") {
      bindKey(bound, target);
      this.#of("delete", target.table, deleteOne).run(...bound);
    } else {
      bindRange(bound, target);
      this.#of("delete range", target.table, deleteRange).run(...bound);
    }
  }

  addEntry({ text, lineage, tape }: IndexEntry): void {
    this.#statement(addEntry).run(text, lineage, tape - lineage);
  }

  removeEntry({ text, lineage, tape }: IndexEntry): void {
    this.#statement(removeEntry).run(text, lineage, tape - lineage);
  }

  /** Returns entries behind `start`, up to but without the text `end`. */
  findUp({ text, lineage, tape }: IndexEntry, end: string, limit: number): readonly (readonly unknown[])[] {
    return this.#list(findUp).all(text, lineage, tape - lineage, end, limit);
  }

  /** Returns entries before `start`, newest texts first, down to the text `end`. */
  findDown({ text, lineage, tape }: IndexEntry, end: string, limit: number): readonly (readonly unknown[])[] {
    return this.#list(findDown).all(text, lineage, tape - lineage, end, limit);
  }

  tally(from: string, to: string): number {
    return (this.#statement(tally).get(from, to) as { readonly count: number }).count;
  }

  /** Adds a line to the log; returns its position. */
  addLine({ at, text }: LogLine): number {
    return Number((this.#statement(addLine).get(at, text) as { readonly position: number }).position);
  }

  lines(after: number, limit: number, newest: boolean): unknown[] {
    return newest
      ? this.#statement(newestLines).all(after, limit).reverse()
      : this.#statement(linesAfter).all(after, limit);
  }

  /** Returns the positions of the log's oldest and newest lines, null when it is empty. */
  logEnds(): { readonly oldest: number | null; readonly newest: number | null } {
    return this.#statement(logEnds).get() as { readonly oldest: number | null; readonly newest: number | null };
  }

  /** Removes the lines of the log that are beyond its bounds. */
  cutLog(): void {
    this.#statement(cutLog).run();
  }

  size(table: Stored): unknown {
    return this.#prepare(`size ${table}`, () => size(table)).get();
  }

  #of(family: string, table: TableName, sql: (table: TableName) => string): Statement {
    return this.#prepare(`${family} ${table}`, () => sql(table));
  }

  #list(name: string, sql: () => string = () => name): ListStatement {
    let statement = this.#lists.get(name);
    if (statement === undefined) {
      statement = withRowsAsLists(this.#connection.prepare(sql()));
      this.#lists.set(name, statement);
    }
    return statement;
  }

  #statement(sql: string): Statement {
    return this.#prepare(sql, () => sql);
  }

  #prepare(name: string, sql: () => string): Statement {
    let statement = this.#prepared.get(name);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql());
      this.#prepared.set(name, statement);
    }
    return statement;
  }
}

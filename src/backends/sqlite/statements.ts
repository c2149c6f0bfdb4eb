import type { Batch, DirectoryKey, IndexEntry, Key, LogLine, Range, Stored } from "../../backend.ts";
import { logBounds } from "../../backend.ts";
import type { Bound, Connection, Statement } from "./driver/contract.ts";
import { type ListStatement, withRowsAsLists } from "./driver/row-arrays.ts";
import type { TableName } from "./key-sql.ts";
import { bindKey, bindRange, isNarrow, keySqlOf } from "./key-sql.ts";

/** `insert` leaves a present key alone, `put` overwrites it. */
type Verb = "insert" | "put";

type Checks = NonNullable<Batch["checks"]>;

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

/**
 * An expression, since for a bare parameter SQLite plans the statement again at every value: five times the work of a
 * short scan.
 */
const limit = "LIMIT ? + 0";

const listFrom = `SELECT id, value FROM directory WHERE id >= ? AND id < ? ORDER BY id ${limit}`;
const listAfter = `SELECT id, value FROM directory WHERE id > ? AND id < ? ORDER BY id ${limit}`;

const get = (table: TableName): string => `SELECT value FROM "${table}" WHERE ${keySqlOf(table).equals}`;

const scanUp = (table: TableName): string => {
  const { selected, within, ascending } = keySqlOf(table);
  return `SELECT ${selected}, value FROM "${table}" WHERE ${within} ORDER BY ${ascending} ${limit}`;
};

const getAndScan = (one: TableName, many: TableName): string => {
  const { selected, within } = keySqlOf(many);
  return (
    `SELECT NULL AS item, 0 AS part, value FROM "${one}" WHERE ${keySqlOf(one).equals} ` +
    `UNION ALL SELECT ${selected}, value FROM "${many}" WHERE ${within}`
  );
};

/** Returns the statement for so many tapes, each given by the group and item of its meta record and the group of its rows. */
const newestOfTapes = (places: number): string => {
  const values = Array.from({ length: places }, (_, number) => `(${number}, ?, ?, ?)`).join(", ");
  const rows = "p.tape << 32";
  return `WITH p (number, lineage, item, tape) AS (VALUES ${values})
    SELECT p.number AS number, m.value AS meta,
      t.key & 4294967295 AS item, t.value AS value, u.key & 4294967295 AS itemBefore, u.value AS valueBefore
    FROM p
    LEFT JOIN meta m ON m.key = (p.lineage << 32 | p.item)
    LEFT JOIN tail t ON t.key = (SELECT max(key) FROM tail WHERE key BETWEEN ${rows} AND (${rows} | 4294967295))
    LEFT JOIN tail u ON u.key = (SELECT max(key) FROM tail WHERE key BETWEEN ${rows} AND t.key - 1)`;
};

const scanDown = (table: TableName): string => {
  const { selected, within, descending } = keySqlOf(table);
  return `SELECT ${selected}, value FROM "${table}" WHERE ${within} ORDER BY ${descending} ${limit}`;
};

/** Compares type and value by IS, for which a missing row's NULL equals a bound NULL. */
const check = (table: TableName): string => `(${get(table)}) IS ?`;

const holds = (table: TableName): string => `SELECT ${check(table)} AS holds`;

const write = (verb: Verb, table: TableName, checks: Checks): string => {
  const { columns, values } = keySqlOf(table);
  const condition = checks.map(({ key }) => check(key.table)).join(" AND ");
  // A SELECT copies the value once more: of a pack, that took as long as a third of its commit.
  const source = checks.length === 0 ? `VALUES (${values}, ?)` : `SELECT ${values}, ? WHERE ${condition}`;
  const conflict = verb === "insert" ? "DO NOTHING" : "DO UPDATE SET value = excluded.value";
  return `INSERT INTO "${table}" (${columns}, value) ${source} ON CONFLICT (${columns}) ${conflict}`;
};

const takenElsewhere = `SELECT 1 FROM meta WHERE key & 4294967295 = ? AND key >> 32 <> ? LIMIT 1`;

const deleteOne = (table: TableName): string => `DELETE FROM "${table}" WHERE ${keySqlOf(table).equals}`;

const deleteRange = (table: TableName): string => `DELETE FROM "${table}" WHERE ${keySqlOf(table).within}`;

const addEntry = "INSERT INTO entry (text, lineage, distance) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
const removeEntry = "DELETE FROM entry WHERE text = ? AND lineage = ? AND distance = ?";

const findUp =
  "SELECT text, lineage, lineage + distance AS tape FROM entry WHERE (text, lineage, distance) > (?, ?, ?) AND text < ? " +
  `ORDER BY text, lineage, distance ${limit}`;
const findDown =
  "SELECT text, lineage, lineage + distance AS tape FROM entry WHERE (text, lineage, distance) < (?, ?, ?) AND text >= ? " +
  `ORDER BY text DESC, lineage DESC, distance DESC ${limit}`;
const tally = "SELECT count(*) AS count FROM entry WHERE text >= ? AND text < ?";

const addLine = "INSERT INTO log (at, text) VALUES (?, ?) RETURNING position";
const linesAfter = `SELECT position, at, text FROM log WHERE position > ? ORDER BY position ${limit}`;
const newestLines = `SELECT position, at, text FROM log WHERE position > ? ORDER BY position DESC ${limit}`;
const logEnds = "SELECT (SELECT min(position) FROM log) AS oldest, (SELECT max(position) FROM log) AS newest";
// Times may step back, so the oldest line to stay is the first that is young enough.
const cutLog =
  `DELETE FROM log WHERE position < (SELECT max(position) FROM log) AND position < max(` +
  `(SELECT max(position) FROM log) - ${logBounds.lines} + 1, ` +
  `(SELECT min(position) FROM log WHERE at >= (SELECT at FROM log ORDER BY position DESC LIMIT 1) - ${logBounds.milliseconds}))`;

const size = (table: Stored): string => {
  const length =
    table === "entry" || table === "log"
      ? "octet_length(text)"
      : table === "directory"
        ? "octet_length(id) + octet_length(value)"
        : "octet_length(value)";
  return `SELECT count(*) AS records, coalesce(sum(${length}), 0) AS bytes FROM "${table}"`;
};

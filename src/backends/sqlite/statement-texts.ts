import { type Batch, logBounds, type Stored } from "../../backend.ts";
import { keySqlOf, type TableName } from "./key-sql.ts";

/** `insert` leaves a present key alone, `put` overwrites it. */
export type Verb = "insert" | "put";

export type Checks = NonNullable<Batch["checks"]>;

/**
 * An expression, since for a bare parameter SQLite plans the statement again at every value: five times the work of a
 * short scan.
 */
const limit = "LIMIT ? + 0";

export const listFrom: string = `SELECT id, value FROM directory WHERE id >= ? AND id < ? ORDER BY id ${limit}`;
export const listAfter: string = `SELECT id, value FROM directory WHERE id > ? AND id < ? ORDER BY id ${limit}`;

export const get = (table: TableName): string => `SELECT value FROM "${table}" WHERE ${keySqlOf(table).equals}`;

export const scanUp = (table: TableName): string => {
  const { selected, within, ascending } = keySqlOf(table);
  return `SELECT ${selected}, value FROM "${table}" WHERE ${within} ORDER BY ${ascending} ${limit}`;
};

export const getAndScan = (one: TableName, many: TableName): string => {
  const { selected, within } = keySqlOf(many);
  return (
    `SELECT NULL AS item, 0 AS part, value FROM "${one}" WHERE ${keySqlOf(one).equals} ` +
    `UNION ALL SELECT ${selected}, value FROM "${many}" WHERE ${within}`
  );
};

/** Returns the statement for so many tapes, each given by the group and item of its meta record and the group of its rows. */
export const newestOfTapes = (places: number): string => {
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

export const scanDown = (table: TableName): string => {
  const { selected, within, descending } = keySqlOf(table);
  return `SELECT ${selected}, value FROM "${table}" WHERE ${within} ORDER BY ${descending} ${limit}`;
};

/** Compares type and value by IS, for which a missing row's NULL equals a bound NULL. */
const check = (table: TableName): string => `(${get(table)}) IS ?`;

export const holds = (table: TableName): string => `SELECT ${check(table)} AS holds`;

export const write = (verb: Verb, table: TableName, checks: Checks): string => {
  const { columns, values } = keySqlOf(table);
  const condition = checks.map(({ key }) => check(key.table)).join(" AND ");
  // A SELECT copies the value once more: of a pack, that took as long as a third of its commit.
  const source = checks.length === 0 ? `VALUES (${values}, ?)` : `SELECT ${values}, ? WHERE ${condition}`;
  const conflict = verb === "insert" ? "DO NOTHING" : "DO UPDATE SET value = excluded.value";
  return `INSERT INTO "${table}" (${columns}, value) ${source} ON CONFLICT (${columns}) ${conflict}`;
};

export const takenElsewhere: string = `SELECT 1 FROM meta WHERE key & 4294967295 = ? AND key >> 32 <> ? LIMIT 1`;

export const deleteOne = (table: TableName): string => `DELETE FROM "${table}" WHERE ${keySqlOf(table).equals}`;

export const deleteRange = (table: TableName): string => `DELETE FROM "${table}" WHERE ${keySqlOf(table).within}`;

export const addEntry: string = "INSERT INTO entry (text, lineage, distance) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
export const removeEntry: string = "DELETE FROM entry WHERE text = ? AND lineage = ? AND distance = ?";

export const findUp: string =
  "SELECT text, lineage, lineage + distance AS tape FROM entry WHERE (text, lineage, distance) > (?, ?, ?) AND text < ? " +
  `ORDER BY text, lineage, distance ${limit}`;
export const findDown: string =
  "SELECT text, lineage, lineage + distance AS tape FROM entry WHERE (text, lineage, distance) < (?, ?, ?) AND text >= ? " +
  `ORDER BY text DESC, lineage DESC, distance DESC ${limit}`;
export const tally: string = "SELECT count(*) AS count FROM entry WHERE text >= ? AND text < ?";

export const addLine: string = "INSERT INTO log (at, text) VALUES (?, ?) RETURNING position";
export const linesAfter: string = `SELECT position, at, text FROM log WHERE position > ? ORDER BY position ${limit}`;
export const newestLines: string = `SELECT position, at, text FROM log WHERE position > ? ORDER BY position DESC ${limit}`;
export const logEnds: string =
  "SELECT (SELECT min(position) FROM log) AS oldest, (SELECT max(position) FROM log) AS newest";
// Times may step back, so the oldest line to stay is the first that is young enough.
export const cutLog: string =
  `DELETE FROM log WHERE position < (SELECT max(position) FROM log) AND position < max(` +
  `(SELECT max(position) FROM log) - ${logBounds.lines} + 1, ` +
  `(SELECT min(position) FROM log WHERE at >= (SELECT at FROM log ORDER BY position DESC LIMIT 1) - ${logBounds.milliseconds}))`;

export const size = (table: Stored): string => {
  const length =
    table === "entry" || table === "log"
      ? "octet_length(text)"
      : table === "directory"
        ? "octet_length(id) + octet_length(value)"
        : "octet_length(value)";
  return `SELECT count(*) AS records, coalesce(sum(${length}), 0) AS bytes FROM "${table}"`;
};

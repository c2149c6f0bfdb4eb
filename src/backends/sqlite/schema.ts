import type { Stored } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { Connection } from "./driver/contract.ts";

/** "TDMK" in the header of every Threadmark database. */
const applicationId = 0x54_44_4d_4b;

/**
 * The migrations, one for each version of the schema. Append-only: databases exist that a released migration made.
 *
 * A narrow key is one integer, group * 2^32 + item: the rowid itself, so a put touches one B-tree. A wide key is (grp,
 * place) with place = (item - 2^31) * 2^32 + part, which keeps unsigned order in a signed integer. Where values are
 * tiny the table is its own index; a `write` can be large, and rows over 1 KB spill in a WITHOUT ROWID table (measured
 * at 1.2 KB: 3,400 bytes of overhead a record instead of 190), so that table has an index beside it.
 *
 * `value` has no affinity: text stays text and bytes stay bytes.
 */
const migrations: readonly string[] = [
  [
    ...["meta", "tail", "mark", "rows", "net", "steps"].map(
      (name) => `CREATE TABLE "${name}" (key INTEGER PRIMARY KEY, value BLOB NOT NULL)`,
    ),
    ...["id", "head"].map(
      (name) =>
        `CREATE TABLE "${name}" (grp INTEGER, place INTEGER, value BLOB NOT NULL, PRIMARY KEY (grp, place)) WITHOUT ROWID`,
    ),
    `CREATE TABLE "write" (grp INTEGER NOT NULL, place INTEGER NOT NULL, value BLOB NOT NULL)`,
    `CREATE UNIQUE INDEX "write_place" ON "write" (grp, place)`,
    `CREATE TABLE "directory" (id TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID`,
  ].join(";\n"),
  // The item of a meta record is the number of a tape, which no other lineage may take. The index is not unique: an
  // earlier version may have given a number out twice.
  `CREATE INDEX "meta_item" ON "meta" (key & 4294967295)`,
  // Values can be large, so their table has an index beside it, like `write`. Positions of the log need no AUTOINCREMENT:
  // its newest line is never deleted, so no position is given out twice.
  [
    ...["value", "mail"].flatMap((name) => [
      `CREATE TABLE "${name}" (grp INTEGER NOT NULL, place INTEGER NOT NULL, value BLOB NOT NULL)`,
      `CREATE UNIQUE INDEX "${name}_place" ON "${name}" (grp, place)`,
    ]),
    `CREATE TABLE "entry" (text TEXT, lineage INTEGER, tape INTEGER, PRIMARY KEY (text, lineage, tape)) WITHOUT ROWID`,
    `CREATE TABLE "log" (position INTEGER PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL)`,
  ].join(";\n"),
  // An entry has the distance of its tape's number from that of the lineage: 0 for all but forks, which takes no byte. The order
  // is that of (text, lineage, tape). The earlier entries are of an earlier layout, too: a reindex makes them anew.
  `DROP TABLE "entry";
  CREATE TABLE "entry" (text TEXT, lineage INTEGER, distance INTEGER, PRIMARY KEY (text, lineage, distance)) WITHOUT ROWID`,
];

/** The first version of the schema with a table, or with its present columns; the others are of version 1. */
const versions: Readonly<Partial<Record<Stored, number>>> = { value: 3, mail: 3, log: 3, entry: 4 };

/** Returns whether a database of this version has no such table, or none that can be read. */
export function lacksTable(version: number, table: Stored): boolean {
  return version < (versions[table] ?? 1);
}

/** `blank`: an empty database. `old`: made by an earlier version, and readable as it is. `current`: ready to use. */
export type SchemaState = "blank" | "old" | "current";

/**
 * Classifies a database without changing it; VERSION if it is another program's, or of a later version. All but a
 * current one is classified in one snapshot, since another process may be creating the schema right now.
 */
export function inspectSchema(connection: Connection, path: string): SchemaState {
  if (pragma(connection, "user_version") === migrations.length) {
    if (pragma(connection, "application_id") === applicationId) return "current";
  }
  connection.exec("BEGIN");
  try {
    return classify(connection, path);
  } finally {
    rollback(connection);
  }
}

/** Migrates the schema. When two processes do so at once, the second finds it done. */
export function migrate(connection: Connection, path: string): void {
  connection.exec("BEGIN IMMEDIATE");
  try {
    if (classify(connection, path) !== "current") {
      for (const migration of migrations.slice(pragma(connection, "user_version"))) connection.exec(migration);
      connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
    }
    connection.exec("COMMIT");
  } catch (error) {
    rollback(connection);
    throw error;
  }
}

function classify(connection: Connection, path: string): SchemaState {
  const version = pragma(connection, "user_version");
  const application = pragma(connection, "application_id");
  if (application === applicationId && version > migrations.length) {
    throw new ThreadmarkError(
      "VERSION",
      `SQLite: ${path} has schema ${version}, this version of threadmark knows ${migrations.length}. Update threadmark.`,
    );
  }
  if (application === applicationId && version > 0) return version === migrations.length ? "current" : "old";
  const { count } = connection.prepare("SELECT count(*) AS count FROM sqlite_schema").get() as { count: number };
  if (application === 0 && version === 0 && count === 0) return "blank";
  throw new ThreadmarkError("VERSION", `SQLite: ${path} is a database of another program. Choose another path.`);
}

/** Rolls a failed transaction back, unless the fault has ended it already. */
export function rollback(connection: Connection): void {
  try {
    connection.exec("ROLLBACK");
  } catch {
    // "no transaction is active": the error to report is the first one.
  }
}

/** Returns the version of the schema; 0 for a blank database. */
export function schemaVersion(connection: Connection): number {
  return pragma(connection, "user_version");
}

function pragma(connection: Connection, name: "user_version" | "application_id"): number {
  return (connection.prepare(`PRAGMA ${name}`).get() as Record<typeof name, number>)[name];
}

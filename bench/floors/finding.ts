import { DatabaseSync, type StatementSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { IndexedRow } from "../systems/indexed-rows.ts";

/**
 * A page of 20 threads by hand, from a store's own file: the entries, the meta record and newest row of each thread, their
 * checksums and JSON. No order within a second, no cursors, no filters, no promises.
 */
export class LeanPages {
  readonly #database: DatabaseSync;
  readonly #entries: StatementSync;
  readonly #records: StatementSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file, { readOnly: true });
    this.#entries = this.#database.prepare(
      "SELECT text, lineage, lineage + distance AS tape FROM entry WHERE text >= ? AND text < ? ORDER BY text DESC LIMIT 20",
    );
    const places = Array.from({ length: 20 }, () => "(?, ?)").join(", ");
    this.#records = this.#database.prepare(
      `WITH p (lineage, tape) AS (VALUES ${places}) SELECT m.value AS meta, t.value AS row FROM p
        JOIN meta m ON m.key = (p.lineage << 32 | p.tape)
        JOIN tail t ON t.key = (SELECT max(key) FROM tail WHERE key BETWEEN p.tape << 32 AND (p.tape << 32 | 4294967295))`,
    );
  }

  /** Returns the newest 20 under each of some texts, of which it reads as many as a list must. */
  page(prefixes: readonly string[]): readonly unknown[] {
    type Place = { readonly text: string; readonly lineage: number; readonly tape: number };
    const found = prefixes.flatMap((prefix) => this.#entries.all(prefix, `${prefix}~`) as unknown as Place[]);
    const places = found.sort((left, right) => (left.text.slice(-6) < right.text.slice(-6) ? 1 : -1)).slice(0, 20);
    const rows = this.#records.all(...places.flatMap(({ lineage, tape }) => [lineage, tape]));
    return rows.map(({ meta, row }) => [parsed(String(meta)), parsed(String(row))]);
  }

  close(): void {
    this.#database.close();
  }
}

function parsed(value: string): unknown {
  const json = value.slice(10);
  if (crc32(json) !== Number.parseInt(value.slice(2, 10), 16)) throw new Error("A checksum does not match.");
  return JSON.parse(json);
}

const tape = 5;

/** The statements of puts by hand: one that inserts a row, and one that also changes a meta record and moves an entry. */
export class LeanChanges {
  readonly #database: DatabaseSync;
  readonly #statements: Readonly<Record<"begin" | "insert" | "meta" | "remove" | "add" | "commit", StatementSync>>;
  #seq = 0;

  constructor(file: string, synchronous: "full" | "normal") {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};
      CREATE TABLE tail (key INTEGER PRIMARY KEY, value TEXT); CREATE TABLE meta (key INTEGER PRIMARY KEY, value TEXT);
      CREATE TABLE entry (text TEXT, lineage INTEGER, distance INTEGER, PRIMARY KEY (text, lineage, distance)) WITHOUT ROWID;
      INSERT INTO meta VALUES (${tape}, '')`);
    const prepare = (sql: string): StatementSync => this.#database.prepare(sql);
    this.#statements = {
      begin: prepare("BEGIN IMMEDIATE"),
      insert: prepare("INSERT INTO tail SELECT ?, ? WHERE (SELECT value FROM meta WHERE key = ?) IS NOT NULL"),
      meta: prepare("UPDATE meta SET value = ? WHERE key = ?"),
      remove: prepare("DELETE FROM entry WHERE text = ? AND lineage = ? AND distance = ?"),
      add: prepare("INSERT INTO entry VALUES (?, ?, ?)"),
      commit: prepare("COMMIT"),
    };
    // A leaf of the index for each status, as in a store with many threads.
    for (let number = 0; number < 20_000; number += 1) {
      this.#statements.add.run(`s${"wfcdp"[number % 5]}G${number.toString(36).padStart(5, "0")}`, number, 0);
    }
  }

  rest(): void {
    this.#seq += 1;
    this.#statements.insert.run(this.#seq, `1j00000000${"x".repeat(180)}`, tape);
  }

  change(): void {
    const { begin, meta, remove, add, commit } = this.#statements;
    begin.run();
    this.rest();
    meta.run(`1j00000000${this.#seq}${"x".repeat(150)}`, tape);
    remove.run(`s${"dp"[this.#seq % 2]}G00000`, tape, 0);
    add.run(`s${"pd"[this.#seq % 2]}G00000`, tape, 0);
    commit.run();
  }

  close(): void {
    this.#database.close();
  }
}

/** Returns the bytes a thread that a table by hand takes for the same facts, with an index for each way to find a thread. */
export function bytesByHand(file: string, rows: Iterable<IndexedRow>): number {
  const database = new DatabaseSync(file);
  const indexes = [
    "status, updated",
    "workflow, status, updated",
    "tenant, status, updated",
    "cost, status, updated",
    "run",
  ];
  database.exec(`CREATE TABLE thread (number INTEGER PRIMARY KEY, status TEXT, workflow TEXT, run TEXT, tenant TEXT, cost REAL, updated INTEGER);
    ${indexes.map((columns) => `CREATE INDEX "${columns}" ON thread (${columns});`).join(" ")} BEGIN`);
  const insert = database.prepare("INSERT INTO thread VALUES (?, ?, ?, ?, ?, ?, ?)");
  let count = 0;
  for (const { status, tenant, updated } of rows) {
    // Numbers as random as those of tapes.
    insert.run(1_000_000_000 + count, status[0] as string, "agents", `run-${count}`, tenant, count % 50, updated);
    count += 1;
  }
  database.exec("COMMIT");
  const { bytes } = database.prepare("SELECT sum(pgsize) AS bytes FROM dbstat").get() as { readonly bytes: number };
  database.close();
  return bytes / count;
}

import { DatabaseSync, type StatementSync } from "node:sqlite";

const meta = `1j00000000${JSON.stringify({ version: 16, thread: "measured", createdAt: 1, sealed: 960, rootSealed: 960 })}`;
const group = 5;

/** A table by hand, of which an insert checks in its own statement that nobody else moved the head. */
export class GuardedTable {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = normal");
    for (const table of ["tail", "meta"])
      this.#database.exec(`CREATE TABLE ${table} (key INTEGER PRIMARY KEY, value BLOB NOT NULL)`);
    this.#database.prepare("INSERT INTO meta VALUES ((? << 32) + ?, ?)").run(group, group, meta);
    this.#insert = this.#database.prepare(
      "INSERT INTO tail SELECT (? << 32) + ?, ? WHERE (SELECT value FROM meta WHERE key = (? << 32) + ?) IS ?",
    );
  }

  insert(seq: number, value: string): void {
    const { changes } = this.#insert.run(group, seq, value, group, group, meta);
    if (changes !== 1) throw new Error("The head has moved.");
  }

  close(): void {
    this.#database.close();
  }
}

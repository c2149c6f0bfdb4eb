import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";

/** A folder for one run, removed at the end. */
export class Place {
  readonly path: string = mkdtempSync(join(tmpdir(), "threadmark-bench-"));
  #count = 0;

  file(name: string): string {
    this.#count += 1;
    return join(this.path, `${name}-${this.#count}.db`);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Bytes of a database and what belongs to it. */
export function bytesOf(file: string): number {
  const directory = join(file, "..");
  const name = file.slice(directory.length + 1);
  return readdirSync(directory)
    .filter((entry) => entry.startsWith(name))
    .reduce((sum, entry) => sum + statSync(join(directory, entry)).size, 0);
}

/** The physical limit: one prepared insert a step, same driver, same settings. */
export class RawTable {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #select: StatementSync;
  #key = 0;

  constructor(file: string, fsync: "full" | "normal" = "normal") {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${fsync}`);
    this.#database.exec("CREATE TABLE IF NOT EXISTS raw (key INTEGER PRIMARY KEY, value TEXT NOT NULL)");
    this.#insert = this.#database.prepare("INSERT INTO raw VALUES (?, ?)");
    this.#select = this.#database.prepare("SELECT value FROM raw WHERE key = ?");
  }

  insert(text: string): number {
    this.#key += 1;
    this.#insert.run(this.#key, text);
    return this.#key;
  }

  select(key: number): string {
    return (this.#select.get(key) as { value: string }).value;
  }

  close(): void {
    this.#database.close();
  }
}

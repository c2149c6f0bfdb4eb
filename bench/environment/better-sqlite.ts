import { DatabaseSync, type SQLInputValue } from "node:sqlite";

/** The part of better-sqlite3 that SqliteSaver uses, on Node's own SQLite. */
export class BetterSqlite {
  readonly #database: DatabaseSync;

  constructor(file: string, synchronous: "normal" | "full" = "full") {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`PRAGMA synchronous = ${synchronous}`);
  }

  pragma(text: string): void {
    this.#database.prepare(`PRAGMA ${text}`).all();
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  prepare(sql: string): object {
    const statement = this.#database.prepare(sql);
    const bind = (values: unknown[]): SQLInputValue[] => values.map((value) => (value ?? null) as SQLInputValue);
    return {
      get: (...values: unknown[]) => statement.get(...bind(values)),
      all: (...values: unknown[]) => statement.all(...bind(values)),
      run: (...values: unknown[]) => statement.run(...bind(values)),
    };
  }

  transaction<T>(run: (argument: T) => void): (argument: T) => void {
    return (argument) => {
      this.#database.exec("BEGIN");
      try {
        run(argument);
        this.#database.exec("COMMIT");
      } catch (error) {
        this.#database.exec("ROLLBACK");
        throw error;
      }
    };
  }

  close(): void {
    this.#database.close();
  }
}

import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { State } from "../workloads/workload.ts";
import { bytesOf, bytesWritten, foldLog } from "./sizes.ts";
import type { System } from "./system.ts";

/** A prepared insert in a transaction of its own, with the driver and settings of the SQLite backend. */
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

  get lastKey(): number {
    return (this.#database.prepare("SELECT max(key) AS key FROM raw").get() as { key: number }).key;
  }

  select(key: number): string {
    return (this.#select.get(key) as { value: string }).value;
  }

  /** The newest ten rows. */
  newest(): StatementSync {
    return this.#database.prepare("SELECT key, value FROM raw ORDER BY key DESC LIMIT 10");
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  close(): void {
    this.#database.close();
  }
}

/** The physical limit on SQLite: what changed, or the whole state's JSON, in one insert. */
export function rawSqlite(what: "change" | "state"): System {
  return {
    name: what === "change" ? "raw insert of the change, SQLite" : "stringify + raw insert of the state, SQLite",
    home: "SQLite",
    kind: "floor",
    wholeUpTo: what === "change" ? 10_000 : 100,
    async open({ path, fsync }) {
      const table = new RawTable(path, fsync);
      return {
        thread: () => ({
          begin: (state) => void table.insert(JSON.stringify(state)),
          step({ state, changed, tasks }) {
            for (const task of tasks ?? []) table.insert(JSON.stringify(task));
            table.insert(what === "state" ? JSON.stringify(state) : changed);
          },
          ...(what === "state" && { latest: () => JSON.parse(table.select(table.lastKey)) as State }),
        }),
        async bytes() {
          table.exec("VACUUM");
          foldLog(path);
          return bytesOf(path);
        },
        written: async () => bytesWritten(),
        close: async () => table.close(),
      };
    },
  };
}

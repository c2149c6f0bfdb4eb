import type { Connection, Driver } from "./contract.ts";
import { faultOfCode } from "./contract.ts";

interface BunOptions {
  readonly readonly?: boolean;
  readonly readwrite?: boolean;
  readonly create?: boolean;
}

/** The `Database` of `bun:sqlite`. */
export type BunSqlite = new (path: string, options: BunOptions) => Connection;

/**
 * Makes a driver of the `Database` of `bun:sqlite`. Bun also has `node:sqlite`, which is used without asking.
 *
 * @example
 * import { Database } from "bun:sqlite";
 * const store = await open(await sqlite("agent.db", { driver: bunDriver(Database) }));
 */
export function bunDriver(Database: BunSqlite): Driver {
  return {
    name: "bun:sqlite",
    open(path, { readOnly }): Connection {
      const database = new Database(path, readOnly ? { readonly: true } : { readwrite: true, create: true });
      return {
        exec: (sql) => database.exec(sql),
        prepare(sql) {
          const statement = database.prepare(sql);
          return {
            run: (...values) => statement.run(...values),
            // Bun answers null where there is no row.
            get: (...values) => statement.get(...values) ?? undefined,
            all: (...values) => statement.all(...values),
          };
        },
        close: () => database.close(),
      };
    },
    fault(error) {
      const code = (error as { readonly errno?: unknown } | undefined)?.errno;
      return typeof code === "number" ? faultOfCode(code) : "other";
    },
  };
}

import { fs } from "../../../platform/node-builtins.ts";
import type { Connection, Driver } from "./contract.ts";
import { faultOfCode } from "./contract.ts";

type Row = Record<string, unknown>;

/** The default export of `libsql`. */
export type Libsql = new (path: string, options: { readonly timeout: number }) => Connection;

/** Errors of opening have SQLite's result code in their text alone. */
const codeInText = /: (\d+)"?\)?$/;

/**
 * Makes a driver of the default export of `libsql`, which comes compiled for the usual machines.
 *
 * @example
 * import Database from "libsql";
 * const store = await open(await sqlite("agent.db", { driver: libsqlDriver(Database) }));
 */
export function libsqlDriver(Database: Libsql): Driver {
  return {
    name: "libsql",
    open(path, { readOnly }): Connection {
      // libSQL ignores its own option for this: it would create the file, and write to it.
      if (readOnly && !fs.existsSync(path)) throw new CannotOpen(`${path} does not exist`);
      const database = new Database(path, { timeout: 0 });
      if (readOnly) database.exec("PRAGMA query_only = ON");
      return {
        exec: (sql) => database.exec(sql),
        prepare(sql) {
          const statement = database.prepare(sql);
          return {
            run: (...values) => statement.run(...values),
            get: (...values) => withBytes(statement.get(...values) as Row | undefined),
            all: (...values) => (statement.all(...values) as Row[]).map(withBytes),
          };
        },
        close: () => database.close(),
      };
    },
    fault(error) {
      if (error instanceof CannotOpen) return "cannot-open";
      const { rawCode, message } = (error ?? {}) as { readonly rawCode?: unknown; readonly message?: unknown };
      if (typeof rawCode === "number") return faultOfCode(rawCode);
      const [, code] = codeInText.exec(String(message)) ?? [];
      return code === undefined ? "other" : faultOfCode(Number(code));
    },
  };
}

class CannotOpen extends Error {}

/** Returns a row with its bytes as `Uint8Array`: `all` gives them as `ArrayBuffer`. */
function withBytes<Found extends Row | undefined>(row: Found): Found {
  if (row === undefined) return row;
  for (const key in row) {
    const value = row[key];
    if (value instanceof ArrayBuffer) (row as Row)[key] = new Uint8Array(value);
  }
  return row;
}

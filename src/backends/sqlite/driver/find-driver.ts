import { ThreadmarkError } from "../../../errors.ts";
import { type BetterSqlite, betterDriver } from "./better-driver.ts";
import type { Driver } from "./contract.ts";
import { type Libsql, libsqlDriver } from "./libsql-driver.ts";
import { nodeDriver } from "./node-driver.ts";

/** Returns the SQLite of the runtime itself where it has one, else the first that is installed: `better-sqlite3`, `libsql`. */
export async function findDriver(): Promise<Driver> {
  const own = nodeDriver();
  if (own !== undefined) return own;
  const better = await load("better-sqlite3");
  if ("found" in better) return betterDriver(better.found as BetterSqlite);
  const libsql = await load("libsql");
  if ("found" in libsql) return libsqlDriver(libsql.found as Libsql);
  const failures = [better, libsql].map(({ name, fault }) => `${name} ${fault}`).join(", ");
  throw new ThreadmarkError(
    "UNSUPPORTED",
    `SQLite: Node ${process.versions.node} has no node:sqlite, ${failures}. ` +
      "Use Node 22.13 or later, or run: npm install libsql",
    { cause: better.isMissing ? libsql.cause : better.cause },
  );
}

interface Failed {
  readonly name: string;
  readonly fault: string;
  readonly isMissing: boolean;
  readonly cause: unknown;
}

/**
 * Imports a package by its name. The packages are optional peers, absent at compile time. Bundlers leave the import alone: a
 * compiled package cannot be bundled.
 */
async function load(name: string): Promise<{ readonly found: unknown } | Failed> {
  try {
    return {
      found: ((await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as { readonly default: unknown })
        .default,
    };
  } catch (cause) {
    const isMissing = (cause as { readonly code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
    return { name, isMissing, fault: isMissing ? "is not installed" : "does not load", cause };
  }
}

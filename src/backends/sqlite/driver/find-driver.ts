import { ThreadmarkError } from "../../../errors.ts";
import type { BetterSqlite } from "./better-driver.ts";
import { betterDriver } from "./better-driver.ts";
import type { Driver } from "./contract.ts";
import { nodeDriver } from "./node-driver.ts";

/** Returns Node's own SQLite where it exists, else `better-sqlite3` where it is installed. */
export async function findDriver(): Promise<Driver> {
  return nodeDriver() ?? betterDriver(await importBetter());
}

async function importBetter(): Promise<BetterSqlite> {
  // Not a literal: the package is an optional peer and absent at compile time.
  const name: string = "better-sqlite3";
  try {
    return ((await import(name)) as { readonly default: BetterSqlite }).default;
  } catch (cause) {
    const missing = (cause as { readonly code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
    const fault = missing ? "better-sqlite3 is not installed" : "better-sqlite3 does not load";
    throw new ThreadmarkError(
      "UNSUPPORTED",
      `SQLite: Node ${process.versions.node} has no node:sqlite, and ${fault}. ` +
        "Use Node 22.13 or later, or run: npm install better-sqlite3@12",
      { cause },
    );
  }
}

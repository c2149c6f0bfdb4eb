import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { BetterSqlite } from "../../../bench/environment/better-sqlite.ts";

/**
 * LangGraph's own savers, from the packages that bench/ pins. They are installed when they are missing, and without running
 * scripts: better-sqlite3, a native module, is never built, since SqliteSaver gets Node's own SQLite here.
 */
const bench = fileURLToPath(new URL("../../../bench/", import.meta.url));

export async function installOriginalSavers(): Promise<void> {
  if (areInstalled()) return;
  // Test files run in processes of their own: one installs, the others wait for it.
  const lock = join(bench, "node_modules.installing");
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      await sleep(200);
    }
  }
  try {
    if (areInstalled()) return;
    const settings = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", ["ci", ...settings], { cwd: bench, stdio: "inherit" });
  } finally {
    rmSync(lock, { recursive: true });
  }
}

function areInstalled(): boolean {
  return ["sqlite", "postgres"].every((kind) =>
    existsSync(join(bench, `node_modules/@langchain/langgraph-checkpoint-${kind}/dist/index.js`)),
  );
}

export interface OriginalSaver {
  readonly saver: BaseCheckpointSaver;
  /** Runs SQL behind its back. */
  query(sql: string): Promise<void>;
  close(): Promise<void>;
}

async function load<T>(name: string): Promise<T> {
  const path = createRequire(`${bench}package.json`).resolve(name);
  // The package says the CommonJS file to `require`; both savers have their ESM beside it.
  return (await import(pathToFileURL(path.replace(/\.cjs$/, ".js")).href)) as T;
}

export async function sqliteSaver(file: string): Promise<OriginalSaver> {
  type Package = { readonly SqliteSaver: new (database: object) => BaseCheckpointSaver };
  const { SqliteSaver } = await load<Package>("@langchain/langgraph-checkpoint-sqlite");
  const database = new BetterSqlite(file);
  return {
    saver: new SqliteSaver(database),
    query: async (sql) => database.exec(sql),
    close: async () => database.close(),
  };
}

interface PostgresSaver extends BaseCheckpointSaver {
  readonly pool: { query(sql: string): Promise<unknown> };
  setup(): Promise<void>;
  end(): Promise<void>;
}

export async function postgresSaver(url: string, schema: string): Promise<OriginalSaver> {
  type Package = {
    readonly PostgresSaver: { fromConnString(url: string, options: { readonly schema: string }): PostgresSaver };
  };
  const { PostgresSaver } = await load<Package>("@langchain/langgraph-checkpoint-postgres");
  const saver = PostgresSaver.fromConnString(url, { schema });
  await saver.setup();
  return {
    saver,
    async query(sql) {
      await saver.pool.query(sql);
    },
    close: () => saver.end(),
  };
}

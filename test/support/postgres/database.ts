import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import pg from "pg";

export interface TestDatabase {
  readonly url: string;
  /** Runs one statement there, on a connection of its own. */
  query(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Until so many statements there wait for a lock. */
  waitForLocks(count: number): Promise<void>;
  drop(): Promise<void>;
}

/**
 * An empty database of the caller's own, on the server of this test run: the one that THREADMARK_TEST_POSTGRES names,
 * else one that the first caller starts and that ends with the run.
 */
export async function createDatabase(): Promise<TestDatabase> {
  const server = process.env.THREADMARK_TEST_POSTGRES ?? (await sharedServer());
  const name = `threadmark_${randomBytes(6).toString("hex")}`;
  await queryOn(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    query: (text, values) => queryOn(url.href, text, values),
    async waitForLocks(count) {
      const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      for (let waited = 0; (await queryOn(url.href, waiting)).length < count; waited++) {
        if (waited === 400) throw new Error("nothing came to wait for a lock");
        await sleep(25);
      }
    },
    async drop() {
      // A pool that has ended may still be closing its connections: cut then, they would fail with nobody to hear it.
      const open = `select from pg_stat_activity where datname = '${name}'`;
      for (let waited = 0; waited < 100 && (await queryOn(server, open)).length > 0; waited++) await sleep(20);
      await queryOn(server, `drop database ${name} with (force)`);
    },
  };
}

/** Runs one statement on a server, on a connection of its own. */
export async function queryOn(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  // A server that is killed under a test ends this connection too; the statement then rejects.
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Test files run in processes that do not know each other; the run they belong to is their parent. */
async function sharedServer(): Promise<string> {
  const run = isMainThread ? process.ppid : process.pid;
  const folder = join(tmpdir(), `threadmark-postgres-run-${run}`);
  if (makeFolder(folder)) {
    const supervisor = fileURLToPath(new URL("supervisor.ts", import.meta.url));
    spawn(process.execPath, [supervisor, String(run), folder], { detached: true, stdio: "ignore" }).unref();
  }
  for (let waited = 0; waited < 60_000; waited += 50) {
    if (existsSync(join(folder, "url"))) return readFileSync(join(folder, "url"), "utf8");
    if (existsSync(join(folder, "failed"))) throw new Error(readFileSync(join(folder, "failed"), "utf8"));
    await sleep(50);
  }
  throw new Error("the test server did not start within a minute");
}

/** True for the one who made it. */
function makeFolder(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type pg from "pg";

/** Moves what is in a SQLite file's log into the file. */
export function foldLog(file: string): void {
  const database = new DatabaseSync(file);
  database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
  database.close();
}

/** Bytes of all tables of a schema, with their indexes and the values kept apart. */
export async function schemaBytes(client: pg.Client, schema: string): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes from pg_class c
       join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`,
    [schema],
  );
  return Number(rows[0]?.bytes);
}

/** How far the server's log has been written. */
export async function walPosition(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>("select pg_current_wal_insert_lsn() - '0/0' as bytes");
  return Number(rows[0]?.bytes);
}

/** Bytes of a file and what belongs to it, or of a folder. */
export function bytesOf(path: string): number {
  const directory = join(path, "..");
  const name = path.slice(directory.length + 1);
  let sum = 0;
  for (const entry of readdirSync(directory)) {
    if (entry !== name && entry !== `${name}-wal` && entry !== `${name}-shm`) continue;
    const found = statSync(join(directory, entry));
    if (found.isFile()) sum += found.size;
    else
      for (const inner of readdirSync(join(directory, entry), { recursive: true }))
        sum += statSync(join(directory, entry, String(inner))).size;
  }
  return sum;
}

/** Bytes that this process has handed to the system for writing, where the system counts them. */
export function bytesWritten(): number | undefined {
  try {
    return Number(/^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

/**
 * The most resident memory that this program had, in MiB. Where the system tells it, of this program alone: what
 * `resourceUsage` gives begins with the memory of the process that started it.
 */
export function peakMemory(): number {
  const told = process.platform === "linux" && /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
  return (told ? Number(told[1]) : process.resourceUsage().maxRSS) / 1_024;
}

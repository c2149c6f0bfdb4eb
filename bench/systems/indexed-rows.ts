import { DatabaseSync } from "node:sqlite";
import type pg from "pg";

/** A thread as a program would keep it in a table of its own: what it is found by, and its facts as JSON. */
export interface IndexedRow {
  readonly id: string;
  readonly status: string;
  readonly tenant: string;
  readonly updated: number;
  readonly value: string;
}

/** The question that a page asks: all, one status or one tenant, the newest 20. */
export type Asked = "newest" | "waiting" | "tenant";

/** The physical limit: 20 rows of one table by an index that fits the question. */
export interface IndexedRows {
  page(asked: Asked): readonly unknown[] | Promise<readonly unknown[]>;
  close(): void;
}

const wheres: Readonly<Record<Asked, string>> = {
  newest: "",
  waiting: "where status = 'waiting'",
  tenant: "where tenant = 'tenant-5'",
};

const indexes = ["(updated)", "(status, updated)", "(tenant, updated)"];

const columns = "id text primary key, status text, tenant text, updated bigint, value text";

export function sqliteRows(path: string, rows: Iterable<IndexedRow>): IndexedRows {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = normal; CREATE TABLE raw (${columns}); BEGIN`);
  const insert = database.prepare("INSERT INTO raw VALUES (?, ?, ?, ?, ?)");
  for (const { id, status, tenant, updated, value } of rows) insert.run(id, status, tenant, updated, value);
  database.exec(`COMMIT; ${indexes.map((index) => `CREATE INDEX "${index}" ON raw ${index}`).join("; ")}`);
  const prepared = Object.fromEntries(
    Object.entries(wheres).map(([asked, where]) => [
      asked,
      database.prepare(`SELECT id, status, updated, value FROM raw ${where} ORDER BY updated DESC LIMIT 20`),
    ]),
  );
  return { page: (asked) => prepared[asked]?.all() ?? [], close: () => database.close() };
}

export async function postgresRows(
  client: pg.Client,
  schema: string,
  rows: Iterable<IndexedRow>,
): Promise<IndexedRows> {
  await client.query(`create schema if not exists "${schema}"; create table "${schema}".raw (${columns})`);
  const all = [...rows];
  for (let start = 0; start < all.length; start += 5_000) {
    const some = all.slice(start, start + 5_000);
    await client.query(
      `insert into "${schema}".raw select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])`,
      (["id", "status", "tenant", "updated", "value"] as const).map((name) => some.map((row) => row[name])),
    );
  }
  for (const index of indexes) await client.query(`create index on "${schema}".raw ${index}`);
  await client.query(`analyze "${schema}".raw`);
  return {
    async page(asked) {
      const text = `select id, status, updated, value from "${schema}".raw ${wheres[asked]} order by updated desc limit 20`;
      return (await client.query({ name: `${schema} ${asked}`, text })).rows;
    },
    close: () => undefined,
  };
}

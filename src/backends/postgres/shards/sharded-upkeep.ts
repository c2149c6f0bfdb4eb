import type { Sizes, Stored } from "../../../backend.ts";
import { isMissing } from "../connection/failure.ts";
import type { Server } from "../connection/server.ts";
import { statement } from "../connection/server.ts";
import { quote } from "../schema/layout.ts";
import { countsOf, lag, noSizes, tableNames } from "../upkeep.ts";
import { texts } from "../writing/arrays.ts";

/** The tables of the schemas $1. */
const tables = `pg_class c where c.relkind = 'r' and c.relname in (${tableNames})
  and c.relnamespace in (select to_regnamespace(name) from unnest($1::text[]) name)`;

/** Counts records and bytes by table over all shards, one after the other, and measures the tables with their indexes. */
export async function measureShards(server: Server, names: readonly string[]): Promise<Sizes> {
  const sizes = noSizes();
  for (const name of names) {
    try {
      const { rows } = await server.run(statement(countsOf(quote(name)).join(" union all ")), []);
      for (const [table, records, bytes] of rows as readonly [Stored, string, string][]) {
        const sum = sizes[table];
        sizes[table] = { records: sum.records + Number(records), bytes: sum.bytes + Number(bytes) };
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return { tables: sizes, ...(await measureShardsTotal(server, names)) };
}

/** Measures the tables of all shards with their indexes, without reading them. */
export async function measureShardsTotal(server: Server, names: readonly string[]): Promise<Omit<Sizes, "tables">> {
  const size = (await hasCitus(server))
    ? `case when exists (select from pg_dist_partition p where p.logicalrelid = c.oid)
        then citus_total_relation_size(c.oid) else pg_total_relation_size(c.oid) end`
    : "pg_total_relation_size(c.oid)";
  const text = `select coalesce(sum(${size}), 0), ${lag} from ${tables}`;
  const { rows } = await server.run(statement(text), [texts(names.map(quote))]);
  const [[total, behind]] = rows as readonly [readonly [string, string | null]];
  return behind === null ? { total: Number(total) } : { total: Number(total), behind: Number(behind) };
}

/** Returns whether the database has the extension Citus. */
async function hasCitus(server: Server): Promise<boolean> {
  const { rows } = await server.run(statement("select to_regclass('pg_catalog.pg_dist_partition') is not null"), []);
  return (rows as readonly [readonly [string]])[0][0] === "t";
}

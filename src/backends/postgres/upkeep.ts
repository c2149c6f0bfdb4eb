import { setTimeout as sleep } from "node:timers/promises";
import type { Size, Sizes, Stored } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { ServerFailure } from "../shared/failure.ts";
import { isMissing, toError } from "./connection/failure.ts";
import type { Server } from "./connection/server.ts";
import { statement } from "./connection/server.ts";
import { names } from "./schema/layout.ts";

const all: readonly Stored[] = [...names, "directory", "entry", "log"];
/** The tables that layouts of earlier versions have, too. */
const first: readonly Stored[] = all.filter((name) => !["value", "mail", "entry", "log"].includes(name));

/** The names of a schema's tables, as SQL. */
export const tableNames: string = [...all, "token", "migration", "log_cut", "log_end", "place"]
  .map((name) => `'${name}'`)
  .join(", ");

/** The store's tables in the schema $1, or their partitions. The schema may hold tables of others, too. */
const ours = `(
    with recursive known as (
      select oid, relkind from pg_class where relnamespace = to_regnamespace($1) and relkind in ('r', 'p')
        and relname in (${tableNames})
      union all
      select c.oid, c.relkind from known k join pg_inherits i on i.inhparent = k.oid join pg_class c on c.oid = i.inhrelid
      where c.relispartition
    )
    select oid from known where relkind = 'r'
  )`;

/**
 * Milliseconds by which a hot standby is behind its primary, null on a primary. A standby that has replayed everything it
 * got is not behind while it is connected; otherwise its last transaction tells.
 */
export const lag: string = `case when pg_is_in_recovery() then
    case when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() and exists (select from pg_stat_wal_receiver) then 0
    else ceil(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000) end
  end`;

/** Measures the tables with their indexes, without reading them. */
export async function measureTotal(server: Server, schema: string): Promise<Omit<Sizes, "tables">> {
  const { tables, ...whole } = await measure(server, schema, []);
  return whole;
}

/** Counts records and bytes by table, and measures the tables with their indexes. */
export async function measure(server: Server, schema: string, counted: readonly Stored[] = all): Promise<Sizes> {
  const whole = `select '', ${lag}, coalesce(sum(pg_total_relation_size(oid)), 0) from ${ours} o`;
  const tables = noSizes();
  let total = 0;
  let behind: number | undefined;
  try {
    const { rows } = await server.run(statement([...countsOf(schema, counted), whole].join(" union all ")), [schema]);
    for (const [name, records, bytes] of rows as readonly [Stored | "", string | null, string][]) {
      if (name === "") {
        total = Number(bytes);
        if (records !== null) behind = Number(records);
      } else tables[name] = { records: Number(records), bytes: Number(bytes) };
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
    if (counted === all) return measure(server, schema, first);
  }
  return behind === undefined ? { tables, total } : { tables, total, behind };
}

/** Returns the sizes of an empty store. */
export function noSizes(): Record<Stored, Size> {
  return Object.fromEntries(all.map((name) => [name, { records: 0, bytes: 0 }])) as Record<Stored, Size>;
}

/** Returns statements that each count the records and bytes of one of a schema's tables. */
export function countsOf(schema: string, counted: readonly Stored[] = all): readonly string[] {
  return counted.map((name) => `select '${name}', count(*), coalesce(sum(${bytesOf(name)}), 0) from ${schema}.${name}`);
}

/** Returns the SQL of a row's size in bytes. */
function bytesOf(name: Stored): string {
  if (name === "entry" || name === "log") return "octet_length(text)";
  const id = name === "directory" ? " + octet_length(id)" : "";
  return `coalesce(octet_length(text), 0) + coalesce(octet_length(bytes), 0)${id}`;
}

/**
 * Whether the role may vacuum a table, by the server's rules: the right MAINTAIN, where that exists, or owning the
 * table or the database.
 */
const mayVacuum = `(
    pg_has_role(c.relowner, 'usage')
    or exists (select from pg_database d where d.datname = current_database() and pg_has_role(d.datdba, 'usage'))
    or case when current_setting('server_version_num')::int4 >= 170000 then has_table_privilege(c.oid, 'maintain') end
  )`;

/**
 * Returns the names of the store's tables as SQL. Fails if the role may not vacuum one, which the server would skip
 * with only a warning.
 */
async function vacuumable(server: Server, schema: string): Promise<readonly string[]> {
  const tables = await tablesOf(server, schema);
  for (const { table, role, may } of tables) {
    if (may) continue;
    throw new ThreadmarkError(
      "BACKEND",
      `${server.address}: the role ${role} may not vacuum ${table}, in whose file what was deleted would stay: ` +
        "compact as its owner, or grant MAINTAIN on it to the role (Postgres 17 or later).",
    );
  }
  return tables.map(({ table }) => table);
}

async function tablesOf(
  server: Server,
  schema: string,
): Promise<readonly { readonly table: string; readonly role: string; readonly may: boolean }[]> {
  const text = `select format('%I.%I', n.nspname, c.relname), current_user, ${mayVacuum} is true
    from ${ours} o join pg_class c on c.oid = o.oid join pg_namespace n on n.oid = c.relnamespace order by 1`;
  const { rows } = await server.run(statement(text), [schema]);
  return (rows as readonly [string, string, string][]).map(([table, role, may]) => ({ table, role, may: may === "t" }));
}

/** Vacuums the tables that the role may vacuum, without locking them: the room is kept for later rows. */
export async function vacuumOnline(server: Server, schema: string): Promise<void> {
  for (const { table, may } of await tablesOf(server, schema)) if (may) await server.execute(`vacuum ${table}`);
}

/** Milliseconds that a request for a table may block commits, and that pass before the next request. */
const requestMilliseconds = 250;

/**
 * Waits until no other transaction uses a table. A rewrite that waited by itself would block every later commit for as
 * long as that transaction stays open; here the requests for the table are short.
 */
async function untilFree(server: Server, table: string, end: number): Promise<void> {
  for (;;) {
    try {
      return await server.execute(
        `set local lock_timeout = ${requestMilliseconds}; lock table ${table} in access exclusive mode`,
      );
    } catch (error) {
      const state = error instanceof ServerFailure ? error.state : "";
      // The owner of the database may vacuum a table that it may not lock.
      if (state === "42501") return;
      if (state !== "55P03") throw error;
      if (Date.now() > end) throw inUse(server.address, table, error);
    }
    await sleep(requestMilliseconds);
  }
}

function inUse(address: string, table: string, cause: unknown): ThreadmarkError {
  return new ThreadmarkError(
    "BUSY",
    `${address}: a transaction that is open elsewhere uses ${table}, which could not be rewritten. Records that were deleted ` +
      "are gone from the store, but not all of their room is given back. Run compact() again when it has ended, or use " +
      'compact: "online".',
    { cause },
  );
}

/**
 * Vacuums each table. `full` rewrites it, which reclaims the space and leaves no deleted row in its file, but locks
 * that table (or partition) meanwhile; without it the space is kept for later rows.
 */
export async function vacuum(server: Server, schema: string, full: boolean): Promise<void> {
  const tables = await vacuumable(server, schema);
  try {
    await server.run(statement(`delete from ${schema}.token where applied_at < now() - interval '10 minutes'`), []);
    await server.run(statement(`select ${schema}.cut_log()`), []);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  const end = Date.now() + server.patience;
  for (const table of tables) {
    if (full) await untilFree(server, table, end);
    await server.execute(`vacuum (${full ? "full, " : ""}analyze) ${table}`);
  }
  if (full) await widenTables(server, schema, end);
}

/**
 * Makes room for numbers of tapes up to 2^40 in tables that were made before layout 5. That rewrites a table, so it is done where
 * tables are rewritten anyway. The column of a partitioned table's key cannot change: such a table stays as it is.
 */
async function widenTables(server: Server, schema: string, end: number): Promise<void> {
  const text = `select format('%I.%I', n.nspname, c.relname), string_agg(format('alter column %I type int8', a.attname), ', ')
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
    where c.oid in ${ours} and not c.relispartition and a.attname in ('lineage', 'group') and a.atttypid = 'int4'::regtype
    group by 1 order by 1`;
  const { rows } = await server.run(statement(text), [schema]);
  for (const [table, columns] of rows as readonly [string, string][]) {
    await untilFree(server, table, end);
    await server.execute(`alter table ${table} ${columns}`);
  }
}

/** Reads every value in full, including out-of-line parts, and asks the server for invalid indexes. */
export async function inspect(server: Server, schema: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const name of all) {
    try {
      const bytes = name === "entry" || name === "log" ? "" : ", count(md5(bytes))";
      await server.run(statement(`select sum(length(text))${bytes} from ${schema}.${name}`), []);
    } catch (error) {
      if (isMissing(error) && first.includes(name)) return faults;
      if (isMissing(error)) continue;
      if (!(error instanceof ServerFailure) || !error.state.startsWith("XX")) throw error;
      faults.push(toError(`${schema}.${name}`, error).message);
    }
  }
  const { rows } = await server.run(
    statement(`select i.indexrelid::regclass::text from pg_index i join ${ours} o on o.oid = i.indrelid
      where not (i.indisvalid and i.indisready)`),
    [schema],
  );
  for (const [index] of rows as readonly [string][]) faults.push(`the index ${index} is not valid: reindex it`);
  return faults;
}

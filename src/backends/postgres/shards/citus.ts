import { ThreadmarkError } from "../../../errors.ts";
import type { Server } from "../connection/server.ts";
import { statement } from "../connection/server.ts";
import { quote } from "../schema/layout.ts";
import { tableNames } from "../upkeep.ts";
import { texts } from "../writing/arrays.ts";

/** The tables of the schemas $1, and how Citus has placed each: by the schema it is in, in another way, or not at all. */
const placed = `select n.nspname, c.relname,
    case when p.logicalrelid is null then 'local'
      when p.partmethod = 'n' and p.repmodel = 's' and p.colocationid > 0 then 'schema' else 'otherwise' end,
    coalesce(p.colocationid, 0)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_dist_partition p on p.logicalrelid = c.oid
  where c.relkind in ('r', 'p') and c.relname in (${tableNames}) and n.nspname in (select unnest($1::text[]))`;

type PlacedTable = readonly [schema: string, table: string, how: "local" | "schema" | "otherwise", colocation: string];

/**
 * Fails if Citus would answer wrongly and say nothing of it: where tables are not placed as this backend writes to them, where Citus
 * would make an insert on the coordinator, which reports rows as inserted that were there, and where a worker acknowledges commits
 * before it has synced them.
 */
export async function refuseUnfitCitus(server: Server, names: readonly string[], isSharded: boolean): Promise<void> {
  const { rows } = await server.run(statement(placed), [texts(names)]);
  const places = new Map<string, Set<string>>();
  for (const [schema, table, how, colocation] of rows as readonly PlacedTable[]) {
    if (how === "otherwise" || (how === "schema" && !isSharded)) throw misplaced(server, schema, table, isSharded);
    places.set(schema, (places.get(schema) ?? new Set()).add(colocation));
  }
  for (const [schema, colocations] of places) {
    if (colocations.size > 1) throw misplaced(server, schema, "some tables", isSharded);
  }
  const [distributed] = [...places].filter(([, colocations]) => !colocations.has("0"));
  if (distributed === undefined) return;
  await refuseInsertsByCoordinator(server, quote(distributed[0]));
  await refuseUnsyncedWorkers(server);
}

function misplaced(server: Server, schema: string, table: string, isSharded: boolean): ThreadmarkError {
  const next = isSharded
    ? `Undo it (undistribute_table), then \`select citus_schema_distribute('${schema}')\`.`
    : "Undo it (citus_schema_undistribute, undistribute_table), or use a store with `shards`.";
  return new ThreadmarkError(
    "UNSUPPORTED",
    `${server.address}: Citus has distributed ${table} of the schema ${schema} in a way in which it would lose commits. ${next}`,
  );
}

/** Asks how Citus would run inserts like those of a commit. */
async function refuseInsertsByCoordinator(server: Server, schema: string): Promise<void> {
  const columns = `insert into ${schema}.tail (lineage, "group", item, text)`;
  for (const insert of [
    `${columns} select 1, 1, 1, 'x' from (
        select true as held from ${schema}.meta where lineage = 1 and "group" = 1 and item = 1 and text = 'x' for no key update
      ) m on conflict do nothing`,
    `${columns} select o.lineage, 1, 1, 'x' from (select unnest('{1,2}'::int8[]) as lineage) o, ${schema}.place p on conflict do nothing`,
  ]) {
    const { rows } = await server.run(statement(`explain (costs off) ${insert}`), []);
    const plan = (rows as readonly (readonly [string])[]).map(([line]) => line).join("\n");
    if (plan.includes("Citus") && !plan.includes("INSERT/SELECT method")) continue;
    throw new ThreadmarkError(
      "UNSUPPORTED",
      `${server.address}: this version or setting of Citus makes inserts on the coordinator, which would lose commits. Use a version ` +
        "that is named in the docs of scale.",
      { cause: new Error(plan) },
    );
  }
}

async function refuseUnsyncedWorkers(server: Server): Promise<void> {
  const text =
    "select nodename || ':' || nodeport from run_command_on_workers('show synchronous_commit') where result = 'off'";
  const { rows } = await server.run(statement(text), []);
  const [worker] = rows as readonly (readonly [string])[];
  if (worker === undefined) return;
  throw new ThreadmarkError(
    "UNSUPPORTED",
    `${server.address}: the worker ${worker[0]} has synchronous_commit off and would lose acknowledged commits: turn it on there.`,
  );
}

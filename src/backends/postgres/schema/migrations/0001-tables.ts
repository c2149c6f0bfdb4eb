/**
 * A table for each kind of record. Keys begin with the lineage, so that a distributed Postgres keeps a lineage on one
 * shard. A value is in `text` or in `bytes`, as the engine passed it. `storage external` keeps long values out of line
 * and uncompressed: Postgres's own compression costs more than all else on a long value, and the engine has its own.
 *
 * Numbers of lineages and tapes are `int8`. In stores made before layout 5 they are `int4`: see `widenTables`.
 */

const narrow = ["meta", "tail", "mark", "rows", "net", "steps"];
const wide = ["id", "head", "write"];

export function createTables(schema: string, partitions: number): string {
  const value = "text text, bytes bytea";
  return [
    ...narrow.flatMap((name) =>
      table(name, `lineage int8, "group" int8, item int8, ${value}, primary key (lineage, "group", item)`, "lineage"),
    ),
    ...wide.flatMap((name) =>
      table(
        name,
        `lineage int8, "group" int8, item int8, part int8, ${value}, primary key (lineage, "group", item, part)`,
        "lineage",
      ),
    ),
    ...table("directory", `id text collate "C", ${value}, primary key (id)`, "id"),
    // The applied commits, for those whose answer was lost. Kept for minutes: see the function `apply`.
    ...table(
      "token",
      "lineage int8, token uuid, applied_at timestamptz not null default now(), primary key (lineage, token)",
      "lineage",
    ),
  ].join(";\n");

  function table(name: string, columns: string, by: string): string[] {
    const full = `${schema}.${name}`;
    const external =
      name === "token"
        ? []
        : [`alter table ${full} alter column text set storage external, alter column bytes set storage external`];
    if (partitions === 0) return [`create table ${full} (${columns})${parameters(name)}`, ...external];
    return [
      `create table ${full} (${columns}) partition by hash (${by})`,
      ...external,
      ...Array.from(
        { length: partitions },
        (_, remainder) =>
          `create table ${full}_${remainder} partition of ${full} ` +
          `for values with (modulus ${partitions}, remainder ${remainder})${parameters(name)}`,
      ),
    ];
  }
}

/**
 * Returns a table's storage parameters. Where rows are updated or short-lived, free space in the page lets Postgres
 * update a row without touching the index, and vacuum must run before a fifth of a large table (its default) is dead.
 */
function parameters(name: string): string {
  const often = "autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.2";
  if (name === "meta" || name === "head") return ` with (fillfactor = 70, ${often})`;
  if (name === "tail" || name === "token") return ` with (${often})`;
  return "";
}

/**
 * The function `apply`: any number of batches of any kind, in one statement.
 *
 * A plain statement sees one snapshot, taken before it waits for any lock. That is enough to check one record and
 * insert another, but not to delete a range: it would miss a row inserted by the transaction it waited for. Inside a
 * function every statement sees the latest commits, so `apply` locks the checked records first and reads afterwards.
 *
 * Operations are parallel arrays: `op` is the kind, `tab` the table, `ord` the batch. Kinds: 0 equals, 1 absent, 2
 * delete one, 3 delete items `item` to `part`, 4 insert, 5 put. `shape` holds each op * 100 + tab that occurs. The
 * result holds the refused batches.
 */

const narrow = ["meta", "tail", "mark", "rows", "net", "steps"];
const firstTables = [...narrow, "id", "head", "write", "directory"];

/** Additions of later migrations to the function. */
export interface LaterParts {
  /** The type of the numbers of lineages and tapes: `int8` since migration 5. */
  readonly numbers?: "int8";
  /** Returns a statement that refuses further batches by their inserts into `meta`. Since migration 3. */
  refuseMeta?(operations: string): string;
  /**
   * A table of one row in the same schema, which every insert joins: so Citus sees that all of it is at one place, and runs it there.
   * An insert of parameters alone is made by its coordinator, which takes a key that is taken for an inserted one.
   */
  readonly place?: string;
  /** Tables with wide keys; their codes follow those of the first tables. Since migration 4. */
  readonly tables?: readonly string[];
  /** Statements behind the writes, each for an operation on a table of another kind. Since migration 4. */
  readonly statements?: readonly {
    readonly op: number;
    readonly code: number;
    sql(operations: string): string;
  }[];
}

/** Returns the SQL of the function. */
export function createApply(schema: string, create = "create function", later: LaterParts = {}): string {
  const { numbers = "int4", refuseMeta, place, statements = [] } = later;
  const tables = [...firstTables, ...(later.tables ?? [])];
  const each = (build: (name: string, code: number) => string): string =>
    tables
      .map(build)
      .filter((part) => part !== "")
      .join("\n");
  const further = statements.map(({ op, code, sql }) => `${when(op, code, sql(operations(op, code)))}\n`).join("");
  return `
${create} ${schema}.apply(
  owners ${numbers}[], tokens uuid[], shape int4[], ops int4[], tabs int4[], ords int4[],
  lineages ${numbers}[], groups ${numbers}[], items int8[], parts int8[], ids text[], texts text[], blobs bytea[]
) returns int4[] language plpgsql as $body$
#variable_conflict use_column
declare
  -- Batches that are not to be written: applied by an earlier attempt, or refused.
  applied int4[];
  refused int4[] := '{}';
  skipped int4[];${place === undefined ? "" : declarations}
begin
  if current_setting('transaction_isolation') = 'repeatable read' then
    raise exception 'threadmark needs the isolation level read committed or serializable, not repeatable read'
      using errcode = '0A000';
  end if;

  -- An earlier attempt of the same commit that is still under way is waited for here, and found if it was applied.
${place === undefined ? enterTokens(schema) : enterTokensAt(schema, place)}
  skipped := applied;

${each((name, code) => when(0, code, lock(schema, name, code)))}
${each((name, code) => when(1, code, place === undefined ? reserve(schema, name, code) : reserveAt(schema, name, code, place)))}
${each((name, code) => when(0, code, compare(schema, name, code)))}
${each((name, code) => when(4, code, occupied(schema, name, code)))}${refuseMeta ? `\n${when(4, 0, refuseMeta(operations(4, 0)))}` : ""}
  skipped := applied || refused;

${each((name, code) => when(2, code, deleteOne(schema, name, code)))}
${each((name, code) => (name === "directory" ? "" : when(3, code, deleteRange(schema, name, code))))}
${each((name, code) => when(4, code, write(schema, name, 4, code, place)))}
${each((name, code) => when(5, code, write(schema, name, 5, code, place)))}
${further}${each((name, code) => when(1, code, unreserve(schema, name, code)))}

  if cardinality(refused) > 0 then
    delete from ${schema}.token t
    using (select unnest(owners) as lineage, unnest(tokens) as token, generate_series(0, cardinality(tokens) - 1) as ord) b
    where t.lineage = b.lineage and t.token = b.token and b.ord = any(refused);
  end if;
  delete from ${schema}.token where lineage = any(owners) and applied_at < now() - interval '10 minutes';
  return refused;
end
$body$`;
}

/** Returns the statement that finds the batches that an earlier attempt applied, and enters the tokens of the others. */
function enterTokens(schema: string): string {
  return `  with fresh as (
    insert into ${schema}.token (lineage, token) select unnest(owners), unnest(tokens)
    on conflict do nothing returning token
  )
  select coalesce(array_agg(ord), '{}') into applied
  from (select unnest(tokens) as token, generate_series(0, cardinality(tokens) - 1) as ord) b
  where not exists (select from fresh where fresh.token = b.token);`;
}

/** The variables of a shard's function. */
const declarations = `
  moment timestamptz := now();
  entered uuid;
  fresh uuid[] := '{}';
  -- Of the lines of the log: their count, the number of the last, the server's time.
  lines int8;
  last int8;
  clock int8;`;

/** Does as {@link enterTokens}. Citus runs no statement that writes inside another, nor defaults that are not constant. */
function enterTokensAt(schema: string, place: string): string {
  return `  for entered in
    insert into ${schema}.token (lineage, token, applied_at)
    select o.lineage, o.token, moment from (select unnest(owners) as lineage, unnest(tokens) as token) o${at(place)}
    on conflict do nothing returning token
  loop
    fresh := fresh || entered;
  end loop;
  select coalesce(array_agg(ord), '{}') into applied
  from (select unnest(tokens) as token, generate_series(0, cardinality(tokens) - 1) as ord) b
  where b.token <> all(fresh);`;
}

/** Returns the rest of a FROM clause that joins the table of one row. */
function at(place: string | undefined): string {
  return place === undefined ? "" : `, ${place} p`;
}

function when(op: number, code: number, statement: string): string {
  return `  if ${op * 100 + code} = any(shape) then\n    ${statement};\n  end if;`;
}

/** Returns the operations as rows, streamed: a function in FROM would first be written to a temporary store. */
function operations(op: number, code: number): string {
  return `(select ord, lineage, "group", item, part, id, text, bytes from (
      select unnest(ops) as op, unnest(tabs) as tab, unnest(ords) as ord, unnest(lineages) as lineage,
        unnest(groups) as "group", unnest(items) as item, unnest(parts) as part,
        unnest(ids) as id, unnest(texts) as text, unnest(blobs) as bytes
    ) listed where op = ${op} and tab = ${code} and ord <> all(skipped)) o`;
}

function columns(name: string): readonly string[] {
  if (name === "directory") return ["id"];
  return narrow.includes(name) ? ["lineage", `"group"`, "item"] : ["lineage", `"group"`, "item", "part"];
}

function list(name: string, alias?: string): string {
  return columns(name)
    .map((column) => (alias === undefined ? column : `${alias}.${column}`))
    .join(", ");
}

function same(name: string, left: string): string {
  return columns(name)
    .map((column) => `${left}.${column} = o.${column}`)
    .join(" and ");
}

/** Locks checked records in key order, so that commits that check the same records never deadlock. */
function lock(schema: string, name: string, code: number): string {
  return `perform 1 from ${schema}.${name} t, ${operations(0, code)} where ${same(name, "t")}
    order by ${list(name, "t")} for no key update of t`;
}

/**
 * Inserts a placeholder for each key that must be absent, until the end. No record has text and bytes at once, as a
 * placeholder does.
 */
function reserve(schema: string, name: string, code: number): string {
  return `with reserved as (
      insert into ${schema}.${name} (${list(name)}, text, bytes)
      select ${list(name, "o")}, '', '' from ${operations(1, code)} order by ${list(name, "o")}
      on conflict do nothing returning ${list(name)}
    )
    select refused || coalesce(array_agg(o.ord), '{}') into refused from ${operations(1, code)}
    where not exists (select from reserved r where ${same(name, "r")})`;
}

/** Does as {@link reserve}, by two statements. A placeholder that the second sees is this transaction's: no other commits one. */
function reserveAt(schema: string, name: string, code: number, place: string): string {
  return `insert into ${schema}.${name} (${list(name)}, text, bytes)
      select ${list(name, "o")}, '', '' from ${operations(1, code)}${at(place)} order by ${list(name, "o")}
      on conflict do nothing;
    select refused || coalesce(array_agg(o.ord), '{}') into refused
    from ${operations(1, code)} left join ${schema}.${name} t on ${same(name, "t")}
    where t.text is null or t.bytes is null`;
}

function unreserve(schema: string, name: string, code: number): string {
  return `skipped := applied;
    delete from ${schema}.${name} t using ${operations(1, code)}
    where ${same(name, "t")} and t.text is not null and t.bytes is not null`;
}

function compare(schema: string, name: string, code: number): string {
  return `select refused || coalesce(array_agg(o.ord), '{}') into refused
    from ${operations(0, code)} left join ${schema}.${name} t on ${same(name, "t")}
    where t.text is distinct from o.text or t.bytes is distinct from o.bytes`;
}

function occupied(schema: string, name: string, code: number): string {
  return `select refused || coalesce(array_agg(o.ord), '{}') into refused
    from ${operations(4, code)} join ${schema}.${name} t on ${same(name, "t")}`;
}

function deleteOne(schema: string, name: string, code: number): string {
  return `delete from ${schema}.${name} t using ${operations(2, code)} where ${same(name, "t")}`;
}

function deleteRange(schema: string, name: string, code: number): string {
  return `delete from ${schema}.${name} t using ${operations(3, code)}
    where t.lineage = o.lineage and t."group" = o."group" and t.item between o.item and o.part`;
}

/**
 * Writes records. An insert that meets a key inserted meanwhile fails together with the whole statement; a put
 * replaces.
 */
function write(schema: string, name: string, op: 4 | 5, code: number, place: string | undefined): string {
  const replace = `on conflict (${list(name)}) do update set text = excluded.text, bytes = excluded.bytes`;
  return `insert into ${schema}.${name} (${list(name)}, text, bytes)
    select ${list(name, "o")}, o.text, o.bytes from ${operations(op, code)}${at(place)} order by ${list(name, "o")}
    ${op === 5 ? replace : ""}`;
}

import type { Table } from "../../../backend.ts";
import { isWide, keyColumns, type NamedSchema } from "../schema/layout.ts";
import type { StatementForm, TargetColumn } from "./simple-batch.ts";

/** A parameter of a statement: its column and its type. */
type Field = readonly [name: string, type: string];

const typeOf = { text: "text", bytes: "bytea" } as const;

/**
 * Returns the statement of one batch. It is applied exactly when its row was inserted:
 * - `for no key update` waits for a transaction that changes the checked record, and then checks it again;
 * - the insert waits for a transaction that inserts the same key. Then nothing is inserted; or, where there are rows
 *   beside it, which must not be left without it, the statement fails.
 */
export function oneText(named: NamedSchema, form: StatementForm): string {
  const { check, beside } = form;
  const field = parametersOf(batchFields(form), 0);
  const held = check && checked(named, form, check, field);
  if (beside === undefined) {
    const from = held === undefined ? fromPlace(named) : ` from ${held} m`;
    return `${insert(named, form.insert, field)}${from}${where(named)} on conflict do nothing`;
  }
  return withBeside(named, insert(named, form.insert, field), held, besideText(named, form, beside), ", m");
}

/** Returns the statement of one batch with one row beside it. It needs no arrays, which halves the cost of that row. */
export function pairText(named: NamedSchema, form: StatementForm): string {
  const beside = form.beside as TargetColumn;
  const fields = batchFields(form);
  const field = parametersOf(fields, 0);
  const held = form.check && checked(named, form, form.check, field);
  const other = insert(named, beside, parametersOf(insertFields(beside), fields.length));
  return withBeside(named, insert(named, form.insert, field), held, other, " from m");
}

function withBeside(named: NamedSchema, own: string, held: string | undefined, beside: string, ifHeld: string): string {
  return held === undefined
    ? `with b as (${beside}) ${own}${where(named)}`
    : `with m as ${held}, b as (${beside}${ifHeld}) ${own} from m${where(named)}`;
}

function where({ durable }: NamedSchema): string {
  return durable === undefined ? "" : ` where ${durable}`;
}

/** Does as {@link where}, but evaluates the condition once for all rows. */
function whereOnce({ durable }: NamedSchema): string {
  return durable === undefined ? "" : ` where (select ${durable})`;
}

function fromPlace({ place }: NamedSchema): string {
  return place === undefined ? "" : ` from ${place} p`;
}

function andPlace({ place }: NamedSchema): string {
  return place === undefined ? "" : `, ${place} p`;
}

/** Returns a function from fields to their parameters, numbered after `after`. */
function parametersOf(fields: readonly Field[], after: number): (name: string) => string {
  const parameters = new Map(fields.map(([name, type], index) => [name, `$${after + index + 1}::${type}`]));
  return (name) => parameters.get(name) as string;
}

/**
 * Returns the statement of many batches of one form, all or nothing: it has no `on conflict` and does not return the
 * applied ones, which together would cost a fifth of it. A taken key, or a failed check (its row then has a null
 * lineage, which no row may have), fails all batches. That takes two writers on one thread, so it is rare.
 */
export function allText(named: NamedSchema, form: StatementForm): string {
  const before = form.beside === undefined ? "" : `with b as (${besideText(named, form, form.beside)}) `;
  const input = ` from (select ${unnested(batchFields(form), 0)}) o`;
  if (form.check === undefined)
    return `${before}${insert(named, form.insert, listed)}${input}${andPlace(named)}${whereOnce(named)}`;
  const guarded = (name: string): string => (name === "lineage" ? "case when m.held then o.lineage end" : listed(name));
  const held = checked(named, form, form.check, listed);
  return `${before}${insert(named, form.insert, guarded)}${input} left join lateral ${held} m on true${whereOnce(named)}`;
}

/**
 * Returns the statement of many batches of one form, each applied by itself; only for batches that insert one row. It
 * returns the groups of the applied batches.
 */
export function someText(named: NamedSchema, form: StatementForm): string {
  const held = form.check === undefined ? andPlace(named) : `, lateral ${checked(named, form, form.check, listed)} m`;
  const input = ` from (select ${unnested(batchFields(form), 0)}) o`;
  return `${insert(named, form.insert, listed)}${input}${held}${whereOnce(named)} on conflict do nothing returning "group"::int8`;
}

const listed = (name: string): string => `o.${name}`;

/**
 * Returns the parameters of a batch: the inserted key, the checked key (its lineage is the same) and value, then the
 * inserted value. The largest comes last, since the driver copies a message whenever it grows.
 */
function batchFields({ check, checksOwn, insert }: StatementForm): readonly Field[] {
  if (check === undefined) return insertFields(insert);
  const checkedKey: readonly Field[] = checksOwn
    ? []
    : [["checked_group", "int8"], ["checked_item", "int8"], ...partField(check.table, "checked_part")];
  return [...keyFields(insert), ...checkedKey, ["expected", typeOf[check.column]], valueField(insert)];
}

function insertFields(side: TargetColumn): readonly Field[] {
  return [...keyFields(side), valueField(side)];
}

function keyFields({ table }: TargetColumn): readonly Field[] {
  return [["lineage", "int8"], [`"group"`, "int8"], ["item", "int8"], ...partField(table, "part")];
}

function valueField({ column }: TargetColumn): Field {
  return ["value", typeOf[column]];
}

function partField(table: Table, name: string): readonly Field[] {
  return isWide(table) ? [[name, "int8"]] : [];
}

/** Returns the insert of the rows beside a batch's own: their parameters come last, as arrays. */
function besideText(named: NamedSchema, form: StatementForm, beside: TargetColumn): string {
  return `${insert(named, beside, listed)} from (select ${unnested(insertFields(beside), batchFields(form).length)}) o`;
}

function unnested(fields: readonly Field[], after: number): string {
  return fields.map(([name, type], index) => `unnest($${after + index + 1}::${type}[]) as ${name}`).join(", ");
}

function insert({ schema }: NamedSchema, { table, column }: TargetColumn, field: (name: string) => string): string {
  const columns = keyColumns(table);
  return `insert into ${schema}.${table} (${columns.join(", ")}, ${column})
    select ${columns.map(field).join(", ")}, ${field("value")}`;
}

/**
 * Returns a subquery that locks the checked record. A locking subquery runs once for each batch, through the primary
 * key, whatever the planner prefers.
 */
function checked(
  { schema }: NamedSchema,
  { checksOwn }: StatementForm,
  { table, column }: TargetColumn,
  field: (name: string) => string,
): string {
  const group = field(checksOwn ? "lineage" : "checked_group");
  const item = field(checksOwn ? `"group"` : "checked_item");
  const part = isWide(table) ? ` and part = ${field("checked_part")}` : "";
  return `(
      select true as held from ${schema}.${table}
      where lineage = ${field("lineage")} and "group" = ${group} and item = ${item}${part}
        and ${column} = ${field("expected")}
      for no key update
    )`;
}

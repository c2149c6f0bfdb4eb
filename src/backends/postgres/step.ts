import type { Batch, Entry, Key, Table, Value } from "../../backend.ts";
import { bigints, byteas, integers, texts } from "./arrays.ts";
import { isIncomplete, isTaken } from "./failure.ts";
import { codeOf, isWide, keyColumns } from "./layout.ts";
import type { QueryResult } from "./pool.ts";
import type { Server, Statement } from "./server.ts";
import { statement } from "./server.ts";

/**
 * The commit of every step: at most one record that must hold a value, and one record inserted. It is one plain statement
 * for any number of such batches, which the primary key and a row lock make safe:
 * - `for no key update` waits for whoever changes the checked record, and looks at it again then;
 * - whoever inserts the same key is waited for, and the second inserts nothing.
 * So a batch is applied exactly when its row was inserted, and nothing can be left half done.
 *
 * Many at once are first tried all or nothing: without `on conflict` and without telling which were applied, which
 * together cost a fifth of the statement. A key that is taken, or a check that does not hold (its row then has no
 * lineage, which no row may lack), fails all of it: two writers on one thread, so rare. It is run again, one by one.
 */
export interface Step {
  /** Batches of one shape go together: the tables, and whether values are text or bytes. */
  readonly shape: Shape;
  readonly check: Record | undefined;
  readonly insert: Record;
}

interface Record {
  readonly key: Key;
  readonly value: Value;
}

/** There is one object for each shape. */
export interface Shape {
  readonly name: string;
  readonly check: Side | undefined;
  readonly insert: Side;
}

interface Side {
  readonly table: Table;
  readonly column: "text" | "bytes";
}

/** The batch as a step, or undefined if it is anything else. */
export function stepOf({ checks, deletes, inserts, puts }: Batch): Step | undefined {
  if (inserts?.length !== 1 || (checks?.length ?? 0) > 1 || deletes?.length || puts?.length) return undefined;
  const insert = inserts[0] as Entry;
  const check = checks?.[0];
  if (insert.key.table === "directory") return undefined;
  if (check === undefined) return { shape: shapeOf(undefined, insert as Record), check, insert: insert as Record };
  if (check.value === undefined || check.key.table === "directory") return undefined;
  if (check.key.lineage !== insert.key.lineage) return undefined;
  return {
    shape: shapeOf(check as Record, insert as Record),
    check: check as Record,
    insert: insert as Record,
  };
}

const shapes = new Map<number, Shape>();

function shapeOf(check: Record | undefined, insert: Record): Shape {
  const number = (check === undefined ? 0 : 1 + sideNumber(check)) * 32 + sideNumber(insert);
  let shape = shapes.get(number);
  if (shape === undefined) {
    shape = { name: String(number), check: check && sideOf(check), insert: sideOf(insert) };
    shapes.set(number, shape);
  }
  return shape;
}

function sideNumber({ key, value }: Record): number {
  return codeOf(key.table) * 2 + (typeof value === "string" ? 0 : 1);
}

function sideOf({ key, value }: Record): Side {
  return { table: key.table, column: typeof value === "string" ? "text" : "bytes" };
}

/** Runs steps of one shape, one attempt; tells which were applied. */
export class StepRunner {
  readonly #server: Server;
  readonly #schema: string;
  readonly #statements = new Map<string, Statement>();

  constructor(server: Server, schema: string) {
    this.#server = server;
    this.#schema = schema;
  }

  async run(steps: readonly Step[]): Promise<readonly boolean[]> {
    const [first] = steps as readonly [Step];
    if (steps.length === 1) {
      const { rowCount } = await this.#server.run(this.#statement("one", first.shape), scalars(first));
      return [rowCount === 1];
    }
    const values = arrays(steps);
    try {
      await this.#server.run(this.#statement("all", first.shape), values);
      return steps.map(() => true);
    } catch (error) {
      if (!isTaken(error) && !isIncomplete(error)) throw error;
      return appliedOf(steps, await this.#server.run(this.#statement("some", first.shape), values));
    }
  }

  #statement(kind: "one" | "all" | "some", shape: Shape): Statement {
    const name = `${kind}:${shape.name}`;
    let found = this.#statements.get(name);
    if (found === undefined) {
      found = statement(kind === "one" ? singleText(this.#schema, shape) : manyText(this.#schema, shape, kind));
      this.#statements.set(name, found);
    }
    return found;
  }
}

/** The parameters of a step: the inserted key and value, then the checked key (its lineage is the same) and value. */
function fieldsOf({ check, insert }: Shape): readonly (readonly [name: string, type: string])[] {
  const type = { text: "text", bytes: "bytea" };
  const part = (table: Table, name: string): (readonly [string, string])[] => (isWide(table) ? [[name, "int8"]] : []);
  const fields: (readonly [string, string])[] = [
    ["lineage", "int4"],
    [`"group"`, "int4"],
    ["item", "int8"],
    ...part(insert.table, "part"),
    ["value", type[insert.column]],
  ];
  if (check === undefined) return fields;
  return [
    ...fields,
    ["checked_group", "int4"],
    ["checked_item", "int8"],
    ...part(check.table, "checked_part"),
    ["expected", type[check.column]],
  ];
}

function singleText(schema: string, shape: Shape): string {
  const parameters = new Map(fieldsOf(shape).map(([name, type], index) => [name, `$${index + 1}::${type}`]));
  const field = (name: string): string => parameters.get(name) as string;
  const from = shape.check === undefined ? "" : ` from ${checked(schema, shape.check, field)} m`;
  return `${insert(schema, shape, field)}${from} on conflict do nothing`;
}

function manyText(schema: string, shape: Shape, kind: "all" | "some"): string {
  const columns = fieldsOf(shape).map(([name, type], index) => `unnest($${index + 1}::${type}[]) as ${name}`);
  const field = (name: string): string => `o.${name}`;
  const source = ` from (select ${columns.join(", ")}) o`;
  if (kind === "some") {
    const join = shape.check === undefined ? "" : `, lateral ${checked(schema, shape.check, field)} m`;
    return `${insert(schema, shape, field)}${source}${join} on conflict do nothing returning "group"`;
  }
  if (shape.check === undefined) return insert(schema, shape, field) + source;
  const guarded = (name: string): string => (name === "lineage" ? "case when m.held then o.lineage end" : field(name));
  return `${insert(schema, shape, guarded)}${source} left join lateral ${checked(schema, shape.check, field)} m on true`;
}

function insert(schema: string, { insert: { table, column } }: Shape, field: (name: string) => string): string {
  const columns = keyColumns(table);
  return `insert into ${schema}.${table} (${columns.join(", ")}, ${column})
    select ${columns.map(field).join(", ")}, ${field("value")}`;
}

/** A subquery that takes a lock is run once a step, through the primary key, whatever the planner thinks of it. */
function checked(schema: string, { table, column }: Side, field: (name: string) => string): string {
  const part = isWide(table) ? ` and part = ${field("checked_part")}` : "";
  return `(
      select true as held from ${schema}.${table}
      where lineage = ${field("lineage")} and "group" = ${field("checked_group")} and item = ${field("checked_item")}${part}
        and ${column} = ${field("expected")}
      for no key update
    )`;
}

function scalars({ check, insert: { key, value } }: Step): readonly unknown[] {
  const values: unknown[] = [key.lineage, key.group, key.item];
  if (isWide(key.table)) values.push(key.part);
  values.push(value);
  if (check === undefined) return values;
  values.push(check.key.group, check.key.item);
  if (isWide(check.key.table)) values.push(check.key.part);
  values.push(check.value);
  return values;
}

function arrays(steps: readonly Step[]): readonly unknown[] {
  const [{ shape }] = steps as readonly [Step];
  const inserted = steps.map((step) => step.insert);
  const lineages = integers(inserted.map(({ key }) => key.lineage));
  if (shape.check === undefined) return [lineages, ...columns(inserted, shape.insert.table)];
  const checked = steps.map((step) => step.check as Record);
  return [lineages, ...columns(inserted, shape.insert.table), ...columns(checked, shape.check.table)];
}

function columns(records: readonly Record[], table: Table): readonly Buffer[] {
  const groups: number[] = [];
  const items: number[] = [];
  const values: Value[] = [];
  for (const { key, value } of records) {
    groups.push(key.group);
    items.push(key.item);
    values.push(value);
  }
  const parts = isWide(table) ? [bigints(records.map(({ key }) => key.part))] : [];
  return [integers(groups), bigints(items), ...parts, array(values)];
}

function array(values: readonly Value[]): Buffer {
  return typeof values[0] === "string" ? texts(values as string[]) : byteas(values as Uint8Array[]);
}

/** No two batches of one commit touch the same group, so the groups inserted tell the batches. */
function appliedOf(steps: readonly Step[], { rows }: QueryResult): readonly boolean[] {
  if (rows.length === steps.length) return steps.map(() => true);
  const groups = new Set((rows as readonly [string][]).map(([group]) => Number(group)));
  return steps.map(({ insert }) => groups.has(insert.key.group));
}

import type { Key, Read, Table } from "../../../backend.ts";
import { bound, isWide, lastInteger, names, sameKey } from "../schema/layout.ts";
import { bigints, integers, texts } from "../writing/arrays.ts";

/** The reads of one kind on one table: one branch of a statement. */
export interface Branch {
  /** What decides the branch's text. */
  readonly shape: string;
  /** The text; `parameter` gives the next placeholder, in the order of `values`. */
  sql(schema: string, parameter: () => string): string;
  readonly values: readonly unknown[];
}

/** A value of each read of a branch: a scalar where there is one read, else an array. */
interface Column {
  readonly name: string;
  readonly type: "int4" | "int8" | "text";
  readonly values: readonly (number | string | null)[];
}

type Scan = Extract<Read, { scan: unknown }>;
type List = Extract<Read, { list: unknown }>;

/** Reads of one kind, with their places in the list. */
class Gathered<T> {
  readonly places: number[] = [];
  readonly reads: T[] = [];

  add(place: number, read: T): void {
    this.places.push(place);
    this.reads.push(read);
  }
}

export function branchesOf(reads: readonly Read[]): readonly Branch[] {
  const gets = new Map<Table, Gathered<Key>>();
  const scans = { up: new Map<Table, Gathered<Scan>>(), down: new Map<Table, Gathered<Scan>>() };
  const found = new Gathered<string>();
  const lists = new Gathered<List["list"]>();
  for (const [place, read] of reads.entries()) {
    if ("list" in read) lists.add(place, read.list);
    else if ("scan" in read) gather(read.reverse === true ? scans.down : scans.up, read.scan.table).add(place, read);
    else if (read.get.table === "directory") found.add(place, read.get.id);
    else gather(gets, read.get.table).add(place, read.get);
  }
  const branches: Branch[] = [];
  for (const table of names) {
    const [get, up, down] = [gets.get(table), scans.up.get(table), scans.down.get(table)];
    if (get !== undefined) branches.push(getBranch(table, get));
    if (up !== undefined) branches.push(scanBranch(table, up, "asc"));
    if (down !== undefined) branches.push(scanBranch(table, down, "desc"));
  }
  if (found.places.length > 0) branches.push(directoryBranch(found));
  if (lists.places.length > 0) branches.push(listBranch(lists));
  return branches;
}

function gather<T>(tables: Map<Table, Gathered<T>>, table: Table): Gathered<T> {
  let gathered = tables.get(table);
  if (gathered === undefined) {
    gathered = new Gathered();
    tables.set(table, gathered);
  }
  return gathered;
}

function getBranch(table: Table, { places, reads }: Gathered<Key>): Branch {
  const columns: Column[] = [
    { name: "place", type: "int4", values: places },
    { name: "lineage", type: "int4", values: reads.map((key) => key.lineage) },
    { name: `"group"`, type: "int4", values: reads.map((key) => key.group) },
    { name: "item", type: "int8", values: reads.map((key) => key.item) },
  ];
  if (isWide(table)) columns.push({ name: "part", type: "int8", values: reads.map((key) => key.part) });
  return branch(`get:${table}`, columns, (schema, source) => {
    const part = isWide(table) ? "t.part" : "0::int8";
    return `select o.place, t.item, ${part}, null::text, t.text, t.bytes
      from ${source} join ${schema}.${table} t on ${sameKey(table, "t", "o")}`;
  });
}

function scanBranch(table: Table, { places, reads }: Gathered<Scan>, order: "asc" | "desc"): Branch {
  const columns: Column[] = [
    { name: "place", type: "int4", values: places },
    { name: "lineage", type: "int4", values: reads.map(({ scan }) => scan.lineage) },
    { name: `"group"`, type: "int4", values: reads.map(({ scan }) => scan.group) },
    { name: "first", type: "int8", values: reads.map(({ scan }) => bound(scan.from ?? 0)) },
    { name: "last", type: "int8", values: reads.map(({ scan }) => bound(scan.to ?? lastInteger)) },
    { name: "most", type: "int8", values: reads.map(({ limit }) => bound(limit ?? lastInteger)) },
  ];
  const part = isWide(table) ? "part" : "0::int8 as part";
  const by = isWide(table) ? `item ${order}, part ${order}` : `item ${order}`;
  return branch(`scan:${table}:${order}`, columns, (schema, source) => {
    return `select o.place, t.item, t.part, null::text, t.text, t.bytes
      from ${source} cross join lateral (
        select item, ${part}, text, bytes from ${schema}.${table}
        where lineage = o.lineage and "group" = o."group" and item between o.first and o.last
        order by lineage ${order}, "group" ${order}, ${by} limit o.most
      ) t`;
  });
}

function directoryBranch({ places, reads }: Gathered<string>): Branch {
  const columns: Column[] = [
    { name: "place", type: "int4", values: places },
    { name: "id", type: "text", values: reads },
  ];
  return branch("get:directory", columns, (schema, source) => {
    return `select o.place, null::int8, null::int8, t.id, t.text, t.bytes
      from ${source} join ${schema}.directory t on t.id = o.id`;
  });
}

function listBranch({ places, reads }: Gathered<List["list"]>): Branch {
  const columns: Column[] = [
    { name: "place", type: "int4", values: places },
    // No id is empty, and none is after the last code point 512 / 4 times over.
    { name: "first", type: "text", values: reads.map(({ prefix }) => prefix ?? "") },
    { name: "beyond", type: "text", values: reads.map(({ prefix }) => successor(prefix ?? "") ?? beyondAll) },
    { name: "after", type: "text", values: reads.map(({ after }) => after ?? "") },
    { name: "most", type: "int8", values: reads.map(({ limit }) => bound(limit)) },
  ];
  return branch("list", columns, (schema, source) => {
    return `select o.place, null::int8, null::int8, t.id, t.text, t.bytes
      from ${source} cross join lateral (
        select id, text, bytes from ${schema}.directory
        where id >= o.first and id > o.after and id < o.beyond order by id limit o.most
      ) t`;
  });
}

const lastCodePoint = 0x10_ffff;
const beyondAll = String.fromCodePoint(lastCodePoint).repeat(129);

/** The least string greater than all that start with `prefix`; undefined when there is none. UTF-8 orders by code point. */
function successor(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.at(-1) === lastCodePoint) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}

function branch(kind: string, columns: readonly Column[], sql: (schema: string, source: string) => string): Branch {
  const single = columns[0]?.values.length === 1;
  return {
    shape: single ? kind : `${kind}:many`,
    sql(schema, parameter) {
      const fields = columns.map(({ name, type }) =>
        single ? `${parameter()}::${type} as ${name}` : `unnest(${parameter()}::${type}[]) as ${name}`,
      );
      return sql(schema, `(select ${fields.join(", ")}) o`);
    },
    values: columns.map(({ type, values }) => {
      if (single) return values[0];
      if (type === "text") return texts(values as string[]);
      return type === "int4" ? integers(values as number[]) : bigints(values as number[]);
    }),
  };
}

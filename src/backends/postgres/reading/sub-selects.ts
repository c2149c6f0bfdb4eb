import type { Key, LogRange, Read, Table } from "../../../backend.ts";
import { afterPrefix, lastInteger, lastItem } from "../../shared/key-bounds.ts";
import { startOf } from "../../shared/ordered/entries.ts";
import { bound, isWide, names, sameKey } from "../schema/layout.ts";
import { bigints, integers, texts } from "../writing/arrays.ts";
import { positionOf } from "./log-position.ts";

/** The reads of one kind on one table, as one part of a statement. */
export interface SubSelect {
  /** Sub-selects of the same form have the same text. */
  readonly form: string;
  /** Returns the text; `parameter` returns the next placeholder, in the order of `values`. */
  sql(schema: string, parameter: () => string): string;
  readonly values: readonly unknown[];
}

/** The values of one column for all reads of a sub-select: a scalar for one read, else an array. */
interface Column {
  readonly name: string;
  readonly type: "int4" | "int8" | "text";
  readonly values: readonly (number | string | null)[];
}

type Scan = Extract<Read, { scan: unknown }>;
type List = Extract<Read, { list: unknown }>;
type Find = Extract<Read, { find: unknown }>;
type Tally = Extract<Read, { tally: unknown }>;

/** Reads of one kind, with their indexes in the list. */
class Gathered<T> {
  readonly indexes: number[] = [];
  readonly reads: T[] = [];

  add(index: number, read: T): void {
    this.indexes.push(index);
    this.reads.push(read);
  }
}

/** Returns the sub-selects of all reads. `numbered`: the schema is a shard, whose log is numbered. */
export function subSelectsOf(reads: readonly Read[], numbered: boolean): readonly SubSelect[] {
  const gets = new Map<Table, Gathered<Key>>();
  const scans = { up: new Map<Table, Gathered<Scan>>(), down: new Map<Table, Gathered<Scan>>() };
  const found = new Gathered<string>();
  const lists = new Gathered<List["list"]>();
  const finds = { up: new Gathered<Find>(), down: new Gathered<Find>(), tapes: new Gathered<Find>() };
  const tallies = new Gathered<Tally["tally"]>();
  const logs = { first: new Gathered<LogRange>(), newest: new Gathered<LogRange>() };
  for (const [index, read] of reads.entries()) {
    if ("list" in read) lists.add(index, read.list);
    else if ("scan" in read) gather(read.reverse === true ? scans.down : scans.up, read.scan.table).add(index, read);
    else if ("find" in read) {
      const kind = read.reverse !== true ? "up" : read.find.tapes ? "tapes" : "down";
      finds[kind].add(index, read);
    } else if ("tally" in read) tallies.add(index, read.tally);
    else if ("log" in read) (read.log.newest ? logs.newest : logs.first).add(index, read.log);
    else if (read.get.table === "directory") found.add(index, read.get.id);
    else gather(gets, read.get.table).add(index, read.get);
  }
  const selects: SubSelect[] = [];
  for (const table of names) {
    const [get, up, down] = [gets.get(table), scans.up.get(table), scans.down.get(table)];
    if (get !== undefined) selects.push(getSelect(table, get));
    if (up !== undefined) selects.push(scanSelect(table, up, "asc"));
    if (down !== undefined) selects.push(scanSelect(table, down, "desc"));
  }
  if (found.indexes.length > 0) selects.push(directorySelect(found));
  if (lists.indexes.length > 0) selects.push(listSelect(lists));
  if (finds.up.indexes.length > 0) selects.push(findSelect(finds.up, "asc"));
  if (finds.down.indexes.length > 0) selects.push(findSelect(finds.down, "desc"));
  if (finds.tapes.indexes.length > 0) selects.push(findSelect(finds.tapes, "desc", true));
  if (tallies.indexes.length > 0) selects.push(tallySelect(tallies));
  const selectLog = numbered ? numberedLogSelect : logSelect;
  if (logs.first.indexes.length > 0) selects.push(selectLog("log", logs.first, "asc"));
  if (logs.newest.indexes.length > 0) selects.push(selectLog("newest log", logs.newest, "desc"));
  return selects;
}

function gather<T>(tables: Map<Table, Gathered<T>>, table: Table): Gathered<T> {
  let gathered = tables.get(table);
  if (gathered === undefined) {
    gathered = new Gathered();
    tables.set(table, gathered);
  }
  return gathered;
}

function getSelect(table: Table, { indexes, reads }: Gathered<Key>): SubSelect {
  const columns: Column[] = [
    { name: "read_number", type: "int4", values: indexes },
    { name: "lineage", type: "int8", values: reads.map((key) => key.lineage) },
    { name: `"group"`, type: "int8", values: reads.map((key) => key.group) },
    { name: "item", type: "int8", values: reads.map((key) => key.item) },
  ];
  if (isWide(table)) columns.push({ name: "part", type: "int8", values: reads.map((key) => key.part) });
  return subSelect(`get:${table}`, columns, (schema, input) => {
    const part = isWide(table) ? "t.part" : "0::int8";
    return `select o.read_number, t.item, ${part}, null::text, t.text, t.bytes
      from ${input} join ${schema}.${table} t on ${sameKey(table, "t", "o")}`;
  });
}

function scanSelect(table: Table, { indexes, reads }: Gathered<Scan>, order: "asc" | "desc"): SubSelect {
  const columns: Column[] = [
    { name: "read_number", type: "int4", values: indexes },
    { name: "lineage", type: "int8", values: reads.map(({ scan }) => scan.lineage) },
    { name: `"group"`, type: "int8", values: reads.map(({ scan }) => scan.group) },
    { name: "first", type: "int8", values: reads.map(({ scan }) => bound(scan.from ?? 0)) },
    { name: "last", type: "int8", values: reads.map(({ scan }) => bound(scan.to ?? lastItem(table))) },
    { name: "most", type: "int8", values: reads.map(({ limit }) => bound(limit ?? lastInteger)) },
  ];
  const part = isWide(table) ? "part" : "0::int8 as part";
  const by = isWide(table) ? `item ${order}, part ${order}` : `item ${order}`;
  return subSelect(`scan:${table}:${order}`, columns, (schema, input) => {
    return `select o.read_number, t.item, t.part, null::text, t.text, t.bytes
      from ${input} cross join lateral (
        select item, ${part}, text, bytes from ${schema}.${table}
        where lineage = o.lineage and "group" = o."group" and item between o.first and o.last
        order by lineage ${order}, "group" ${order}, ${by} limit o.most
      ) t`;
  });
}

function directorySelect({ indexes, reads }: Gathered<string>): SubSelect {
  const columns: Column[] = [
    { name: "read_number", type: "int4", values: indexes },
    { name: "id", type: "text", values: reads },
  ];
  return subSelect("get:directory", columns, (schema, input) => {
    return `select o.read_number, null::int8, null::int8, t.id, t.text, t.bytes
      from ${input} join ${schema}.directory t on t.id = o.id`;
  });
}

function listSelect({ indexes, reads }: Gathered<List["list"]>): SubSelect {
  const columns: Column[] = [
    { name: "read_number", type: "int4", values: indexes },
    // No id is empty, and none sorts after 129 times the last code point, since an id has at most 512 bytes.
    { name: "first", type: "text", values: reads.map(({ prefix }) => prefix ?? "") },
    { name: "beyond", type: "text", values: reads.map(({ prefix }) => afterPrefix(prefix ?? "") ?? beyondAll) },
    { name: "after", type: "text", values: reads.map(({ after }) => after ?? "") },
    { name: "most", type: "int8", values: reads.map(({ limit }) => bound(limit)) },
  ];
  return subSelect("list", columns, (schema, input) => {
    return `select o.read_number, null::int8, null::int8, t.id, t.text, t.bytes
      from ${input} cross join lateral (
        select id, text, bytes from ${schema}.directory
        where id >= o.first and id > o.after and id < o.beyond order by id limit o.most
      ) t`;
  });
}

/**
 * Selects entries: item = lineage, part = tape, id = text. With `tapes`, also the newest records of their tapes, with a
 * value: id = 'meta', or the item of a record of `tail`.
 */
function findSelect({ indexes, reads }: Gathered<Find>, order: "asc" | "desc", tapes = false): SubSelect {
  const down = order === "desc";
  const starts = reads.map(({ find }) => startOf(find, down));
  const limits = reads.map(({ find }) => bound(find.limit));
  const columns: Column[] = [
    { name: "read_number", type: "int4", values: indexes },
    { name: "start_text", type: "text", values: starts.map(({ text }) => text) },
    { name: "start_lineage", type: "int8", values: starts.map(({ lineage }) => lineage) },
    { name: "start_tape", type: "int8", values: starts.map(({ tape }) => tape) },
    { name: "last", type: "text", values: reads.map(({ find }) => (down ? find.from : find.to)) },
    { name: "most", type: "int8", values: limits },
  ];
  if (tapes) columns.push({ name: "ending", type: "int4", values: reads.map(({ find }) => find.tapes ?? 0) });
  const ceiling = ceilings.find((most) => limits.every((limit) => limit <= most));
  const form = `find:${order}${tapes ? ":tapes" : ""}:${ceiling ?? "all"}`;
  const wanted = Math.max(...limits);
  const select = (schema: string, input: string, most: string): string => {
    const entries = `select text, lineage, tape from ${schema}.entry
        where (text, lineage, tape) ${down ? "<" : ">"} (o.start_text collate "C", o.start_lineage, o.start_tape)
          and text ${down ? ">=" : "<"} o.last collate "C"
        order by text ${order}, lineage ${order}, tape ${order} limit`;
    const found = ceiling === undefined ? `${entries} o.most` : `select * from (${entries} ${ceiling}) c limit o.most`;
    if (!tapes) {
      return `select o.read_number, t.lineage, t.tape, t.text, null::text, null::bytea
      from ${input} cross join lateral (${found}) t`;
    }
    return withNewestRecords(schema, `select o.*, t.* from ${input} cross join lateral (${found}) t`, most);
  };
  return tapes ? subSelect(form, columns, select, wanted) : subSelect(form, columns, select);
}

/**
 * Limits that stand in the text of a statement, around the one that is a parameter: the server then knows that few rows come, and
 * keeps its plan. For a parameter alone it expects a tenth of the table, and plans the statement at every call.
 */
const ceilings = [64, 1_024] as const;

/** Selects entries, and for those that are wanted first the meta record of their tape and the newest two records of its tail. */
function withNewestRecords(schema: string, entries: string, most: string): string {
  return `with e as materialized (${entries})
    select read_number, lineage, tape, text collate "C", null::text, null::bytea from e
    union all select t.read_number, t.lineage, t.tape, r.id, r.text, r.bytes
      from (
        select * from e order by right(text, ending) collate "C" desc, lineage desc, tape desc limit ${most}
      ) t cross join lateral (
        select 'meta' as id, m.text, m.bytes from ${schema}.meta m
          where m.lineage = t.lineage and m."group" = t.lineage and m.item = t.tape
        union all (select n.item::text, n.text, n.bytes from ${schema}.tail n
          where n.lineage = t.lineage and n."group" = t.tape
          order by n.lineage desc, n."group" desc, n.item desc limit 2)
      ) r`;
}

/** Selects the count as the item. */
function tallySelect({ indexes, reads }: Gathered<Tally["tally"]>): SubSelect {
  const columns: Column[] = [
    { name: "read_number", type: "int4", values: indexes },
    { name: "first", type: "text", values: reads.map(({ from }) => from) },
    { name: "beyond", type: "text", values: reads.map(({ to }) => to) },
  ];
  return subSelect("tally", columns, (schema, input) => {
    return `select o.read_number, t.count, null::int8, null::text, null::text, null::bytea
      from ${input} cross join lateral (
        select count(*) as count from ${schema}.entry
        where text >= o.first collate "C" and text < o.beyond collate "C"
      ) t`;
  });
}

/**
 * Selects lines of the log: item = time, id = position, text = text; beside them, without an item, the position up to which
 * the log was cut (part 0) and its newest position (part 1), and without a position lines that are not settled.
 *
 * Invariant: a line is selected only if every transaction with a lower number has ended, so that none can still add a line
 * before it.
 */
function logSelect(kind: string, { indexes, reads }: Gathered<LogRange>, order: "asc" | "desc"): SubSelect {
  const after = reads.map(({ after }) => positionOf(after));
  const columns: Column[] = [
    { name: "read_number", type: "int4", values: indexes },
    { name: "after_xid", type: "text", values: after.map(({ xid }) => xid) },
    { name: "after_number", type: "int8", values: after.map(({ number }) => number) },
    { name: "most", type: "int8", values: reads.map(({ limit }) => bound(limit)) },
  ];
  return subSelect(kind, columns, (schema, input) => {
    const settled = "xid < pg_snapshot_xmin(pg_current_snapshot())";
    return `select o.read_number, t.at, t.part, t.position, t.text, null::bytea
      from ${input} cross join lateral (
        (select at, 0::int8 as part, xid || '.' || number as position, text from ${schema}.log
          where (xid, number) > (o.after_xid::xid8, o.after_number) and ${settled}
          order by xid ${order}, number ${order} limit o.most)
        union all (select at, 0, null, text from ${schema}.log
          where (xid, number) > (o.after_xid::xid8, o.after_number) and not ${settled} limit o.most)
        union all (select null, 0, xid || '.' || number, null from ${schema}.log_cut)
        union all (select null, 1, xid || '.' || number, null from ${schema}.log where ${settled}
          order by xid desc, number desc limit 1)
      ) t`;
  });
}

/**
 * Selects lines of a shard's log: item = time of the commit, part = time of the server, id = number, text = text; beside them,
 * without an item, the numbers of the first line (part 0) and the last (part 1), null where there is none.
 */
function numberedLogSelect(kind: string, { indexes, reads }: Gathered<LogRange>, order: "asc" | "desc"): SubSelect {
  const columns: Column[] = [
    { name: "read_number", type: "int4", values: indexes },
    { name: "after", type: "int8", values: reads.map(({ after }) => Number(after)) },
    { name: "most", type: "int8", values: reads.map(({ limit }) => bound(limit)) },
  ];
  return subSelect(kind, columns, (schema, input) => {
    return `select o.read_number, t.at, t.part, t.number::text, t.text, null::bytea
      from ${input} cross join lateral (
        (select at, time as part, number, text from ${schema}.log where number > o.after order by number ${order} limit o.most)
        union all (select null, 0, min(number), null from ${schema}.log)
        union all (select null, 1, max(number), null from ${schema}.log)
      ) t`;
  });
}

const beyondAll = String.fromCodePoint(0x10_ffff).repeat(129);

function subSelect(
  kind: string,
  columns: readonly Column[],
  sql: (schema: string, input: string, scalar: string) => string,
  scalar?: number,
): SubSelect {
  const single = columns[0]?.values.length === 1;
  const values = columns.map(({ type, values }) => {
    if (single) return values[0];
    if (type === "text") return texts(values as string[]);
    return type === "int4" ? integers(values as number[]) : bigints(values as number[]);
  });
  return {
    form: single ? kind : `${kind}:many`,
    sql(schema, parameter) {
      const fields = columns.map(({ name, type }) =>
        single ? `${parameter()}::${type} as ${name}` : `unnest(${parameter()}::${type}[]) as ${name}`,
      );
      return sql(schema, `(select ${fields.join(", ")}) o`, scalar === undefined ? "" : `${parameter()}::int8`);
    },
    values: scalar === undefined ? values : [...values, scalar],
  };
}

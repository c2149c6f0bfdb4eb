import { logBounds } from "../../../../backend.ts";
import { createApply, type LaterParts } from "./0002-apply.ts";
import { refuseTakenNumbers } from "./0003-tape-numbers.ts";

/** The codes of the function `apply` for what is not a table of records. */
export const entryCode = 12;
export const logCode = 13;

/** The average number of commits to the log after which it is cut. */
export const commitsBetweenCuts = 512;

/**
 * Adds large values, messages, index entries and the log.
 *
 * The log is ordered by the number of the writing transaction. A line is read only when every transaction with a lower number
 * has ended, so no line ever appears before one that was read: see the sub-select of a log.
 */
export function createIndexAndLog(schema: string, partitions: number): string {
  return [
    ...createIndexTables(schema, partitions),
    ...createTable(
      schema,
      partitions,
      "log",
      "lineage int8, xid xid8 not null default pg_current_xact_id(), number int4, at int8 not null, text text not null, " +
        "primary key (xid, number, lineage)",
      "",
    ),
    // The position up to which the log was cut, in one row.
    `create table ${schema}.log_cut (one bool primary key check (one), xid xid8 not null, number int4 not null)`,
    createCut(schema),
    createApply(schema, "create or replace function", partsOfApply(schema)),
  ].join(";\n");
}

/** Creates the tables of large values, messages and index entries. */
export function createIndexTables(schema: string, partitions: number): readonly string[] {
  const value = "text text, bytes bytea";
  const wide = `lineage int8, "group" int8, item int8, part int8, ${value}, primary key (lineage, "group", item, part)`;
  return [
    ...["value", "mail"].flatMap((name) => [
      ...createTable(schema, partitions, name, wide, ""),
      `alter table ${schema}.${name} alter column text set storage external, alter column bytes set storage external`,
    ]),
    ...createTable(
      schema,
      partitions,
      "entry",
      `text text collate "C", lineage int8, tape int8, primary key (text, lineage, tape)`,
      " with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.2)",
    ),
  ];
}

function createTable(schema: string, partitions: number, name: string, columns: string, parameters: string): string[] {
  const full = `${schema}.${name}`;
  if (partitions === 0) return [`create table ${full} (${columns})${parameters}`];
  return [
    `create table ${full} (${columns}) partition by hash (lineage)`,
    ...Array.from(
      { length: partitions },
      (_, remainder) =>
        `create table ${full}_${remainder} partition of ${full} ` +
        `for values with (modulus ${partitions}, remainder ${remainder})${parameters}`,
    ),
  ];
}

/** Returns what this migration and the one before it add to the function `apply`. */
export function partsOfApply(schema: string): LaterParts {
  return {
    refuseMeta: refuseTakenNumbers(schema),
    tables: ["value", "mail"],
    statements: [
      { op: 2, code: entryCode, sql: (operations) => removeEntries(schema, operations) },
      { op: 5, code: entryCode, sql: (operations) => addEntries(schema, operations) },
      { op: 5, code: logCode, sql: (operations) => addLines(schema, operations) },
    ],
  };
}

export function removeEntries(schema: string, operations: string): string {
  return `delete from ${schema}.entry t using ${operations}
    where t.text = o.id and t.lineage = o.lineage and t.tape = o."group"`;
}

export function addEntries(schema: string, operations: string, place = ""): string {
  return `insert into ${schema}.entry (text, lineage, tape)
    select o.id, o.lineage, o."group" from ${operations}${place} order by o.id, o.lineage, o."group" on conflict do nothing`;
}

/**
 * Adds lines. A line of a transaction that this server has not begun came with a copy of the database from another server,
 * whose numbers mean nothing here: it goes, and with it every cursor that points at it.
 */
function addLines(schema: string, operations: string): string {
  return `delete from ${schema}.log where xid >= pg_snapshot_xmax(pg_current_snapshot());
    insert into ${schema}.log (lineage, number, at, text)
    select o.lineage, row_number() over (order by o.ord, o.part), o.item, o.text from ${operations};
    perform pg_notify(n.channel, '') from (select distinct o.id as channel from ${operations} where o.id is not null) n;
    if random() * ${commitsBetweenCuts} < 1 then
      perform ${schema}.cut_log();
    end if`;
}

/** Creates the function that removes lines beyond the log's bounds, unless another transaction does so already. */
function createCut(schema: string): string {
  return `
create function ${schema}.cut_log() returns void language plpgsql as $body$
declare
  kept record;
  young record;
begin
  if not pg_try_advisory_xact_lock(hashtext('threadmark log'), ('${schema}.log'::regclass)::oid::int4) then
    return;
  end if;
  select l.xid, l.number, l.at into kept from ${schema}.log l order by l.xid desc, l.number desc limit 1;
  if kept is null then
    return;
  end if;
  select l.xid, l.number into young from ${schema}.log l where l.at >= kept.at - ${logBounds.milliseconds}
    order by l.xid, l.number limit 1;
  select l.xid, l.number into kept from (
    select coalesce(young.xid, kept.xid) as xid, coalesce(young.number, kept.number) as number
    union all
    (select l.xid, l.number from ${schema}.log l order by l.xid desc, l.number desc offset ${logBounds.lines - 1} limit 1)
  ) l order by l.xid desc, l.number desc limit 1;
  with gone as (
    delete from ${schema}.log l where (l.xid, l.number) < (kept.xid, kept.number) returning l.xid, l.number
  )
  insert into ${schema}.log_cut (one, xid, number)
  select true, g.xid, g.number from gone g order by g.xid desc, g.number desc limit 1
  on conflict (one) do update set xid = excluded.xid, number = excluded.number;
end
$body$`;
}

import { logBounds } from "../../../../backend.ts";
import { createTables } from "./0001-tables.ts";
import { createApply } from "./0002-apply.ts";
import { refuseTakenNumbers } from "./0003-tape-numbers.ts";
import {
  addEntries,
  commitsBetweenCuts,
  createIndexTables,
  entryCode,
  logCode,
  removeEntries,
} from "./0004-index-and-log.ts";

/**
 * Makes a schema that is a shard of a store. It has the tables of a store, except for the log: numbers of transactions mean
 * nothing on another server, where Citus may move the schema, so that lines of a shard are counted.
 */
export function createShard(schema: string): string {
  const place = `, ${schema}.place p`;
  return [
    createTables(schema, 0),
    `create index meta_item on ${schema}.meta (item)`,
    ...createIndexTables(schema, 0),
    // A row that every insert joins: see `createApply`.
    `create table ${schema}.place (one bool primary key check (one))`,
    `insert into ${schema}.place values (true)`,
    `create table ${schema}.log (number int8 primary key, lineage int8 not null, at int8 not null, ` +
      "time int8 not null, text text not null)",
    // The number of the newest line, in one row: its lock puts the commits that write to the log one after the other.
    `create table ${schema}.log_end (one bool primary key check (one), number int8 not null)
      with (fillfactor = 10, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0)`,
    `insert into ${schema}.log_end values (true, 0)`,
    createCut(schema),
    createApply(schema, "create function", {
      numbers: "int8",
      place: `${schema}.place`,
      refuseMeta: refuseTakenNumbers(schema),
      tables: ["value", "mail"],
      statements: [
        { op: 2, code: entryCode, sql: (operations) => removeEntries(schema, operations) },
        { op: 5, code: entryCode, sql: (operations) => addEntries(schema, operations, place) },
        { op: 5, code: logCode, sql: (operations) => addLines(schema, operations, place) },
      ],
    }),
  ].join(";\n");
}

/** Adds lines, numbered, with the server's time: lines of several shards are merged by it. */
function addLines(schema: string, operations: string, place: string): string {
  return `select count(*) into lines from ${operations};
    if lines > 0 then
      update ${schema}.log_end set number = number + lines where one returning number into last;
      clock := extract(epoch from clock_timestamp()) * 1000000;
      insert into ${schema}.log (number, lineage, at, time, text)
      select last - lines + row_number() over (order by o.ord, o.part), o.lineage, o.item, clock, o.text
      from ${operations}${place};
      if random() * ${commitsBetweenCuts} < 1 then
        perform ${schema}.cut_log();
      end if;
    end if`;
}

/** Creates the function that removes lines beyond the log's bounds. */
function createCut(schema: string): string {
  return `
create function ${schema}.cut_log() returns void language plpgsql as $body$
declare
  newest record;
  kept int8;
begin
  select l.number, l.at into newest from ${schema}.log l order by l.number desc limit 1;
  if newest.number is null then
    return;
  end if;
  select l.number into kept from ${schema}.log l where l.at >= newest.at - ${logBounds.milliseconds} order by l.number limit 1;
  delete from ${schema}.log l where l.number < greatest(kept, newest.number - ${logBounds.lines - 1});
end
$body$`;
}

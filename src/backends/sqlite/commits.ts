import type { Batch } from "../../backend.ts";
import { covers } from "../shared/delete-covers.ts";
import type { Database } from "./database.ts";
import type { Statements } from "./statements.ts";

/** The most checks in one statement: with more, there would be too many statements to keep prepared. */
const guardLimit = 4;

/** Applies the batches in one transaction; returns for each whether it was applied. */
export function applyBatches(database: Database, batches: readonly Batch[]): readonly boolean[] {
  const { statements } = database;
  const [only] = batches;
  if (only === undefined) return [];
  // Most puts: a single statement is a transaction of its own.
  if (batches.length === 1 && isOneRecord(only)) return [writeOneRecord(statements, only)];
  if (batches.length === 1 && isInserts(only) && insertAll(database, only)) return [true];
  statements.beginWrite();
  try {
    const applied = batches.map((batch) => apply(statements, batch));
    statements.commit();
    return applied;
  } catch (error) {
    database.rollback();
    throw error;
  }
}

/** After this many lines the log is cut to its bounds. */
const linesBetweenCuts = 1024;

function isOneRecord({ checks, deletes, inserts, puts, entries, log }: Batch): boolean {
  return (
    entries === undefined &&
    log === undefined &&
    (inserts?.length ?? 0) + (puts?.length ?? 0) === 1 &&
    (deletes?.length ?? 0) === 0 &&
    (checks?.length ?? 0) <= guardLimit &&
    inserts?.[0]?.key.table !== "meta"
  );
}

function writeOneRecord(statements: Statements, { checks = [], inserts, puts }: Batch): boolean {
  const insert = inserts?.[0];
  if (insert !== undefined) return statements.write("insert", insert.key, insert.value, checks);
  const put = puts?.[0];
  return put !== undefined && statements.write("put", put.key, put.value, checks);
}

function isInserts({ checks, deletes, inserts, puts, entries, log }: Batch): boolean {
  return (
    entries === undefined &&
    log === undefined &&
    (inserts?.length ?? 0) > 0 &&
    (deletes?.length ?? 0) + (puts?.length ?? 0) === 0 &&
    (checks?.length ?? 0) <= guardLimit &&
    !inserts?.some(({ key }) => key.table === "meta")
  );
}

/**
 * Inserts the records of a batch that is alone in its transaction, without looking for them first. Returns false and
 * rolls back where a key is taken; `apply` then decides whether to refuse the batch.
 */
function insertAll(database: Database, { checks = [], inserts = [] }: Batch): boolean {
  const { statements } = database;
  statements.beginWrite();
  try {
    const all = inserts.every(({ key, value }, index) =>
      statements.write("insert", key, value, index === 0 ? checks : []),
    );
    if (all) statements.commit();
    else database.rollback();
    return all;
  } catch (error) {
    database.rollback();
    throw error;
  }
}

/** Returns whether a single insert can carry all checks: if it writes nothing, nothing else is to be written. */
function isGuarded({ checks, deletes, inserts }: Batch): boolean {
  const [only] = inserts ?? [];
  return (
    only !== undefined &&
    inserts?.length === 1 &&
    only.key.table !== "meta" &&
    (deletes?.length ?? 0) === 0 &&
    (checks?.length ?? 0) <= guardLimit
  );
}

/** Deletes and inserts the records of a batch. Returns false, before anything is changed, where it is to be refused. */
function writeRecords(statements: Statements, { checks = [], deletes = [], inserts = [] }: Batch): boolean {
  for (const { key, value } of checks) if (!statements.holds(key, value ?? null)) return false;
  for (const { key } of inserts) {
    if (!deletes.some((target) => covers(target, key)) && !statements.holds(key, null)) return false;
    if (key.table === "meta" && statements.isTakenElsewhere(key)) return false;
  }
  for (const target of deletes) statements.delete(target);
  // Every inserted key is absent by now, unless the batch itself has it twice: then the last one counts.
  for (const { key, value } of inserts) statements.write("put", key, value, []);
  return true;
}

/**
 * Applies a batch, or refuses it before anything is changed. A savepoint would be simpler, but makes SQLite copy every
 * changed page: sealing took twice as long.
 */
function apply(statements: Statements, batch: Batch): boolean {
  if (isOneRecord(batch)) return writeOneRecord(statements, batch);
  if (!(isGuarded(batch) ? writeOneRecord(statements, batch) : writeRecords(statements, batch))) return false;
  const { puts = [], entries, log } = batch;
  for (const { key, value } of puts) statements.write("put", key, value, []);
  for (const entry of entries?.remove ?? []) statements.removeEntry(entry);
  for (const entry of entries?.add ?? []) statements.addEntry(entry);
  for (const line of log?.lines ?? []) if (statements.addLine(line) % linesBetweenCuts === 0) statements.cutLog();
  return true;
}

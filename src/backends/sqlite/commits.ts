import type { Batch } from "../../backend.ts";
import { covers } from "../shared/delete-covers.ts";
import type { Database } from "./database.ts";
import type { Statements } from "./statements.ts";

/** Beyond this many checks, one statement would be one of too many shapes to keep prepared. */
const guardLimit = 4;

/** Applies the batches in one transaction; for each, whether it was applied. */
export function applyBatches(database: Database, batches: readonly Batch[]): readonly boolean[] {
  const { statements } = database;
  const [only] = batches;
  if (only === undefined) return [];
  // The commit of most puts: one statement is one transaction by itself.
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

function isOneRecord({ checks, deletes, inserts, puts }: Batch): boolean {
  return (
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

function isInserts({ checks, deletes, inserts, puts }: Batch): boolean {
  return (
    (inserts?.length ?? 0) > 0 &&
    (deletes?.length ?? 0) + (puts?.length ?? 0) === 0 &&
    (checks?.length ?? 0) <= guardLimit &&
    !inserts?.some(({ key }) => key.table === "meta")
  );
}

/**
 * Alone in its transaction, a batch of inserts needs no look beforehand: the transaction is taken back where one of them
 * finds its key taken. False then; whether the batch is to be refused is for the longer way to say.
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

/**
 * What is refused is refused before anything is changed. A savepoint to go back to would be simpler, but makes SQLite copy
 * every page that is changed: sealing took twice as long.
 */
function apply(statements: Statements, batch: Batch): boolean {
  if (isOneRecord(batch)) return writeOneRecord(statements, batch);
  const { checks = [], deletes = [], inserts = [], puts = [] } = batch;
  for (const { key, value } of checks) if (!statements.holds(key, value ?? null)) return false;
  for (const { key } of inserts) {
    if (!deletes.some((target) => covers(target, key)) && !statements.holds(key, null)) return false;
    if (key.table === "meta" && statements.isTakenElsewhere(key)) return false;
  }
  for (const target of deletes) statements.delete(target);
  // Every key that is inserted is absent by now, unless the batch itself has it twice: then the last one counts.
  for (const { key, value } of inserts) statements.write("put", key, value, []);
  for (const { key, value } of puts) statements.write("put", key, value, []);
  return true;
}

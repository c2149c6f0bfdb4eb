import type { Batch, Entry, Key, Table, Value } from "../../../backend.ts";
import { codeOf, isWide, nameOf } from "../schema/layout.ts";

/**
 * The kind of nearly every batch: at most one checked record and one inserted record; beside it perhaps others, all of
 * one table, as when a checkpoint is committed together with its writes.
 */
export interface SimpleBatch {
  /** Batches of one form share a statement: the tables, and whether values are text or bytes. */
  readonly form: StatementForm;
  readonly check: SimpleRecord | undefined;
  readonly insert: SimpleRecord;
  readonly beside: readonly SimpleRecord[];
  /** The batch that this was made from. */
  readonly original: Batch;
}

export interface SimpleRecord {
  readonly key: Key;
  readonly value: Value;
}

/** The parts of a batch that decide its statement. There is one object for each form. */
export interface StatementForm {
  readonly name: string;
  readonly check: TargetColumn | undefined;
  /** Whether the checked record is the one that the inserted key refers to: the record of its group, in its lineage. */
  readonly checksOwn: boolean;
  readonly insert: TargetColumn;
  readonly beside: TargetColumn | undefined;
}

export interface TargetColumn {
  readonly table: Table;
  readonly column: "text" | "bytes";
}

/** Returns the batch as a simple batch, or undefined if it is not one. */
export function simpleBatchOf(batch: Batch): SimpleBatch | undefined {
  const { checks, deletes, inserts, puts } = batch;
  if (batch.entries !== undefined || batch.log !== undefined) return undefined;
  const insert = inserts?.at(-1);
  if (!isSimpleRecord(insert) || (checks?.length ?? 0) > 1 || deletes?.length || puts?.length) return undefined;
  const check = checks?.[0];
  if (check !== undefined && !(isSimpleRecord(check) && check.key.lineage === insert.key.lineage)) return undefined;
  const beside = inserts?.length === 1 ? none : besideOf(inserts as readonly Entry[], insert);
  return beside && { form: formOf(check, insert, beside[0]), check, insert, beside, original: batch };
}

const none: readonly SimpleRecord[] = [];

/** Returns whether a check or write is of a record that holds a value. */
export function isSimpleRecord(entry: NonNullable<Batch["checks"]>[number] | Entry | undefined): entry is SimpleRecord {
  return entry !== undefined && entry.value !== undefined && entry.key.table !== "directory";
}

/** Returns all inserts but the last if they fit beside it: records of one table and kind, and no key twice. */
function besideOf(inserts: readonly Entry[], last: SimpleRecord): readonly SimpleRecord[] | undefined {
  const others = inserts.slice(0, -1);
  const [first] = others;
  const keys = new Set([nameOf(last.key)]);
  for (const entry of others) {
    if (!isSimpleRecord(entry) || entry.key.lineage !== last.key.lineage) return undefined;
    if (targetNumber(entry) !== targetNumber(first as SimpleRecord) || keys.has(nameOf(entry.key))) return undefined;
    keys.add(nameOf(entry.key));
  }
  return others as readonly SimpleRecord[];
}

const forms = new Map<number, StatementForm>();

function formOf(
  check: SimpleRecord | undefined,
  insert: SimpleRecord,
  beside: SimpleRecord | undefined,
): StatementForm {
  const optional = (record: SimpleRecord | undefined): number => (record === undefined ? 0 : 1 + targetNumber(record));
  const checksOwn = check !== undefined && isOwn(check.key, insert.key);
  const number = ((optional(beside) * 32 + optional(check)) * 32 + targetNumber(insert)) * 2 + (checksOwn ? 1 : 0);
  let form = forms.get(number);
  if (form === undefined) {
    form = {
      name: String(number),
      check: check && targetOf(check),
      checksOwn,
      insert: targetOf(insert),
      beside: beside && targetOf(beside),
    };
    forms.set(number, form);
  }
  return form;
}

function isOwn(checked: Key, inserted: Key): boolean {
  return checked.group === checked.lineage && checked.item === inserted.group && !isWide(checked.table);
}

function targetNumber({ key, value }: SimpleRecord): number {
  return codeOf(key.table) * 2 + (typeof value === "string" ? 0 : 1);
}

function targetOf({ key, value }: SimpleRecord): TargetColumn {
  return { table: key.table, column: typeof value === "string" ? "text" : "bytes" };
}

import type { Batch, Entry, Key, Table, Value } from "../../../backend.ts";
import { codeOf, isWide, nameOf } from "../schema/layout.ts";

/**
 * What nearly every commit is: at most one record that must hold a value, and a record inserted; beside it perhaps others,
 * all of one table, as when a checkpoint takes along what tasks have written.
 */
export interface Step {
  /** Batches of one shape go together: the tables, and whether values are text or bytes. */
  readonly shape: Shape;
  readonly check: StepRecord | undefined;
  readonly insert: StepRecord;
  readonly beside: readonly StepRecord[];
  /** The batch it was. */
  readonly batch: Batch;
}

export interface StepRecord {
  readonly key: Key;
  readonly value: Value;
}

/** There is one object for each shape. */
export interface Shape {
  readonly name: string;
  readonly check: Side | undefined;
  /** Whether the check is of the record that the inserted key itself leads to: that of its group, in its lineage. */
  readonly checksOwn: boolean;
  readonly insert: Side;
  readonly beside: Side | undefined;
}

export interface Side {
  readonly table: Table;
  readonly column: "text" | "bytes";
}

/** The batch as a step, or undefined if it is anything else. */
export function stepOf(batch: Batch): Step | undefined {
  const { checks, deletes, inserts, puts } = batch;
  const insert = inserts?.at(-1);
  if (!isRecord(insert) || (checks?.length ?? 0) > 1 || deletes?.length || puts?.length) return undefined;
  const check = checks?.[0];
  if (check !== undefined && !(isRecord(check) && check.key.lineage === insert.key.lineage)) return undefined;
  const beside = inserts?.length === 1 ? none : besideOf(inserts as readonly Entry[], insert);
  return beside && { shape: shapeOf(check, insert, beside[0]), check, insert, beside, batch };
}

const none: readonly StepRecord[] = [];

function isRecord(entry: NonNullable<Batch["checks"]>[number] | Entry | undefined): entry is StepRecord {
  return entry !== undefined && entry.value !== undefined && entry.key.table !== "directory";
}

/** All but the last, if they fit beside it: records of one table and kind, and no key twice. */
function besideOf(inserts: readonly Entry[], last: StepRecord): readonly StepRecord[] | undefined {
  const others = inserts.slice(0, -1);
  const [first] = others;
  const keys = new Set([nameOf(last.key)]);
  for (const entry of others) {
    if (!isRecord(entry) || entry.key.lineage !== last.key.lineage) return undefined;
    if (sideNumber(entry) !== sideNumber(first as StepRecord) || keys.has(nameOf(entry.key))) return undefined;
    keys.add(nameOf(entry.key));
  }
  return others as readonly StepRecord[];
}

const shapes = new Map<number, Shape>();

function shapeOf(check: StepRecord | undefined, insert: StepRecord, beside: StepRecord | undefined): Shape {
  const optional = (record: StepRecord | undefined): number => (record === undefined ? 0 : 1 + sideNumber(record));
  const checksOwn = check !== undefined && isOwn(check.key, insert.key);
  const number = ((optional(beside) * 32 + optional(check)) * 32 + sideNumber(insert)) * 2 + (checksOwn ? 1 : 0);
  let shape = shapes.get(number);
  if (shape === undefined) {
    shape = {
      name: String(number),
      check: check && sideOf(check),
      checksOwn,
      insert: sideOf(insert),
      beside: beside && sideOf(beside),
    };
    shapes.set(number, shape);
  }
  return shape;
}

function isOwn(checked: Key, inserted: Key): boolean {
  return checked.group === checked.lineage && checked.item === inserted.group && !isWide(checked.table);
}

function sideNumber({ key, value }: StepRecord): number {
  return codeOf(key.table) * 2 + (typeof value === "string" ? 0 : 1);
}

function sideOf({ key, value }: StepRecord): Side {
  return { table: key.table, column: typeof value === "string" ? "text" : "bytes" };
}

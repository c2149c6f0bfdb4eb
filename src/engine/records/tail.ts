import type { Value } from "../../backend.ts";
import type { Delta } from "../../codec/delta/index.ts";
import { unwrapJson, wrap } from "../../codec/envelope.ts";
import { jsonText } from "../../codec/json-text.ts";
import { fromRecord, type Row, type RowRecord } from "./row.ts";

/** A row that is not sealed yet, with its frame as text, which the seal parses unless it has `change`. */
export interface TailRow {
  readonly row: Row;
  readonly value: Value;
  /** How many rows the tape had committed up to this one, deleted ones included. */
  readonly count: number;
  /** The last row of the root namespace up to this one; 0 if none. */
  readonly root: number;
  /** The frame itself, where none of its nodes ever changes. */
  readonly change?: Delta | undefined;
  /** The frame as it was parsed with the row, for the first who wants one of its own: see {@link takeChange}. */
  spare?: Delta | undefined;
}

/** About what the metadata of a row takes in a tail record. */
const ROW_BYTES = 180;

interface TailRecord extends RowRecord {
  count: number;
  root?: number;
  writer?: string;
  change: Delta;
}

/**
 * The record as text, put together by hand: it is made at every step, and only the change can be large. With `writer` no
 * two stores encode a row alike: after a lost answer, the record tells who committed it. No pack keeps it.
 */
export function encodeTailRow(row: Row, count: number, root: number, change: Delta, writer?: string): Value {
  const { source, node, run, workflow, label, metadata } = row;
  let text = `{"id":${quote(row.id)},"step":${row.step},"createdAt":${row.createdAt}`;
  if (row.namespace !== "") text += `,"namespace":${quote(row.namespace)}`;
  if (row.parent !== 0) text += `,"parent":${row.parent}`;
  if (row.base !== row.parent) text += `,"base":${row.base}`;
  if (source !== "loop") text += `,"source":"${source}"`;
  if (node !== null) text += `,"node":${quote(node)}`;
  if (run !== null) text += `,"run":${quote(run)}`;
  if (workflow !== null) text += `,"workflow":${quote(workflow)}`;
  if (label !== "") text += `,"label":${quote(label)}`;
  if (row.stateVersion !== 0) text += `,"stateVersion":${row.stateVersion}`;
  if (metadata !== null) text += `,"metadata":${jsonText(metadata)}`;
  if (row.pending !== 0) text += `,"pending":${row.pending}`;
  if (row.waiting !== 0) text += `,"waiting":${row.waiting}`;
  if (row.tagged) text += ',"tagged":true';
  text += `,"count":${count}`;
  if (writer !== undefined) text += `,"writer":"${writer}"`;
  if (root !== row.seq) text += `,"root":${root}`;
  return wrap(`${text},"change":${jsonText(change)}}`);
}

const PLAIN = /^[\w .:-]*$/;

/** A string as JSON. Names and ids are mostly made of characters that stand for themselves. */
function quote(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
}

/** About how many bytes of a tail record are the frame: what a pack will keep of it, give or take. */
export function frameBytes(value: Value): number {
  return Math.max(value.length - ROW_BYTES, 20);
}

/** About how many bytes a row adds to a pack. */
export function tailBytes({ value }: TailRow): number {
  return value.length;
}

export function decodeTailRow(seq: number, value: Value): TailRow {
  const record = unwrapJson(value) as TailRecord;
  return { row: fromRecord(seq, record), value, count: record.count, root: record.root ?? seq, spare: record.change };
}

export function tailChange(value: Value): Delta {
  return (unwrapJson(value) as TailRecord).change;
}

/** The row's frame, of which nobody else holds any part. */
export function takeChange(entry: TailRow): Delta {
  const { spare } = entry;
  if (spare === undefined) return tailChange(entry.value);
  entry.spare = undefined;
  return spare;
}

import type { Value } from "../../backend.ts";
import type { Delta } from "../../codec/delta/index.ts";
import { parsed, unwrap, unwrapJson, wrap } from "../../codec/envelope.ts";
import { jsonText } from "../../codec/json-text.ts";
import { fromRecord, type Row, type RowRecord } from "./row.ts";
import { REFERRING, versionOf } from "./values.ts";
import type { CarriedTask } from "./writes.ts";

/** A row that is not sealed yet, with its frame as text, which the seal parses unless it has `change`. */
export interface TailRow {
  readonly row: Row;
  readonly value: Value;
  /** How many rows the tape had committed up to this one, deleted ones included. */
  readonly count: number;
  /** The last row of the root namespace up to this one; 0 if none. */
  readonly root: number;
  /** The frame itself, if none of its nodes will ever change. */
  readonly change?: Delta | undefined;
  /** The writes against the parent that the record holds. */
  readonly carried?: readonly CarriedTask[] | undefined;
  /** Their length in the record, where it was just made. */
  readonly carriedLength?: number;
  /** The frame as it was parsed with the row, for the first caller that needs its own: see {@link takeChange}. */
  spare?: Delta | undefined;
}

/** Estimated length of the metadata in a tail record. */
const ROW_BYTES = 180;

interface TailRecord extends RowRecord {
  count: number;
  root?: number;
  writer?: string;
  writes?: readonly CarriedTask[];
  told?: true;
  change: Delta;
}

/**
 * Encodes a tail record. The text is put together by hand, since it is made at every step and only the change can be
 * large. With `writer`, no two stores encode a row alike: after a lost answer the record tells who committed it. Packs
 * do not keep it. `changeText` is the change as JSON, if the caller has it, and `writesText` the writes that the row carries.
 */
export function encodeTailRow(
  row: Row,
  count: number,
  root: number,
  change: Delta,
  writer?: string,
  changeText: string = jsonText(change),
  writesText = "",
): Value {
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
  if (row.questions !== null) text += `,"questions":${JSON.stringify(row.questions)}`;
  if (row.tagged) text += ',"tagged":true';
  text += `,"count":${count}`;
  if (writer !== undefined) text += `,"writer":"${writer}"`;
  if (root !== row.seq) text += `,"root":${root}`;
  if (writesText === "") return wrap(`${text},"change":${changeText}}`, "none", versionOf(changeText));
  const version = versionOf(changeText) === REFERRING ? REFERRING : versionOf(writesText);
  if (row.carries === "told") text += ',"told":true';
  return wrap(`${text},"writes":${writesText},"change":${changeText}}`, "none", version);
}

const PLAIN = /^[\w .:-]*$/;

/** Returns a string as JSON. Most names and ids consist of characters that need no escape. */
function quote(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
}

/** Returns about how many bytes of a tail record are the frame, and go into a pack. */
export function frameBytes({ value, carriedLength = 0 }: TailRow): number {
  return Math.max(value.length - carriedLength - ROW_BYTES, 20);
}

/** Returns about how many bytes a row adds to a pack. */
export function tailBytes({ value }: TailRow): number {
  return value.length;
}

export function decodeTailRow(seq: number, value: Value): TailRow {
  const record = unwrapJson(value) as TailRecord;
  const { count, root = seq, change, writes } = record;
  const row = fromRecord(seq, record);
  if (writes === undefined) return { row, value, count, root, spare: change };
  return {
    row: { ...row, carries: record.told ? "told" : "untold" },
    value,
    count,
    root,
    spare: change,
    carried: writes,
  };
}

/** A row of the tail without its change. */
export interface TailSummary {
  readonly row: Row;
  readonly count: number;
}

/** The change is the last field of a record, and mostly the largest by far. */
const CHANGE = ',"change":';

/**
 * Decodes a tail record without its change. Where metadata or writes come before it, which may have such a field themselves, the
 * whole record is parsed.
 */
export function decodeTailSummary(seq: number, value: Value): TailSummary {
  const json = unwrap(value);
  const end = json.indexOf(CHANGE);
  const isPlain = end > 0 && json.lastIndexOf('"metadata":', end) < 0 && json.lastIndexOf('"writes":', end) < 0;
  if (!isPlain) return decodeTailRow(seq, value);
  const record = parsed(`${json.slice(0, end)}}`) as TailRecord;
  return { row: fromRecord(seq, record), count: record.count };
}

export function tailChange(value: Value): Delta {
  return (unwrapJson(value) as TailRecord).change;
}

/** Returns the row's frame; the caller alone holds its nodes. */
export function takeChange(entry: TailRow): Delta {
  const { spare } = entry;
  if (spare === undefined) return tailChange(entry.value);
  entry.spare = undefined;
  return spare;
}

import type { Value } from "../../../backend.ts";
import { refers, unwrapJson } from "../../../codec/envelope.ts";
import type { Json } from "../../../codec/json.ts";
import { ThreadmarkError } from "../../../errors.ts";
import { addressedId, timeOfAddressed } from "../../../model/id.ts";
import type { Row } from "../row.ts";
import { type Column, packColumn, unpackColumn } from "./column.ts";

/** The ways in which a row carries writes, by their number in a pack. */
const CARRIES = [undefined, "untold", "told"] as const;

function carriesOf(number: number): "told" | "untold" {
  const carries = CARRIES[number];
  if (carries === undefined) throw malformed();
  return carries;
}

export function malformed(): ThreadmarkError {
  return new ThreadmarkError(
    "CORRUPT",
    "A pack is malformed: its rows and frames do not match. Restore it from a backup.",
  );
}

interface PackedRows {
  readonly count: number;
  readonly columns: { readonly [name: string]: Column };
  /** How many characters the `net` and `steps` records of the pack take together; packs of earlier versions do not tell. */
  readonly size?: number;
  /** The large values that the frames of the pack refer to: pairs of name and length. */
  readonly values?: readonly (readonly [name: string, length: number])[];
}

/**
 * Packs rows by column. Defaults are chosen by what is usual: the parent is the row before in the same namespace, and
 * the id tells the row's address.
 */
export function encodeRows(
  tape: number,
  rows: readonly Row[],
  values: ReadonlyMap<string, number>,
  size: number,
): PackedRows {
  const previous = new Map<string, number>();
  const parentOf = (row: Row): number => {
    const usual = previous.get(row.namespace) ?? -1;
    previous.set(row.namespace, row.seq);
    return row.parent === usual ? -1 : row.parent;
  };
  const columns: { [name: string]: Column } = {};
  const pack = (name: string, valueOf: (row: Row) => Json, fallback: Json): void => {
    const column = packColumn(rows.map(valueOf), fallback);
    if (column !== undefined) columns[name] = column;
  };
  pack("seq", (row) => row.seq, null);
  pack("id", (row) => (timeOfAddressed(row.id, tape, row.seq) === Math.floor(row.createdAt) ? 0 : row.id), 0);
  pack("namespace", (row) => row.namespace, "");
  pack("parent", parentOf, -1);
  pack("base", (row) => (row.base === row.parent ? -1 : row.base), -1);
  pack("step", (row) => row.step, null);
  pack("source", (row) => row.source, "loop");
  pack("node", (row) => row.node, null);
  pack("run", (row) => row.run, null);
  pack("workflow", (row) => row.workflow, null);
  pack("label", (row) => row.label, "");
  pack("createdAt", (row) => row.createdAt, null);
  pack("stateVersion", (row) => row.stateVersion, 0);
  pack("metadata", (row) => row.metadata, null);
  pack("pending", (row) => row.pending, 0);
  pack("waiting", (row) => row.waiting, 0);
  pack("questions", (row) => row.questions as Json, null);
  pack("tagged", (row) => (row.tagged ? 1 : 0), 0);
  pack("carries", (row) => CARRIES.indexOf(row.carries), 0);
  return { count: rows.length, columns, size, ...(values.size > 0 && { values: [...values] }) };
}

/** Returns the large values that a pack refers to, by its `rows` record: their lengths by name. */
export function valuesOfPack(value: Value): ReadonlyMap<string, number> {
  return new Map(refers(value) ? (unwrapJson(value) as PackedRows).values : []);
}

/** The `rows` record of a pack. */
export interface DecodedRows {
  readonly rows: Row[];
  /** How many characters the other records of the pack take together; undefined where it does not tell. */
  readonly size: number | undefined;
  /** The large values that the pack refers to: their lengths by name. */
  readonly values: ReadonlyMap<string, number>;
}

/** Decodes the `rows` record of a pack whole. */
export function decodePackRows(tape: number, value: Value): DecodedRows {
  const packed = unwrapJson(value) as PackedRows;
  return { rows: unpackRows(tape, packed), size: packed.size, values: new Map(packed.values) };
}

export function decodeRows(tape: number, value: Value): Row[] {
  return unpackRows(tape, unwrapJson(value) as PackedRows);
}

function unpackRows(tape: number, { count, columns }: PackedRows): Row[] {
  const column = (name: string, fallback: Json): Json[] => {
    const values = unpackColumn(columns?.[name], count, fallback);
    if (values.length !== count) throw malformed();
    return values;
  };
  const seqs = column("seq", null) as number[];
  const ids = column("id", 0);
  const namespaces = column("namespace", "") as string[];
  const parents = column("parent", -1) as number[];
  const bases = column("base", -1) as number[];
  const steps = column("step", null) as number[];
  const sources = column("source", "loop") as Row["source"][];
  const nodes = column("node", null) as (string | null)[];
  const runs = column("run", null) as (string | null)[];
  const workflows = column("workflow", null) as (string | null)[];
  const labels = column("label", "") as string[];
  const times = column("createdAt", null) as number[];
  const versions = column("stateVersion", 0) as number[];
  const metadata = column("metadata", null);
  const pending = column("pending", 0) as number[];
  const waiting = column("waiting", 0) as number[];
  const questions = column("questions", null) as Row["questions"][];
  const tagged = column("tagged", 0);
  const carries = column("carries", 0);
  const previous = new Map<string, number>();
  const rows: Row[] = [];
  for (let index = 0; index < count; index += 1) {
    const seq = seqs[index] as number;
    const namespace = namespaces[index] as string;
    const createdAt = times[index] as number;
    const told = parents[index] as number;
    const parent = told === -1 ? (previous.get(namespace) ?? 0) : told;
    const base = bases[index] as number;
    const id = ids[index] === 0 ? addressedId(createdAt, tape, seq) : ids[index];
    if (typeof id !== "string") throw malformed();
    rows.push({
      seq,
      id,
      namespace,
      parent,
      base: base === -1 ? parent : base,
      step: steps[index] as number,
      source: sources[index] as Row["source"],
      node: nodes[index] as string | null,
      run: runs[index] as string | null,
      workflow: workflows[index] as string | null,
      label: labels[index] as string,
      createdAt,
      stateVersion: versions[index] as number,
      metadata: metadata[index] as Json,
      pending: pending[index] as number,
      waiting: waiting[index] as number,
      questions: questions[index] as Row["questions"],
      tagged: tagged[index] === 1,
      ...(carries[index] !== 0 && { carries: carriesOf(carries[index] as number) }),
    });
    previous.set(namespace, seq);
  }
  return rows;
}

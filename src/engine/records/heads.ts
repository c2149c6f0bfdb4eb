import type { Value } from "../../backend.ts";
import { unwrapJson } from "../../codec/envelope.ts";

/** What is known of the rows of a nested namespace that a tape has sealed, deleted ones included. */
export interface Head {
  /** The last of them. */
  readonly seq: number;
  /** The greatest of their ids, if it is known. */
  readonly greatestId: string | undefined;
}

/** A record of the index: what it says of each namespace with its hash. Where the greatest id is not known, a seq alone. */
export interface HeadRecord {
  readonly [namespace: string]: number | readonly [seq: number, greatestId: string];
}

/** Returns what a record says of a namespace. */
export function headIn(record: HeadRecord, namespace: string): Head | undefined {
  const head = Object.hasOwn(record, namespace) ? record[namespace] : undefined;
  if (head === undefined) return undefined;
  return typeof head === "number" ? { seq: head, greatestId: undefined } : { seq: head[0], greatestId: head[1] };
}

/** The namespaces that a record knows. */
export function namespacesIn(value: Value): readonly string[] {
  return Object.keys(unwrapJson(value) as HeadRecord);
}

/** The record after more rows of a namespace were sealed: the last of them, and their greatest id. */
export function withHead(before: unknown, namespace: string, seq: number, greatestId: string): HeadRecord {
  const record = (before ?? {}) as HeadRecord;
  const known = headIn(record, namespace);
  if (known?.greatestId === undefined) return { ...record, [namespace]: known ? seq : [seq, greatestId] };
  return { ...record, [namespace]: [seq, known.greatestId > greatestId ? known.greatestId : greatestId] };
}

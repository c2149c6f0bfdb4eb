import type { Value } from "../../backend.ts";
import { unwrapJson } from "../../codec/envelope.ts";

/** The head of a nested namespace among the sealed rows of a tape, deleted ones included. */
export interface Head {
  /** The seq of the last sealed row. */
  readonly seq: number;
  /** The greatest id of the sealed rows, if it is known. */
  readonly greatestId: string | undefined;
}

/**
 * A record of the index: heads by namespace, of all namespaces with its hash. Where the greatest id is not known, the
 * seq alone.
 */
export interface HeadRecord {
  readonly [namespace: string]: number | readonly [seq: number, greatestId: string];
}

/** Returns the head of a namespace in a record. */
export function headIn(record: HeadRecord, namespace: string): Head | undefined {
  const head = Object.hasOwn(record, namespace) ? record[namespace] : undefined;
  if (head === undefined) return undefined;
  return typeof head === "number" ? { seq: head, greatestId: undefined } : { seq: head[0], greatestId: head[1] };
}

/** Returns the namespaces in a record. */
export function namespacesIn(value: Value): readonly string[] {
  return Object.keys(unwrapJson(value) as HeadRecord);
}

/**
 * Returns the record after rows of a namespace were sealed: `seq` is the last of them, `greatestId` the greatest of
 * their ids.
 */
export function withHead(before: unknown, namespace: string, seq: number, greatestId: string): HeadRecord {
  const record = (before ?? {}) as HeadRecord;
  const known = headIn(record, namespace);
  if (known?.greatestId === undefined) return { ...record, [namespace]: known ? seq : [seq, greatestId] };
  return { ...record, [namespace]: [seq, known.greatestId > greatestId ? known.greatestId : greatestId] };
}

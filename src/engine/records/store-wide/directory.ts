import type { Value } from "../../../backend.ts";
import { unwrapJson, wrapJson } from "../../../codec/envelope.ts";
import type { MailEntry } from "../mail.ts";

/**
 * A thread's entry in the directory. A deleted thread that ever had a lease leaves its epoch behind; a thread without
 * checkpoints that made way for another leaves its messages too, until that one takes them over.
 */
export interface DirectoryRecord {
  readonly tape?: number;
  readonly lineage?: number;
  readonly epoch?: number;
  readonly mail?: readonly MailEntry[];
}

export function encodeDirectory(record: DirectoryRecord): Value {
  return wrapJson(record);
}

export function decodeDirectory(value: Value): DirectoryRecord {
  return unwrapJson(value) as DirectoryRecord;
}

import type { Value } from "../../backend.ts";
import { unwrapJson, wrapJson } from "../../codec/envelope.ts";

/** A thread's entry in the directory. A deleted thread that ever had a lease leaves its epoch behind. */
export interface DirectoryRecord {
  readonly tape?: number;
  readonly lineage?: number;
  readonly epoch?: number;
}

export function encodeDirectory(record: DirectoryRecord): Value {
  return wrapJson(record);
}

export function decodeDirectory(value: Value): DirectoryRecord {
  return unwrapJson(value) as DirectoryRecord;
}

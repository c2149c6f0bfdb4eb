import type { Found, Value } from "../../backend.ts";
import type { Delta } from "../../codec/delta/index.ts";
import { unwrapJson } from "../../codec/envelope.ts";
import type { RowRecord } from "./row.ts";
import { wrapReferring } from "./values.ts";

/** A version of a replaced or relabelled checkpoint; versions are kept in the order they were made. */
export interface MarkVersion {
  readonly generation: number;
  readonly label?: string;
  /** The replacing row, and its body as a delta against the frame it replaces. */
  readonly row?: RowRecord;
  readonly change?: Delta;
}

/**
 * Adds a version to a mark. It takes the place of earlier versions of its own generation, except that a label keeps a
 * replacement; earlier generations stay.
 */
export function withVersion(before: readonly MarkVersion[] = [], version: MarkVersion): readonly MarkVersion[] {
  const kept = before.filter(
    (earlier) => earlier.generation !== version.generation || (version.row === undefined && earlier.row !== undefined),
  );
  return [...kept, version];
}

export function encodeMark(versions: readonly MarkVersion[]): Value {
  return wrapReferring(versions);
}

export function decodeMarks(found: readonly Found[]): ReadonlyMap<number, readonly MarkVersion[]> {
  return new Map(found.map((entry) => [entry.item, unwrapJson(entry.value) as readonly MarkVersion[]]));
}

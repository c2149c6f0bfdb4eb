import type { Delta } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import type { Tape } from "../../memory/tape.ts";
import type { Row } from "../../records/row.ts";
import { encodeTailRow, type TailRow } from "../../records/tail.ts";
import type { Draft } from "./draft.ts";
import type { LongLists } from "./draft-writes.ts";
import { referDelta } from "./refer-values.ts";

interface Encoding {
  /** Keeps the change itself for the seal: it must not change. */
  readonly keep?: boolean | undefined;
  /** The change repeats a tree that was there before. */
  readonly grown?: boolean;
  /** About how many characters of JSON the values of the change take, if that is known. */
  readonly written?: number | undefined;
  /** The state of the row, or its fields that were set: see {@link placesOf}. */
  readonly after?: Json | undefined;
  /** Lists of the state that were set, by their keys. */
  readonly lists?: LongLists | undefined;
}

/** Encodes a row as the next of the draft's tape. The row carries the writes that wait for it. */
export function encodeRow(
  draft: Draft,
  row: Row,
  change: Delta,
  { keep = false, grown = false, written, after, lists }: Encoding = {},
): TailRow {
  const tape = draft.target as Tape;
  const previous = draft.planned.at(-1)?.tail;
  const count = (previous?.count ?? tape.count) + 1;
  const root = row.namespace === "" ? row.seq : (previous?.root ?? tape.lastRoot);
  const [stored, text] = referDelta(draft, tape.lineage, change, grown, written);
  const kept = keep ? stored : undefined;
  const writes = draft.carrying.carriedBy(draft, row, change, after, lists);
  if (writes === undefined) {
    const value = encodeTailRow(row, count, root, stored, draft.context.writer, text);
    draft.weigh(value);
    return { row, value, count, root, change: kept };
  }
  const carrying = { ...row, carries: writes.carries };
  const value = encodeTailRow(carrying, count, root, stored, draft.context.writer, text, writes.text);
  draft.weigh(value);
  return {
    row: carrying,
    value,
    count,
    root,
    change: kept,
    carried: writes.tasks,
    carriedLength: writes.text.length,
  };
}

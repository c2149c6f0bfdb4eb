import type { Answer, Found, Read, Value } from "../../../backend.ts";
import { ifDamaged } from "../../faults/damage.ts";
import { metaKey, rangeOf, tapeName } from "../../records/keys.ts";
import { decodeMeta, type Meta } from "../../records/meta.ts";
import { decodeRows } from "../../records/pack/rows.ts";
import type { Row } from "../../records/row.ts";
import { decodeTailRow } from "../../records/tail.ts";

/** A tape whose rows are followed. */
export interface Followed {
  readonly lineage: number;
  readonly tape: number;
  /**
   * The last seq that was told, or that was there before the watch began; half a seq less where of a row only the writes that it
   * carries were told.
   */
  told: number;
  /** When to stop unless the tape is found active again, by the process's own clock. */
  until: number;
}

/** Packs of a tape that are read at once, for a watch that is far behind. */
const PACKS = 4;

/** The rows of a followed tape that were not told yet, oldest first. */
export interface NewRows {
  readonly thread: string;
  readonly rows: readonly Row[];
  /** The ids of these rows and of the one before them, by seq. */
  readonly ids: ReadonlyMap<number, string>;
  /** True if there are more. */
  readonly more: boolean;
}

export function nameOf({ lineage, tape }: Pick<Followed, "lineage" | "tape">): string {
  return tapeName(lineage, tape);
}

/** Returns the reads that `newRows` takes the answers of. */
export function readsOf({ lineage, tape, told }: Followed): readonly Read[] {
  const address = { lineage, number: tape };
  // The row that was told last names the checkpoint of the writes that the next one carries.
  const from = Math.max(0, Math.floor(told));
  return [
    { get: metaKey(lineage, tape) },
    { scan: rangeOf(address, "rows", from), limit: PACKS },
    { scan: rangeOf(address, "tail", from) },
  ];
}

/** Returns the reads that `newestSeq` takes the answers of. */
export function readsOfNewest({ lineage, tape }: Followed): readonly Read[] {
  const address = { lineage, number: tape };
  return [
    { get: metaKey(lineage, tape) },
    { scan: rangeOf(address, "rows"), reverse: true, limit: 1 },
    { scan: rangeOf(address, "tail"), reverse: true, limit: 1 },
  ];
}

/** Returns the seq of a tape's newest row, 0 if it has none. Undefined if the tape is gone. */
export function newestSeq(answers: readonly Answer[]): number | undefined {
  const [meta, packs, tail] = answers as readonly [Value | undefined, readonly Found[], readonly Found[]];
  // A pack is found by its last seq.
  return meta === undefined ? undefined : Math.max(0, ...[...packs, ...tail].map(({ item }) => item));
}

/** Called with each damaged record; `thread` is undefined where the record that names it is the damaged one. */
export type OnFault = (thread: string | undefined, error: unknown) => void;

/** Passes over damaged records: a reader of their thread gets the error, and `verify` reports them. */
export const passOver: OnFault = (_, error) => ifDamaged(error);

const NOTHING: NewRows = { thread: "", rows: [], ids: new Map(), more: false };

/** Returns the rows that were added since the last one told. Undefined if the tape, or its thread, is gone or damaged. */
export function newRows({ tape, told }: Followed, answers: readonly Answer[], onFault: OnFault): NewRows | undefined {
  const [value, packs, tail] = answers as readonly [Value | undefined, readonly Found[], readonly Found[]];
  // Mostly nothing is new, and nothing need be decoded.
  if (value !== undefined && [packs, tail].every((found) => (found.at(-1)?.item ?? 0) <= told)) return NOTHING;
  const [meta] = value === undefined ? [] : decoded(() => [decodeMeta(value)], undefined, onFault);
  if (!meta || meta.dead) return undefined;
  const more = packs.length === PACKS;
  const rows: Row[] = [];
  const { thread } = meta;
  for (const found of packs) rows.push(...decoded(() => decodeRows(tape, found.value), thread, onFault));
  // Between the packs that were read and the tail there are others.
  if (!more)
    for (const { item, value: text } of tail)
      rows.push(...decoded(() => [decodeTailRow(item, text).row], thread, onFault));
  const ids = new Map(rows.map(({ seq, id }) => [seq, id]));
  return { thread, rows: rows.filter(({ seq }) => seq > told && !isGone(meta, seq)), ids, more };
}

function decoded<T>(decode: () => readonly T[], thread: string | undefined, onFault: OnFault): readonly T[] {
  try {
    return decode();
  } catch (error) {
    onFault(thread, error);
    return [];
  }
}

/** Returns true for a row that was deleted in its own thread, and is there for the thread's forks. */
function isGone({ gone = [] }: Meta, seq: number): boolean {
  return gone.some(([from, to]) => seq >= from && seq <= to);
}

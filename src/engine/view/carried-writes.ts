import type { Found, Read, Value } from "../../backend.ts";
import type { Tape } from "../memory/tape.ts";
import { rangeOf } from "../records/keys.ts";
import { decodeCarried } from "../records/pack/pack.ts";
import { decodeTailRow } from "../records/tail.ts";
import type { CarriedTask } from "../records/writes.ts";
import { packRow } from "./lineage/at-hand.ts";

/** A checkpoint whose writes are sought; without a seq it does not exist, or is not shown. */
export interface SoughtCheckpoint {
  readonly id: string;
  readonly seq: number | undefined;
}

/** The writes against a checkpoint that the row after it carries, or the reads that find them, by name. */
export interface CarriedPlace {
  readonly carried?: readonly CarriedTask[] | undefined;
  readonly reads?: readonly (readonly [name: string, read: Read])[];
  /** The seq of the row that may carry them. */
  readonly seq: number;
}

/**
 * Looks for the row after a checkpoint in memory. With `current`, memory is as the caller's own reads are: a row that would be
 * the newest does not exist. With `anew`, remembered packs do not count.
 */
export function whereCarried(tape: Tape, { seq: of }: SoughtCheckpoint, current: boolean, anew: boolean): CarriedPlace {
  if (of === undefined || of <= (tape.meta.origin?.upTo ?? 0)) return { seq: 0 };
  const seq = of + 1;
  const damage = tape.damageAt(seq);
  if (damage) throw damage;
  const tail = tape.tailRow(seq);
  if (tail) return { seq, carried: tail.carried };
  const pack = anew ? undefined : tape.loadedPack(seq);
  if (pack && packRow(pack, seq)?.carries === undefined) return { seq };
  if (!pack && seq > tape.meta.sealed && (current || seq <= tape.lastSeq)) return { seq };
  const unsealed = [`tail:${seq}`, { get: tape.key("tail", seq) }] as const;
  if (pack) return { seq, reads: [unsealed, [`steps:${pack.last}`, { get: tape.key("steps", pack.last) }]] };
  return { seq, reads: [unsealed, [`from:${seq}`, { scan: rangeOf(tape, "steps", seq), limit: 1 }]] };
}

/** Returns the carried writes that the reads of a place have found; "moved" if they are no longer where they were. */
export function carriedIn(
  { seq, reads = [] }: CarriedPlace,
  answerOf: (name: string) => Value | readonly Found[] | undefined,
): readonly CarriedTask[] | "moved" | undefined {
  const [unsealed, sealed] = reads.map(([name]) => answerOf(name));
  if (unsealed !== undefined) return decodeTailRow(seq, unsealed as Value).carried;
  const steps = Array.isArray(sealed) ? (sealed as readonly Found[])[0]?.value : (sealed as Value | undefined);
  return (steps === undefined ? undefined : decodeCarried(steps).get(seq)) ?? "moved";
}

import { rangesOf } from "../../model/retention/retention.ts";
import type { Tape } from "../memory/tape.ts";
import type { Meta } from "../records/meta.ts";
import type { Row } from "../records/row.ts";
import { NOW } from "../view/row-at.ts";

type Gone = NonNullable<Meta["gone"]>;

/** A removal, as far as the ranges of hidden rows depend on it. */
export interface Hides {
  /** The rows that it hides. */
  readonly hidden: readonly Row[];
  /** The seqs of the rows that the thread goes on to show. */
  readonly left: readonly number[];
  /** All rows of the tape, oldest first, and the seqs of those that it takes out of storage. */
  readonly own: readonly Row[];
  readonly doomed: ReadonlySet<number>;
  /** Forks may see rows up to this seq. */
  readonly shared: number;
}

/**
 * Returns the ranges of hidden seqs after a removal; undefined for none. Ranges that a fork may see keep the generation they began
 * with, since it decides whether that fork shows them. The others are made anew, as few as can be.
 *
 * Invariant: a range covers no row that the thread shows. Where nothing is shown before a range, and no fork sees it, it begins with 1: then
 * nothing older has to be looked at.
 */
export function goneAfter(tape: Tape, { hidden, left, own, doomed, shared }: Hides): Gone | undefined {
  const { origin, gone = [], generation } = tape.meta;
  const next = generation + 1;
  const seen = hidden.map(({ seq }) => seq).filter((seq) => seq <= shared);
  const free = hidden.map(({ seq }) => seq).filter((seq) => seq > shared);
  const earlier = own.map(({ seq }) => seq).filter((seq) => seq > shared && !doomed.has(seq) && tape.isGone(seq, NOW));
  const ranges = [...hiding(seen, left, next), ...hiding([...earlier, ...free], left, next)];
  const [first] = ranges;
  if (first !== undefined && shared === 0 && !origin && !left.some((seq) => seq < first[0])) {
    ranges[0] = [1, first[1], first[2]];
  }
  const after = [...gone.filter(([from]) => from <= shared), ...ranges];
  return after.length === 0 ? undefined : after;
}

/** Returns the ranges that hide seqs from a generation on, without any of those that are left. */
function hiding(seqs: readonly number[], left: readonly number[], generation: number): Gone[number][] {
  const all = [...seqs, ...left].sort((one, other) => one - other);
  return rangesOf(new Set(seqs), all).map(([from, to]) => [from, to, generation]);
}

import { median, Timings } from "./timing.ts";

export interface Pace {
  readonly rounds: number;
  /** Rounds before those that count: compiled code, pages, plans. */
  readonly warmUp?: number;
  /** Calls in a row before it is the other's turn. */
  readonly batch?: number;
  /** How often each side has its turn in a round. */
  readonly turns?: number;
}

export interface Compared {
  readonly ours: Timings;
  readonly other: Timings;
  /** Our time divided by the other's: the median over the rounds of the ratio of their medians. */
  readonly p50: number;
  /** The same, of their means. */
  readonly mean: number;
}

type Side = "ours" | "other";

/**
 * Two things in turns, in one process, so that whatever else the machine does falls on both alike. A round has a ratio of
 * its own, and the ratio in the middle counts: one disturbed round does not decide. `prepare` is called before each call
 * and not timed.
 */
export async function compare(
  pace: Pace,
  ours: () => unknown,
  other: () => unknown,
  prepare?: (side: Side) => unknown,
): Promise<Compared> {
  const { rounds, warmUp = 1, batch = 1, turns = 1 } = pace;
  const all = { ours: new Timings(), other: new Timings() };
  const actions = { ours, other };
  const ratios: { p50: number; mean: number }[] = [];
  for (let round = -warmUp; round < rounds; round += 1) {
    const taken = { ours: new Timings(), other: new Timings() };
    for (let turn = 0; turn < turns; turn += 1) {
      for (const side of ["other", "ours"] as const) {
        for (let count = 0; count < batch; count += 1) {
          await prepare?.(side);
          await taken[side].measure(actions[side]);
        }
      }
    }
    if (round < 0) continue;
    all.ours.addAll(taken.ours);
    all.other.addAll(taken.other);
    ratios.push({ p50: taken.ours.p50 / taken.other.p50, mean: taken.ours.mean / taken.other.mean });
  }
  return {
    ...all,
    p50: median(ratios.map((ratio) => ratio.p50)),
    mean: median(ratios.map((ratio) => ratio.mean)),
  };
}

/**
 * Which frame to write. A full frame costs the whole tree, a long run of deltas costs every reader: full frames are
 * written only when what has to be read outweighs twice the tree, or is spread over too many tapes of nested forks.
 */
const OUTWEIGHS = 2;
const HOPS = 32;

export interface DeltaRun {
  /** Bytes to read up to and including the new delta. */
  readonly weight: number;
  /** Bytes of the whole tree when it was last measured. It may have grown since. */
  readonly size: number;
  readonly hops: number;
}

/**
 * Returns true if a full frame is due. Asked with the last known size it says whether measuring the tree is worth while; asked
 * with the measured size it decides.
 */
export function needsFull(run: DeltaRun): boolean {
  return run.hops >= HOPS || run.weight > OUTWEIGHS * run.size;
}

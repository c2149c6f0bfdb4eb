import type { EngineContext } from "../../memory/context.ts";
import type { Tape } from "../../memory/tape.ts";
import type { Origin } from "../../records/meta.ts";

/** A tape that a view goes through, and the last generation of its changes that the view sees. */
export interface Level {
  readonly tape: Tape;
  readonly generation: number;
}

/** Returns the tape that a fork builds on; at once where it is remembered. */
export function sourceOf(context: EngineContext, fork: Tape, origin: Origin): Tape | Promise<Tape> {
  return fork.source ?? context.tapes.sourceOf(fork, origin);
}

/** Yields the tapes that a view goes through, nearest first: down to the one that holds `seq`, or all of them. */
export async function* levels(
  context: EngineContext,
  tape: Tape,
  seq = 0,
  generation: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<Level> {
  yield { tape, generation };
  for (let level = tape; level.meta.origin && seq <= level.meta.origin.upTo; ) {
    const { origin } = level.meta;
    level = await sourceOf(context, level, origin);
    yield { tape: level, generation: origin.generation };
  }
}

/** Drops the rows of packs that a tape and those below it hold in memory, once there are more than `most`. */
export function forgetPacks(tape: Tape, most: number): void {
  for (let level: Tape | undefined = tape; level; level = level.source) level.forgetPacks(most);
}

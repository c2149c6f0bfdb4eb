import type { Checkpoint, CheckpointInfo, Write } from "../../model/checkpoint.ts";
import { untilUndisturbed } from "../faults/attempts.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { ownRowAtHand, rowsAtHand } from "../view/lineage/at-hand.ts";
import { rewriteCheck } from "../view/lineage/renew.ts";
import { isPlain, NOW, rowAt } from "../view/row-at.ts";
import { type EncodedWrite, shownWritesOf } from "../view/shown-writes.ts";
import { checkpointOf, decodeWrites, infoOf, type Place } from "./checkpoint.ts";
import { aheadOfWrites } from "./read-ahead.ts";

/** A history as it is remembered. */
export interface RecentRows {
  /** Newest first, as far as they are in memory. */
  readonly rows: Iterable<CheckpointInfo>;
  /** Returns true if later reads show that the rows are still current. */
  holds(): boolean;
}

/** Returns the rows of a namespace that are in memory. Nothing is read: a later read shows whether they hold. */
export function recentRows(context: EngineContext, place: Place, namespace: string): RecentRows | undefined {
  const tape = context.rememberedThread(place.thread);
  if (!tape || tape.meta.dead || tape.damaged.length > 0 || !isPlain(tape)) return undefined;
  const { metaValue } = tape;
  function* rows(): Generator<CheckpointInfo> {
    for (let before = NOW; tape; ) {
      const row = rowsAtHand(tape, before, 1, (other) => other.namespace === namespace)?.[0];
      if (!row) return;
      const parent = row.parent === 0 ? null : ownRowAtHand(tape, row.parent)?.id;
      if (parent === undefined) return;
      yield infoOf(context, place, row, parent);
      before = row.seq;
    }
  }
  return {
    rows: rows(),
    holds: () => context.rememberedThread(place.thread) === tape && tape.metaValue === metaValue && isPlain(tape),
  };
}

export type Named = Pick<CheckpointInfo, "id" | "seq">;

/** Checkpoints and writes that were read together, by the ids of the checkpoints. */
export interface Gathered<State = unknown> {
  readonly writes: ReadonlyMap<string, readonly Write[]>;
  readonly checkpoints: ReadonlyMap<string, Checkpoint<State>>;
}

/** Reads the writes of some checkpoints and the whole of others, in one read, and another for every fork that lies between. */
export async function gather(
  context: EngineContext,
  place: Place,
  namespace: string,
  written: readonly Named[],
  whole: readonly Named[],
): Promise<Gathered> {
  const seqs = whole.map(({ seq }) => seq);
  const ahead = aheadOfWrites(context, namespace, written, seqs);
  const tape = await context.thread(place.thread, ahead);
  if (!tape) return { writes: new Map(), checkpoints: new Map() };
  ahead.settle(tape);
  const writes = await untilUndisturbed(
    place.thread,
    async (again) => {
      const now = again ? await context.thread(place.thread) : tape;
      const own = again ? undefined : ahead.allWrites(tape);
      return now
        ? writesByCheckpoint(context, now, await shownWritesOf(context, now, namespace, written, own))
        : new Map();
    },
    rewriteCheck(() => context.thread(place.thread)),
  );
  const checkpoints = new Map<string, Checkpoint>();
  for (const { id, seq } of whole) {
    const row = await rowAt(context, tape, seq);
    if (row?.id !== id) continue;
    const checkpoint = await checkpointOf(context, tape, place, row, { records: ahead.records });
    if (checkpoint) checkpoints.set(id, checkpoint);
  }
  return { writes, checkpoints };
}

/** Decodes the writes of several checkpoints; their large values are read at once. */
async function writesByCheckpoint(
  context: EngineContext,
  tape: Tape,
  found: ReadonlyMap<string, readonly EncodedWrite[]>,
): Promise<ReadonlyMap<string, readonly Write[]>> {
  const decoded = await decodeWrites(context, tape, [...found.values()].flat());
  const writes = new Map<string, readonly Write[]>();
  let from = 0;
  for (const [id, { length }] of found) {
    writes.set(id, decoded.slice(from, from + length));
    from += length;
  }
  return writes;
}

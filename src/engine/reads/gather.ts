import type { Checkpoint, CheckpointInfo, Write } from "../../model/checkpoint.ts";
import type { Context } from "../memory/context.ts";
import { ownRowAtHand, rowsAtHand } from "../view/at-hand.ts";
import { isPlain, NOW, rowAt } from "../view/row-at.ts";
import { shownWritesOf } from "../view/shown-writes.ts";
import { checkpointOf, infoOf, type Place, writeOf } from "./checkpoint.ts";
import { aheadOfWrites } from "./read-ahead.ts";

/** A history as it is remembered. */
export interface RecentRows {
  /** Newest first, as far as they are in memory. */
  readonly rows: Iterable<CheckpointInfo>;
  /** Returns true if later reads show that the rows are still current. */
  holds(): boolean;
}

/** Returns the rows of a namespace that are in memory. Nothing is read: a later read shows whether they hold. */
export function recentRows(context: Context, place: Place, namespace: string): RecentRows | undefined {
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

export interface Gathered {
  readonly writes: ReadonlyMap<string, readonly Write[]>;
  readonly checkpoints: ReadonlyMap<string, Checkpoint>;
}

/** Reads the writes of some checkpoints and the whole of others, in one read, and another for every fork that lies between. */
export async function gather(
  context: Context,
  place: Place,
  namespace: string,
  written: readonly Named[],
  whole: readonly Named[],
): Promise<Gathered> {
  const ids = written.map(({ id }) => id);
  const seqs = whole.map(({ seq }) => seq);
  const ahead = aheadOfWrites(context, namespace, ids, seqs);
  const tape = await context.thread(place.thread, ahead);
  if (!tape) return { writes: new Map(), checkpoints: new Map() };
  ahead.settle(tape);
  const found = await shownWritesOf(context, tape, namespace, written, ahead.allWrites(tape));
  const writes = new Map([...found].map(([id, some]) => [id, some.map((write) => writeOf(context, write))]));
  const checkpoints = new Map<string, Checkpoint>();
  for (const { id, seq } of whole) {
    const row = await rowAt(context, tape, seq);
    if (row?.id !== id) continue;
    const checkpoint = await checkpointOf(context, tape, place, row, { records: ahead.records });
    if (checkpoint) checkpoints.set(id, checkpoint);
  }
  return { writes, checkpoints };
}

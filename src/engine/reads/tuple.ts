import type { CheckpointTuple } from "../../model/checkpoint.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { Shown } from "../view/row-at.ts";
import { shownWrites } from "../view/shown-writes.ts";
import { checkpointOf, type Place, writeOf } from "./checkpoint.ts";
import type { ReadAhead } from "./read-ahead.ts";

/** A checkpoint with its parent's address and its writes. Undefined when it was deleted while it was being read. */
export async function tupleOf(
  context: Context,
  tape: Tape,
  place: Place,
  row: Shown,
  ahead: ReadAhead,
): Promise<CheckpointTuple | undefined> {
  const checkpoint = await checkpointOf(context, tape, place, row, { records: ahead.records });
  if (!checkpoint) return undefined;
  const { thread, namespace, parent } = checkpoint;
  const writes = await shownWrites(context, tape, row.namespace, row.id, ahead.writes(tape, row.id));
  return {
    checkpoint,
    parent: parent === null ? null : { thread, namespace: [...namespace], id: parent },
    writes: writes.map((write) => writeOf(context, write)),
  };
}

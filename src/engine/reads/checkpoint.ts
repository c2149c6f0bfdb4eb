import type { Json } from "../../codec/json.ts";
import type {
  Activation,
  Barrier,
  Checkpoint,
  CheckpointInfo,
  CheckpointTuple,
  Interrupt,
  Metadata,
  Write,
} from "../../model/checkpoint.ts";
import type { SharedTree } from "../bodies/load-page.ts";
import { loadShown } from "../bodies/load-tree.ts";
import type { PackRecords } from "../bodies/pack-records.ts";
import { untilUndisturbed } from "../faults/attempts.ts";
import { named } from "../faults/damage.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { loadedEntry } from "../memory/tree-cache.ts";
import type { Body } from "../records/body.ts";
import { type Row, toInfo } from "../records/row.ts";
import { ownRowAtHand } from "../view/at-hand.ts";
import { rewriteCheck } from "../view/renew.ts";
import { isPlain, NOW, parentOf, rowAt, type Shown } from "../view/row-at.ts";
import { type EncodedWrite, shownWrites } from "../view/shown-writes.ts";
import type { ReadAhead } from "./read-ahead.ts";

/** The thread and namespace of a handle: used to show rows under the thread's own name. */
export interface Place {
  readonly thread: string;
  readonly namespace: readonly string[];
}

export function infoOf(context: Context, place: Place, row: Row, parent: string | null): CheckpointInfo {
  const metadata =
    row.metadata === null ? {} : (context.codec.decode(row.metadata, { tagged: row.tagged }) as Metadata);
  return toInfo(row, place.thread, place.namespace, parent, metadata);
}

/** Returns the id of the parent a row shows; at once where it is in memory. */
export function parentId(context: Context, tape: Tape, row: Shown): string | null | Promise<string | null> {
  if (row.parent === 0) return null;
  const known = isPlain(tape) ? ownRowAtHand(tape, row.parent) : undefined;
  return known ? known.id : parentOf(context, tape, row, NOW).then((parent) => parent?.id ?? null);
}

/** Records that an operation has already read of the checkpoint it wants. */
export interface AtHand {
  /** Its tree, shared with others. */
  readonly ready?: SharedTree | undefined;
  /** Records of the packs it is built from. */
  readonly records?: PackRecords | undefined;
}

/** Reads a whole checkpoint: the caller's own copy. Undefined when it was deleted while it was being read. */
export async function checkpointOf(
  context: Context,
  tape: Tape,
  place: Place,
  row: Shown,
  atHand: AtHand = {},
): Promise<Checkpoint | undefined> {
  const find = (): Promise<Tape | undefined> => context.thread(place.thread);
  const attempt = async (again: boolean): Promise<Checkpoint | undefined> => {
    if (!again) return readCheckpoint(context, tape, place, row, atHand);
    // The row may have been deleted, or moved by a deletion, since it was found.
    const now = await find();
    const still = now && (await rowAt(context, now, row.seq));
    return still && readCheckpoint(context, now, place, still, {});
  };
  try {
    return await untilUndisturbed(place.thread, attempt, rewriteCheck(find));
  } catch (error) {
    throw named(error, place.thread, row.id);
  }
}

async function readCheckpoint(
  context: Context,
  tape: Tape,
  place: Place,
  row: Shown,
  { ready, records }: AtHand,
): Promise<Checkpoint> {
  const found = parentId(context, tape, row);
  const parent = found instanceof Promise ? await found : found;
  if (ready) return decodeCheckpoint(context, place, row, parent, { ...ready, owned: ready.owned === true });
  const remembered =
    row.replacedBy === undefined &&
    context.trees.read(tape, row.seq, ({ tree, tagged }) =>
      decodeCheckpoint(context, place, row, parent, { tree, tagged, owned: false }),
    );
  if (remembered) return remembered;
  const loaded = await loadShown(context, tape, row, records);
  // A tree that is read twice is worth remembering; one that is read once is the caller's, without a copy.
  const owned = row.replacedBy !== undefined || tape.lastLoaded !== row.seq;
  const checkpoint = decodeCheckpoint(context, place, row, parent, { ...loaded, owned });
  if (row.replacedBy !== undefined) return checkpoint;
  if (owned) tape.lastLoaded = row.seq;
  else context.trees.set(tape, row.seq, loadedEntry(loaded));
  return checkpoint;
}

function decodeCheckpoint(context: Context, place: Place, row: Shown, parent: string | null, from: Tree): Checkpoint {
  const { tree, tagged, owned } = from;
  const body = tree as Body;
  const decode = (value: Json): unknown => context.codec.decode(value, { owned, tagged });
  return {
    ...infoOf(context, place, row, parent),
    state: decode(body.s),
    path: decode(body.p) as string[],
    next: decode(body.n) as Activation[],
    completed: decode(body.c) as string[],
    interrupts: decode(body.i) as Interrupt[],
    barriers: decode(body.b) as Barrier[],
  };
}

interface Tree {
  readonly tree: Json;
  readonly tagged: boolean;
  /** Whether the tree was just built, so that the caller may have its nodes. */
  readonly owned: boolean;
}

export function writeOf(context: Context, write: EncodedWrite): Write {
  const { task, node, index, channel } = write;
  return { task, node, index, channel, value: context.codec.decode(write.value) };
}

/** Reads a checkpoint with its parent's address and its writes. Undefined when it was deleted while it was being read. */
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

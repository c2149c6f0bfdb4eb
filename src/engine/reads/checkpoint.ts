import type { Found } from "../../backend.ts";
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
import type { StateVersions } from "../../model/state-versions.ts";
import type { SharedTree } from "../bodies/load-page.ts";
import { loadShown } from "../bodies/load-tree.ts";
import type { PackRecords } from "../bodies/pack-records.ts";
import { withStateValues } from "../bodies/state-values.ts";
import { ValueReader } from "../bodies/values/read-values.ts";
import { untilUndisturbed } from "../faults/attempts.ts";
import { named } from "../faults/damage.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { loadedEntry } from "../memory/tree-cache.ts";
import type { Body } from "../records/body.ts";
import { type Row, toInfo } from "../records/row.ts";
import { ownRowAtHand } from "../view/lineage/at-hand.ts";
import { rewriteCheck } from "../view/lineage/renew.ts";
import { isPlain, NOW, parentOf, rowAt, type Shown } from "../view/row-at.ts";
import { type EncodedWrite, shownWrites } from "../view/shown-writes.ts";
import type { ReadAhead } from "./read-ahead.ts";

/** The thread and namespace of a handle: used to show rows under the thread's own name. */
export interface Place {
  readonly thread: string;
  readonly namespace: readonly string[];
}

export function infoOf(context: EngineContext, place: Place, row: Row, parent: string | null): CheckpointInfo {
  const metadata =
    row.metadata === null ? {} : (context.codec.decode(row.metadata, { tagged: row.tagged }) as Metadata);
  return toInfo(row, place.thread, place.namespace, parent, metadata);
}

/** Returns the id of the parent a row shows. */
export async function parentId(context: EngineContext, tape: Tape, row: Shown): Promise<string | null> {
  if (row.parent === 0) return null;
  const known = isPlain(tape) ? ownRowAtHand(tape, row.parent) : undefined;
  return known ? known.id : ((await parentOf(context, tape, row, NOW))?.id ?? null);
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
  context: EngineContext,
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
  let found: Checkpoint | undefined;
  try {
    found = await untilUndisturbed(place.thread, attempt, rewriteCheck(find));
  } catch (error) {
    throw named(error, place.thread, row.id);
  }
  return found && context.versions ? migrated(context.versions, found) : found;
}

/** Returns a checkpoint with its state as the program's version has it. Its `stateVersion` stays the one it was written under. */
async function migrated(versions: StateVersions, checkpoint: Checkpoint): Promise<Checkpoint> {
  const { id, thread, namespace, workflow, stateVersion } = checkpoint;
  const subject = { thread, checkpoint: id, isRoot: namespace.length === 0, workflow, stateVersion };
  if (!versions.isOlder(subject)) return checkpoint;
  return { ...checkpoint, state: await versions.upgrade(checkpoint.state, subject) };
}

async function readCheckpoint(
  context: EngineContext,
  tape: Tape,
  place: Place,
  row: Shown,
  { ready, records }: AtHand,
): Promise<Checkpoint> {
  const parent = await parentId(context, tape, row);
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

function decodeCheckpoint(
  context: EngineContext,
  place: Place,
  row: Shown,
  parent: string | null,
  from: Tree,
): Checkpoint {
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

/** Decodes writes as they are stored, in the order given; their large values are read at once. */
export async function decodeWrites(
  context: EngineContext,
  tape: Tape,
  writes: readonly EncodedWrite[],
): Promise<Write[]> {
  const found = await withStateValues(context, writes);
  const values = await new ValueReader(context, tape).resolveCopied(found.map(({ value }) => value));
  return found.map((write, index) => writeOf(context, { ...write, value: values[index] as Json }));
}

/** Reads the writes that a thread shows for a checkpoint. `own` are the records of its own tape, if they were read already. */
export function writesShown(
  context: EngineContext,
  tape: Tape,
  { thread, namespace, id }: { readonly thread: string; readonly namespace: string; readonly id: string },
  own?: readonly Found[],
): Promise<Write[]> {
  const find = (): Promise<Tape | undefined> => context.thread(thread);
  const attempt = async (again: boolean): Promise<Write[]> => {
    const now = again ? await find() : tape;
    if (!now) return [];
    return decodeWrites(context, now, await shownWrites(context, now, namespace, id, again ? undefined : own));
  };
  // A write may be replaced, and its large values collected, between two reads.
  return untilUndisturbed(thread, attempt, rewriteCheck(find));
}

function writeOf(context: EngineContext, write: EncodedWrite): Write {
  const { task, node, index, channel } = write;
  return { task, node, index, channel, value: context.codec.decode(write.value) };
}

/** Reads a checkpoint with its parent's address and its writes. Undefined when it was deleted while it was being read. */
export async function tupleOf(
  context: EngineContext,
  tape: Tape,
  place: Place,
  row: Shown,
  ahead: ReadAhead,
): Promise<CheckpointTuple | undefined> {
  const checkpoint = await checkpointOf(context, tape, place, row, { records: ahead.records });
  if (!checkpoint) return undefined;
  const { thread, namespace, parent } = checkpoint;
  const address = { thread: place.thread, namespace: row.namespace, id: row.id };
  const writes = await writesShown(context, tape, address, ahead.writes(tape, row.id));
  return {
    checkpoint,
    parent: parent === null ? null : { thread, namespace: [...namespace], id: parent },
    writes,
  };
}

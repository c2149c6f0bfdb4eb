import type { Json } from "../codec/json.ts";
import { ThreadmarkError } from "../errors.ts";
import type {
  Activation,
  Barrier,
  Checkpoint,
  CheckpointInfo,
  Interrupt,
  Metadata,
  Write,
} from "../model/checkpoint.ts";
import type { Engine } from "./engine.ts";
import { type Row, toInfo } from "./row.ts";
import type { Tape } from "./tape.ts";
import { loadShown } from "./tree.ts";
import type { Body } from "./tree-cache.ts";
import { NOW, parentOf, type Shown } from "./view.ts";
import type { EncodedWrite } from "./writes.ts";

/** What identifies a handle: used to show rows under the thread's own name. */
export interface Place {
  readonly thread: string;
  readonly namespace: readonly string[];
}

export function infoOf(engine: Engine, place: Place, row: Row, parent: string | null): CheckpointInfo {
  const metadata = row.metadata === null ? {} : (engine.codec.decode(row.metadata, { tagged: row.tagged }) as Metadata);
  return toInfo(row, place.thread, place.namespace, parent, metadata);
}

/** The id of the parent a row shows. */
export async function parentId(engine: Engine, tape: Tape, row: Shown): Promise<string | null> {
  if (row.parent === 0) return null;
  return (await parentOf(engine, tape, row, NOW))?.id ?? null;
}

/** A whole checkpoint: the caller's own copy. */
export async function checkpointOf(engine: Engine, tape: Tape, place: Place, row: Shown): Promise<Checkpoint> {
  const parent = await parentId(engine, tape, row);
  const { tree, tagged, owned } = await bodyTree(engine, tape, place, row);
  const body = tree as Body;
  const decode = (value: Json): unknown => engine.codec.decode(value, { owned, tagged });
  return {
    ...infoOf(engine, place, row, parent),
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

async function bodyTree(engine: Engine, tape: Tape, place: Place, row: Shown): Promise<Tree> {
  if (row.replacedBy === undefined) {
    const known = engine.trees.get(tape.number, row.seq);
    if (known) return { tree: known.tree, tagged: known.tagged, owned: false };
  }
  try {
    const loaded = await loadShown(engine, tape, row);
    // What is read twice is worth remembering; what is read once is the caller's, without a copy.
    if (row.replacedBy !== undefined || tape.lastLoaded !== row.seq) {
      tape.lastLoaded = row.seq;
      return { ...loaded, owned: true };
    }
    engine.trees.set(tape.number, row.seq, { ...loaded, size: Math.ceil(loaded.weight / 3), loan: { count: 0 } });
    return { ...loaded, owned: false };
  } catch (error) {
    throw named(error, place.thread, row.id);
  }
}

/** Adds to a fault of storage which checkpoint it was found in. */
export function named(error: unknown, thread: string, checkpoint: string): unknown {
  if (!(error instanceof ThreadmarkError) || error.code !== "CORRUPT" || error.checkpoint !== undefined) return error;
  return new ThreadmarkError(
    "CORRUPT",
    `Thread ${JSON.stringify(thread)}, checkpoint ${JSON.stringify(checkpoint)}: ${error.message}`,
    { thread, checkpoint, ...(error.frame !== undefined && { frame: error.frame }), cause: error },
  );
}

export function writeOf(engine: Engine, write: EncodedWrite): Write {
  const { task, node, index, channel } = write;
  return { task, node, index, channel, value: engine.codec.decode(write.value) };
}

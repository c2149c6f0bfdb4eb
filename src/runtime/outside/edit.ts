import { storeTime } from "../../api/adapter.ts";
import type { Thread } from "../../api/thread.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { CheckpointInfo, CheckpointTuple } from "../../model/checkpoint.ts";
import { isPlainObject } from "../../platform/plain-objects.ts";
import { messageOf, RunError, StorageFailure } from "../errors.ts";
import { type Definition, writtenVersion } from "../graph/definition.ts";
import type { Values } from "../graph/reducers.ts";
import { BranchFailure, UnknownTarget } from "../graph/routing.ts";
import { Journal } from "../journal/journal.ts";
import type { CommitOptions } from "../journal/journal-options.ts";
import { updatedPosition, updatedPositionAs } from "../position/edit-position.ts";
import { type Position, readPosition } from "../position/graph-position.ts";
import { checkFits, NOTHING } from "../position/start-run.ts";
import { timeOrderedId } from "../position/time-ordered-id.ts";
import { upgraded } from "../position/upgrade.ts";
import { nestedHeads, noteNested } from "../run/nested.ts";

/** Options of `flow.update`. */
export interface UpdateOptions<Names extends string = string> {
  /** A node to update in the name of: its edges are followed, as if it had returned the values. Default: none. */
  readonly as?: Names;
  /** An older checkpoint to branch from. Default: the head. */
  readonly from?: string;
  /** With `as`: tasks that the node may have led to before are dropped. Default false. */
  readonly routesAgain?: boolean;
}

type Open = (namespace: readonly string[]) => Thread<Values>;

/** Puts a checkpoint of source "update" on a thread. Refused with `BUSY` while a run holds the thread. */
export async function edit(
  definition: Definition,
  threadId: string,
  open: Open,
  values: Values,
  { as, from, routesAgain = false }: UpdateOptions,
): Promise<CheckpointInfo> {
  if (!isPlainObject(values)) throw new TypeError("The values of an update must be an object of state keys.");
  if (as !== undefined && !definition.nodes.has(as)) {
    const message = `update({ as }) names "${as}", which is not a node of workflow "${definition.name}".`;
    throw new RunError("UNKNOWN_NODE", message, { thread: threadId, node: as });
  }
  const thread = open([]);
  const head = await thread.tuple();
  const base = from === undefined || head === undefined ? head : await thread.tuple(from);
  if (head === undefined || base === undefined) {
    const what =
      head === undefined ? `There is no thread "${threadId}"` : `Thread "${threadId}" has no checkpoint "${from}"`;
    throw new ThreadmarkError("NOT_FOUND", `${what} to update. See store.threads() and history().`, {
      thread: threadId,
      ...(head === undefined || from === undefined ? {} : { checkpoint: from }),
    });
  }
  checkFits(definition, threadId, base.checkpoint.workflow, NOTHING);
  const isBranch = base.checkpoint.id !== head.checkpoint.id;
  const { tuple, migrated } = await upgraded(definition, base);
  const before = readPosition(tuple, isBranch);
  const applied = await apply(definition, before, values, as, routesAgain);
  const after: Position = migrated ? { ...applied, change: undefined } : applied;
  if (isBranch)
    return commit(definition, thread, head, { ...after, run: crypto.randomUUID() }, { parent: base.checkpoint.id });
  const id = timeOrderedId();
  const level = { definition, namespace: [], session: { open }, stopped: new Map<string, string>() };
  const notes = noteNested(after.notes, id, await nestedHeads(level, after, before.id));
  return commit(definition, thread, head, { ...after, notes }, { id });
}

async function apply(
  definition: Definition,
  before: Position,
  values: Values,
  as: string | undefined,
  routesAgain: boolean,
): Promise<Position> {
  try {
    return as === undefined
      ? updatedPosition(definition, before, values)
      : await updatedPositionAs(definition, before, values, as, routesAgain);
  } catch (error) {
    const known = error instanceof UnknownTarget || error instanceof BranchFailure;
    if (!known) throw error;
    const code = error instanceof UnknownTarget ? "UNKNOWN_NODE" : "NODE_FAILED";
    throw new RunError(code, `The update was not made: ${messageOf(error)}`, { node: error.from, cause: error });
  }
}

async function commit(
  definition: Definition,
  thread: Thread<Values>,
  head: CheckpointTuple,
  position: Position,
  options: CommitOptions,
): Promise<CheckpointInfo> {
  const journal = new Journal({
    thread,
    lease: undefined,
    durability: "sync",
    workflow: definition.name,
    version: writtenVersion(definition),
    head: head.checkpoint,
    // Workers leave a fork alone until somebody has resumed it.
    ...((await thread.lease()).taken && { schedule: () => storeTime(thread) }),
  });
  try {
    await journal.commit(position, options);
  } catch (error) {
    throw error instanceof StorageFailure ? error.error : error;
  }
  return journal.head as CheckpointInfo;
}

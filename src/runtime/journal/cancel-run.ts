import { mailboxOf } from "../../api/mailbox.ts";
import type { Thread } from "../../api/thread.ts";
import type { CheckpointInfo, CheckpointTuple } from "../../model/checkpoint.ts";
import type { LeaseToken } from "../../model/interface/options.ts";
import { CANCELLED } from "../../model/status.ts";
import { messageOf } from "../errors.ts";
import type { Values } from "../graph/reducers.ts";
import { type Position, readPosition } from "../position/graph-position.ts";
import { controlWrite } from "../position/step-progress.ts";
import { timeOrderedId } from "../position/time-ordered-id.ts";

/** Thrown into a run that `flow.cancel` ends. */
export class CancelRequest extends Error {
  override readonly name = "CancelRequest";
  /** The id of the message that asked for it. */
  readonly messageId: string;
  readonly reason: unknown;

  constructor(messageId: string, reason: unknown) {
    super(reason === undefined ? "The run was cancelled." : messageOf(reason));
    this.messageId = messageId;
    this.reason = reason;
  }
}

/**
 * Ends the run of a thread as cancelled, in a checkpoint of its own: nothing is left to run or to answer. The caller holds
 * the lease. The message that asked for it is used up in the same commit.
 */
export async function commitCancelled(
  thread: Thread<Values>,
  { checkpoint }: CheckpointTuple<Values>,
  lease: LeaseToken,
  reason: unknown,
  messages: readonly string[],
): Promise<CheckpointInfo> {
  const id = timeOrderedId();
  const { node, path, run, step } = checkpoint;
  const error = { code: CANCELLED, name: "Cancelled", message: reason === undefined ? "" : messageOf(reason) };
  // The write goes first: a checkpoint without it would be that of a finished run.
  const write = thread.putWrites(
    id,
    { task: "cancelled", node: null, writes: [controlWrite("error", error)] },
    { lease },
  );
  const put = mailboxOf(thread).put(
    { id, update: {}, step: step + 1, source: "update", node, path, run, next: [], due: null },
    { lease, expect: checkpoint.id, consume: messages },
  );
  const [info] = await Promise.all([put, write]);
  return info;
}

/** Ends a run that a message cancels, at the head that the run has left, and returns its last position. */
export async function endCancelled(
  thread: Thread<Values>,
  lease: LeaseToken,
  { reason, messageId }: CancelRequest,
): Promise<{ status: "cancelled"; position: Position; checkpoint: CheckpointInfo }> {
  const head = (await thread.tuple()) as CheckpointTuple<Values>;
  const checkpoint = await commitCancelled(thread, head, lease, reason, [messageId]);
  const position = readPosition({ ...head, checkpoint: { ...head.checkpoint, next: [], interrupts: [] } }, true);
  return { status: "cancelled", position: { ...position, notes: {} }, checkpoint };
}

import { mailboxOf } from "../../api/mailbox.ts";
import type { Thread } from "../../api/thread.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { Values } from "../graph/reducers.ts";
import { infoOf } from "../position/graph-position.ts";
import type { RunResult } from "../run/events.ts";
import { kinds, runMessageId } from "../run/mail.ts";

/** Tells whether a run of this id was ever begun, whoever holds the thread. */
export async function hasBegun(thread: Thread<Values>, run: string): Promise<boolean> {
  const { stored, used } = await mailboxOf(thread).send({ id: runMessageId(run), kind: kinds.run }, { early: true });
  return !stored && used;
}

/**
 * Returns the result of an earlier run of this id, whichever runs came since; undefined if there was none. The id is noted
 * as a message, which the first commit of the run uses up: so a run of that id begins once.
 */
export async function knownRun(thread: Thread<Values>, run: string): Promise<RunResult | undefined> {
  const note = { id: runMessageId(run), kind: kinds.run };
  const { stored, used } = await mailboxOf(thread).send(note, { early: true });
  if (stored || !used) return undefined;
  for await (const checkpoint of thread.history({ run, limit: 1, states: true })) {
    const status = checkpoint.next.length === 0 ? "done" : "interrupted";
    const { state, interrupts } = checkpoint;
    return { status, state, checkpoint: infoOf(checkpoint), interrupts, run };
  }
  throw new ThreadmarkError(
    "NOT_FOUND",
    `Run "${run}" of thread "${thread.id}" has ended before, and its checkpoints were pruned.`,
    { thread: thread.id },
  );
}

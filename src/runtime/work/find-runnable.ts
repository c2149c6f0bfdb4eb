import { mailboxOf } from "../../api/mailbox.ts";
import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { CheckpointTuple, ThreadInfo } from "../../model/checkpoint.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import type { Status } from "../../model/status.ts";
import type { Values } from "../graph/reducers.ts";
import { RECOVERIES } from "../journal/recoveries.ts";
import { notesOf, tasksOf } from "../position/graph-position.ts";
import { isRunnable, openStops, readProgress } from "../position/step-progress.ts";
import { wouldAnswer } from "../run/mail.ts";

/*
 * Where the runtime learns which runs can go on. A candidate is found by a look at its head; whether it runs is decided under
 * its lease, by `canGoOn`.
 */

/** A thread that may have a run to take. */
export interface RunCandidate {
  readonly thread: string;
  /** True while somebody holds its lease: its run can be taken over when that ends. */
  readonly held: boolean;
}

/** Facts that a search found besides candidates. */
export interface Outlook {
  /** The earliest time at which a sleep or a time limit ends, in milliseconds since 1970. */
  due: number;
}

/** Yields the threads of a workflow whose runs may be able to go on. `outlook` learns when the next one will be. */
export async function* findCandidates(
  store: Store<Values>,
  workflow: string,
  { failed, now }: { readonly failed: boolean; readonly now: number },
  outlook: Outlook = { due: Number.POSITIVE_INFINITY },
): AsyncGenerator<RunCandidate> {
  const unfinished: readonly Status[] = ["running", "paused", "waiting"];
  const sought = failed ? [...unfinished, "failed" as const] : unfinished;
  for await (const info of store.threads({ workflow, status: sought })) {
    const { id: thread, status } = info;
    if (status === "running") yield { thread, held: true };
    else if (status === "failed" ? failed : status === "paused" || status === "waiting") {
      if (await mayGoOn(store, info, now, outlook)) yield { thread, held: false };
    }
  }
}

async function mayGoOn(store: Store<Values>, info: ThreadInfo, now: number, outlook: Outlook): Promise<boolean> {
  const { idle, due } = notesOf(info.head.metadata);
  // A thread whose questions were all answered is no longer waiting.
  if (!idle || info.head.waiting > 0) {
    if (due !== undefined && due > now) outlook.due = Math.min(outlook.due, due);
    return true;
  }
  if (due !== undefined && due <= now) return true;
  if (due !== undefined) outlook.due = Math.min(outlook.due, due);
  return (await mailboxOf(store.thread(info.id)).pending()).length > 0;
}

/**
 * Tells whether a run can go on by itself: somebody began it in this thread, nobody holds it back, and it waits for nothing
 * that is not there.
 */
export async function canGoOn(
  thread: Thread<Values>,
  tuple: CheckpointTuple,
  { failed, now }: { readonly failed: boolean; readonly now: number },
): Promise<boolean> {
  const { checkpoint, writes } = tuple;
  if (checkpoint.next.length === 0) return false;
  const next = tasksOf(checkpoint);
  const progress = readProgress(tuple, next, false);
  if (progress.failed.size > 0 && !failed) return false;
  const isAtBreakpoint = notesOf(checkpoint.metadata).paused === true;
  const hasLeft = writes.some(({ index, task }) => index === controlIndexes.scheduled && task !== RECOVERIES);
  if (isAtBreakpoint && !hasLeft) return false;
  if (next.some((task) => isRunnable(progress, task))) return true;
  const open = openStops({ next, progress });
  if (open.some(({ until }) => until !== undefined && until <= now)) return true;
  const messages = await mailboxOf(thread).pending();
  return open.some((stop) => messages.some((message) => wouldAnswer(message, stop, checkpoint.run)));
}

/** Tells whether a run was ever begun or resumed in the thread itself: a fork or an import of one was not. */
export async function wasBegun(thread: Thread<Values>): Promise<boolean> {
  return (await thread.lease()).taken;
}

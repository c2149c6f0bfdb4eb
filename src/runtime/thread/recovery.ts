import type { Store } from "../../api/store.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { CheckpointTuple } from "../../model/checkpoint.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import type { Status } from "../../model/status.ts";
import type { Values } from "../graph/reducers.ts";
import type { RunResult } from "../run/events.ts";
import type { WalkOptions } from "../run/options.ts";
import type { Task } from "../run/routing.ts";
import { notesOf, tasksOf } from "./graph-position.ts";
import { openInterrupts, type Progress, readProgress } from "./step-progress.ts";

export interface RecoverOptions<State = unknown> extends Omit<WalkOptions<State>, "concurrency" | "ifBusy"> {
  /** The number of runs that are resumed at the same time. Default 4. */
  readonly concurrency?: number;
  /** Also resume runs that failed. Default false. */
  readonly failed?: boolean;
}

/** The outcome of a recovered run. */
export type Recovered<State = unknown> =
  | { readonly thread: string; readonly result: RunResult<State>; readonly error?: undefined }
  | { readonly thread: string; readonly result?: undefined; readonly error: unknown };

/**
 * Resumes abandoned runs: those whose holder died, and those whose interrupts have been answered. Leaves alone runs that
 * wait for an answer or at a breakpoint and, without `failed`, runs that failed.
 */
export async function recover<State>(
  store: Store<Values>,
  workflow: string,
  { concurrency = 4, failed = false, ...options }: RecoverOptions<State>,
  resume: (thread: string, options: WalkOptions<State>) => Promise<RunResult<State>>,
): Promise<readonly Recovered<State>[]> {
  if (!(concurrency >= 1))
    throw new TypeError(`concurrency must be a number of at least 1, not ${String(concurrency)}.`);
  const statuses: readonly Status[] = failed ? ["paused", "waiting", "failed"] : ["paused", "waiting"];
  const threads = new Set<string>();
  for await (const { id, status } of store.threads({ workflow })) if (statuses.includes(status)) threads.add(id);
  const recovered: Recovered<State>[] = [];
  const queue = threads.values();
  const worker = async (): Promise<void> => {
    for (const thread of queue) {
      if (options.signal?.aborted) return;
      try {
        const tuple = await store.thread(thread).tuple();
        if (tuple !== undefined && isAbandoned(tuple))
          recovered.push({ thread, result: await resume(thread, options) });
      } catch (error) {
        // BUSY: another process has resumed the run.
        if (!(error instanceof ThreadmarkError) || error.code !== "BUSY") recovered.push({ thread, error });
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return recovered;
}

function isAbandoned(tuple: CheckpointTuple): boolean {
  const { checkpoint, writes } = tuple;
  if (checkpoint.next.length === 0) return false;
  const next = tasksOf(checkpoint);
  const progress = readProgress(tuple, next, false);
  const asked = [...progress.asked.values()].flat();
  if (asked.length > 0 && openInterrupts({ next, progress }).length === asked.length)
    return hasOtherWork(next, progress);
  const isAtBreakpoint = notesOf(checkpoint.metadata).paused === true;
  return !isAtBreakpoint || writes.some(({ index }) => index === controlIndexes.scheduled) || asked.length > 0;
}

/** Tells whether some task has neither finished nor asked. */
function hasOtherWork(next: readonly Task[], progress: Progress): boolean {
  return next.some(({ task }) => !progress.results.has(task) && !progress.asked.has(task));
}

import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { CheckpointTuple } from "../../model/checkpoint.ts";
import type { WalkOptions } from "../call/options.ts";
import type { FlowTypes } from "../graph/flow-types.ts";
import type { Values } from "../graph/reducers.ts";
import { headOf } from "../journal/late-answers.ts";
import type { RunResult } from "../run/events.ts";
import { canGoOn, findCandidates, wasBegun } from "./find-runnable.ts";

/** Options of `flow.recover`. */
export interface RecoverOptions<State = unknown, Names extends string = string, Types extends FlowTypes = FlowTypes>
  extends Omit<WalkOptions<State, Names, Types>, "concurrency" | "ifBusy"> {
  /** The number of runs that are resumed at the same time. Default 4. */
  readonly concurrency?: number;
  /** Also resume runs that failed. Default false. */
  readonly failed?: boolean;
}

/** The outcome of a recovered run. */
export type Recovered<State = unknown, Types extends FlowTypes = FlowTypes> =
  | { readonly thread: string; readonly result: RunResult<State, Types>; readonly error?: undefined }
  | { readonly thread: string; readonly result?: undefined; readonly error: unknown };

type Judge = (head: CheckpointTuple) => Promise<boolean>;

/** Resumes a thread if its head, seen under the thread's lease, is judged to be worth it; else undefined. */
type ResumeIf<State> = (
  thread: string,
  options: WalkOptions<State>,
  judge: Judge,
) => Promise<RunResult<State> | undefined>;

/** Resumes the run of a thread if it can go on by itself; else resolves to undefined. */
export async function takeUp<State>(
  thread: Thread<Values>,
  { failed, now }: { readonly failed: boolean; readonly now: () => number },
  resume: (judge: Judge) => Promise<RunResult<State> | undefined>,
): Promise<RunResult<State> | undefined> {
  const judge: Judge = (head) => canGoOn(thread, head, { failed, now: now() });
  // A look without the lease comes first: taking it costs a commit.
  const head = await headOf(thread);
  if (head === undefined || !(await wasBegun(thread)) || !(await judge(head))) return undefined;
  return resume(judge);
}

/**
 * Resumes abandoned runs: those whose holder died, and those whose questions, sleeps or waits have been answered. Leaves alone
 * runs that wait or are at a breakpoint, forks and imported threads that nobody has resumed and, without `failed`, runs that
 * failed.
 */
export async function recover<State>(
  store: Store<Values>,
  workflow: string,
  { concurrency = 4, failed = false, ...options }: RecoverOptions<State>,
  now: () => number,
  resume: ResumeIf<State>,
): Promise<readonly Recovered<State>[]> {
  if (!(concurrency >= 1))
    throw new TypeError(`concurrency must be a number of at least 1, not ${String(concurrency)}.`);
  const threads: string[] = [];
  for await (const { thread, held } of findCandidates(store, workflow, { failed, now: now() })) {
    if (!held) threads.push(thread);
  }
  const recovered: Recovered<State>[] = [];
  const queue = threads.values();
  const worker = async (): Promise<void> => {
    for (const id of queue) {
      if (options.signal?.aborted) return;
      try {
        const result = await takeUp<State>(store.thread(id), { failed, now }, (judge) => resume(id, options, judge));
        if (result !== undefined) recovered.push({ thread: id, result });
      } catch (error) {
        // BUSY: another process has resumed the run.
        if (!ThreadmarkError.is(error, "BUSY")) recovered.push({ thread: id, error });
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return recovered;
}

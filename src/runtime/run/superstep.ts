import type { RunError } from "../errors.ts";
import { taskKey } from "../thread/identity.ts";
import { forgetQuestions, INTERRUPT, type Position, resultWrites } from "../thread/position.ts";
import type { Task } from "./routing.ts";
import { type Level, nodeError } from "./session.ts";
import { type Outcome, runTask } from "./task.ts";

/** A task that failed, and why. */
export interface Failed {
  readonly task: Task;
  readonly error: RunError;
}

/** A task whose result, or question, the store refused. */
export class TaskFault extends Error {
  readonly failed: Failed;

  constructor(failed: Failed) {
    super(failed.error.message, { cause: failed.error });
    this.failed = failed;
  }
}

/**
 * Runs what is left of a step: not what has finished, nor what waits for an answer. All tasks see the position's state;
 * what each does is noted in its progress, and saved, as soon as it ends. Returns the failures in activation order.
 */
export async function superstep(level: Level, position: Position): Promise<readonly Failed[]> {
  const waiting = position.next.filter((task) => isRunnable(position, task)).values();
  const failed = new Map<Task, RunError>();
  let broken: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (const task of waiting) {
      try {
        settle(level, position, task, await runTask(level, position, task), failed);
      } catch (error) {
        broken ??= { error };
      }
      // What runs is let finish, since its work is kept; nothing more is begun.
      if (broken !== undefined || failed.size > 0) return;
    }
  };
  const count = Math.min(level.session.concurrency, position.next.length);
  await Promise.all(Array.from({ length: count }, worker));
  if (broken !== undefined) throw broken.error;
  return position.next.flatMap((task) => {
    const error = failed.get(task);
    return error === undefined ? [] : [{ task, error }];
  });
}

/** A task waits while none of its questions has been answered. */
function isRunnable({ progress }: Position, { task }: Task): boolean {
  if (progress.results.has(task)) return false;
  const asked = progress.asked.get(task);
  return asked === undefined || asked.some(({ id }) => progress.answers.has(id));
}

function settle(level: Level, position: Position, task: Task, outcome: Outcome, failed: Map<Task, RunError>): void {
  const { session, journal, namespace } = level;
  const step = position.step + 1;
  const place = {
    namespace,
    step,
    node: task.node,
    task: taskKey(session.threadId, session.run, namespace, task.task),
  };
  const blame = (cause: Error): Error =>
    new TaskFault({
      task,
      error: nodeError(level, "NODE_FAILED", { ...task, step }, "gave what cannot be stored", cause),
    });
  if (outcome.kind === "failed") {
    failed.set(task, outcome.error);
    session.emit({ type: "error", ...place, error: outcome.error });
  } else if (outcome.kind === "asked") {
    const { interrupts } = outcome;
    position.progress.asked.set(task.task, interrupts);
    // Whatever was answered before was no answer to what is asked now.
    for (const { id } of interrupts) position.progress.answers.delete(id);
    const writes = [{ channel: "interrupt", value: interrupts, index: INTERRUPT }];
    journal.save(position, { task: task.task, node: task.node, writes }, blame);
    session.emit({ type: "interrupt", ...place, interrupts });
  } else {
    const { result, raw } = outcome;
    position.progress.results.set(task.task, result);
    forgetQuestions(position.progress, task.task);
    journal.save(position, { task: task.task, node: task.node, writes: resultWrites(raw.update, raw.goto) }, blame);
    session.emit({ type: "update", ...place, update: result.update });
  }
}

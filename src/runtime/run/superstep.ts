import type { RunError } from "../errors.ts";
import type { Task } from "../graph/routing.ts";
import type { Position } from "../position/graph-position.ts";
import { controlWrite, forgetQuestions, isRunnable, noteStops, resultWrites } from "../position/step-progress.ts";
import { isQuestion } from "../position/stops.ts";
import { taskKey } from "../position/task-key.ts";
import { ownCopy } from "../values/capture.ts";
import { type GraphLevel, nodeError } from "./session.ts";
import { type Outcome, runTask } from "./task.ts";

/** A failed task with its error. */
export interface Failed {
  readonly task: Task;
  readonly error: RunError;
}

/** The fault of a task whose result or question the store cannot hold. */
export class TaskFault extends Error {
  readonly failed: Failed;

  constructor(failed: Failed) {
    super(failed.error.message, { cause: failed.error });
    this.failed = failed;
  }
}

/**
 * Runs the tasks of a step that have neither finished nor wait for an answer. All tasks see the position's state. Each
 * outcome is noted in the position's progress, and saved, as soon as the task ends. Returns failures in activation order.
 */
export async function superstep(level: GraphLevel, position: Position): Promise<readonly Failed[]> {
  const waiting = position.next.filter((task) => isRunnable(position.progress, task)).values();
  const failed = new Map<Task, RunError>();
  let broken: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (const task of waiting) {
      const from = level.session.now();
      try {
        settle(level, position, task, await runTask(level, position, task), failed);
      } catch (error) {
        broken ??= { error };
      }
      position.progress.times.set(task.task, { from, to: level.session.now() });
      // Running tasks may finish, since their results are kept; no further task is begun.
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

function settle(
  level: GraphLevel,
  position: Position,
  task: Task,
  outcome: Outcome,
  failed: Map<Task, RunError>,
): void {
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
      error: nodeError(level, "NODE_FAILED", { ...task, step }, "gave a value that cannot be stored", cause),
    });
  if (outcome.kind === "failed") {
    session.emit({ type: "error", ...place, error: outcome.error });
    const isOwnFault = outcome.error.code === "NODE_FAILED" || outcome.error.code === "TIMEOUT";
    if (!isOwnFault || level.definition.nodes.get(task.node)?.options.onError !== "collect") {
      failed.set(task, outcome.error);
      return;
    }
    session.collected.push(outcome.error);
    position.progress.results.set(task.task, { update: undefined, goto: undefined });
    forgetQuestions(position.progress, task.task);
    journal.save(position, { task: task.task, node: task.node, writes: resultWrites(undefined, undefined) }, blame);
  } else if (outcome.kind === "asked") {
    const stops = noteStops(position.progress, task.task, outcome.stops);
    const writes = [controlWrite("interrupt", stops)];
    journal.save(position, { task: task.task, node: task.node, writes }, blame);
    const interrupts = outcome.stops.filter(isQuestion).map(({ id, node, value }) => ({ id, node, value }));
    if (interrupts.length > 0) session.emit({ type: "interrupt", ...place, interrupts });
  } else {
    const { result, raw } = outcome;
    position.progress.results.set(task.task, result);
    forgetQuestions(position.progress, task.task);
    journal.save(position, { task: task.task, node: task.node, writes: resultWrites(raw.update, raw.goto) }, blame);
    session.emit({ type: "update", ...place, update: ownCopy(result.update) });
  }
}

import { successors } from "../graph/check.ts";
import type { Definition } from "../graph/definition.ts";
import { reduce, type Values } from "../graph/reducers.ts";
import { route, type Task } from "../graph/routing.ts";
import { capture } from "../values/capture.ts";
import type { Position } from "./graph-position.ts";
import { emptyProgress, openInterrupts } from "./step-progress.ts";
import { isOfTask } from "./stops.ts";

/** Returns the position with the update reduced into its state. Its pending and finished tasks stay as they are. */
export function updatedPosition(definition: Definition, position: Position, update: Values): Position {
  const { state, change } = reduce(definition.reducers, position.state, [capture(update)]);
  return {
    ...position,
    id: undefined,
    state,
    change,
    step: position.step + 1,
    source: "update",
    plainPath: false,
    interrupts: openInterrupts(position),
  };
}

/**
 * Returns the position as if a node had returned the update: its edges are followed, the other pending tasks stay. With
 * `routesAgain`, tasks that the node may have led to are not pending any more.
 */
export async function updatedPositionAs(
  definition: Definition,
  position: Position,
  update: Values,
  node: string,
  routesAgain = false,
): Promise<Position> {
  const changed = updatedPosition(definition, position, update);
  const led = routesAgain ? (successors(definition).get(node) ?? []) : [];
  const kept = position.next.filter((task) => task.node !== node && !led.includes(task.node));
  const { next, barriers } = await route(definition, [{ node }], changed.state, position.barriers, changed.step);
  const unfinished = kept.filter(({ task }) => !position.progress.results.has(task));
  const isPending = (task: Task): boolean =>
    task.arg === undefined && unfinished.some((other) => isPlain(other, task.node));
  const tasks = new Set(kept.map(({ task }) => task));
  const progress = emptyProgress();
  for (const [task, result] of position.progress.results) if (tasks.has(task)) progress.results.set(task, result);
  for (const [task, asked] of position.progress.asked) if (tasks.has(task)) progress.asked.set(task, asked);
  for (const [task, goto] of position.progress.gotos) if (tasks.has(task)) progress.gotos.set(task, goto);
  for (const [question, answer] of position.progress.answers) {
    if (kept.some(({ task }) => isOfTask(question, task))) progress.answers.set(question, answer);
  }
  const { paused: _, ...notes } = position.notes;
  const result: Position = {
    ...changed,
    node,
    path: [...position.path, node],
    next: [...kept, ...next.filter((task) => !isPending(task))],
    barriers,
    notes,
    progress,
  };
  return { ...result, interrupts: openInterrupts(result) };
}

/** Tells whether the task activates the node without an argument: such tasks of a node are one and the same. */
function isPlain(task: Task, node: string): boolean {
  return task.node === node && task.arg === undefined;
}

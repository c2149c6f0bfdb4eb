import type { Breaks, Position } from "../position/graph-position.ts";
import { openInterrupts } from "../position/step-progress.ts";

/** Tells whether a breakpoint of this call is on a task that has not begun and that no breakpoint has stopped yet. */
export function stopsAt({ next, notes, progress }: Position, { before }: Breaks): boolean {
  const begun = (task: string): boolean => progress.results.has(task) || progress.asked.has(task);
  return !notes.paused && next.some(({ node, task }) => before.includes(node) && !begun(task));
}

/** Returns a copy of the position that waits at a breakpoint, for a checkpoint of its own. */
export function pausedAt(position: Position, notes: Position["notes"]): Position {
  return {
    ...position,
    id: undefined,
    change: {},
    source: "loop",
    interrupts: openInterrupts(position),
    notes,
  };
}

import type { Cancellation } from "../control/cancellation.ts";
import { RunError } from "../errors.ts";
import type { Definition } from "../graph/definition.ts";
import { START } from "../graph/goto.ts";
import { reduce, type Values } from "../graph/reducers.ts";
import { route, type Task } from "../graph/routing.ts";
import { capture } from "../values/capture.ts";
import type { Breaks, FlowNotes, Position } from "./graph-position.ts";
import { emptyProgress } from "./step-progress.ts";

export interface RunStart {
  readonly definition: Definition;
  readonly run: string;
  readonly breaks: Breaks;
  readonly notes?: FlowNotes;
  /** Ends the wait for a branch of START. */
  readonly cancellation?: Cancellation;
}

/** Returns the first position of a run: the input reduced into the state before it, and the tasks that START leads to. */
export async function startPosition(
  { definition, run, breaks, notes = {}, cancellation }: RunStart,
  input: Values,
  before: Pick<Position, "state" | "step"> | undefined,
): Promise<Position> {
  const step = before === undefined ? 0 : before.step + 1;
  const { state, change } = reduce(definition.reducers, before?.state ?? {}, [capture(input)]);
  const { next, barriers } = await route(definition, [{ node: START }], state, [], step, cancellation);
  return {
    id: undefined,
    state,
    change,
    step,
    source: "input",
    node: null,
    path: [],
    plainPath: false,
    next,
    interrupts: [],
    barriers,
    run,
    notes: { ...notes, ...arrivalNotes(breaks, [], next) },
    progress: emptyProgress(),
  };
}

/** Returns the notes of a boundary about breakpoints: the list of them, and whether one fires there. */
export function arrivalNotes(breaks: Breaks, ran: readonly string[], next: readonly Task[]): FlowNotes {
  if (breaks.before.length === 0 && breaks.after.length === 0) return {};
  const fires =
    next.length > 0 &&
    (next.some(({ node }) => breaks.before.includes(node)) || ran.some((node) => breaks.after.includes(node)));
  return fires ? { breaks, paused: true } : { breaks };
}

/** A position of which nothing has to fit, for {@link checkFits}. */
export const NOTHING: Pick<Position, "next" | "barriers"> = { next: [], barriers: [] };

/**
 * Refuses a thread of another workflow (`OTHER_WORKFLOW`), or with a task or a half-arrived join for a node that the graph
 * lacks (`UNKNOWN_NODE`): nothing of a stored position is dropped silently.
 */
export function checkFits(
  definition: Definition,
  thread: string | undefined,
  workflow: string | null,
  { next, barriers }: Pick<Position, "next" | "barriers">,
): void {
  if (workflow !== null && workflow !== definition.name) {
    throw new RunError(
      "OTHER_WORKFLOW",
      `Thread "${thread}" belongs to workflow "${workflow}", not to "${definition.name}". Use the graph it was run with, or another thread.`,
      { thread },
    );
  }
  const unknown = next.find(({ node }) => !definition.nodes.has(node));
  if (unknown !== undefined) {
    throw new RunError(
      "UNKNOWN_NODE",
      `Thread "${thread}" waits to run node "${unknown.node}", which workflow "${definition.name}" does not have. Add the node, or go elsewhere with resume({ goto }).`,
      { thread, node: unknown.node },
    );
  }
  for (const { node, arrived } of barriers) {
    const joins = definition.joins.filter(({ target }) => target === node);
    const lost = arrived.find((name) => !joins.some(({ sources }) => sources.includes(name)));
    if (joins.length > 0 && lost === undefined) continue;
    const fault = joins.length === 0 ? `a join at "${node}"` : `a join at "${node}" that waits for "${lost}"`;
    throw new RunError(
      "UNKNOWN_NODE",
      `Thread "${thread}" has reached ${fault} (from ${arrived.map((name) => `"${name}"`).join(", ")}), which workflow "${definition.name}" does not have. Add the join, declare renamed nodes with { renamed }, or go elsewhere with resume({ goto }).`,
      { thread, node },
    );
  }
}

import type { Interrupt } from "../../model/checkpoint.ts";
import { RunError } from "../errors.ts";
import type { Definition } from "../graph/definition.ts";
import { reduce, type Values } from "../graph/reducers.ts";
import { START } from "../graph/targets.ts";
import { route, type Task } from "../run/routing.ts";
import { capture } from "./capture.ts";
import { type Breaks, emptyProgress, type Notes, type Position } from "./position.ts";

export interface Beginning {
  readonly definition: Definition;
  readonly run: string;
  readonly breaks: Breaks;
  readonly notes?: Notes;
}

/** Where a run begins: the input reduced into what the thread's last run left, and what START leads to. */
export async function begin(
  { definition, run, breaks, notes = {} }: Beginning,
  input: Values,
  before: Pick<Position, "state" | "step"> | undefined,
): Promise<Position> {
  const step = before === undefined ? 0 : before.step + 1;
  const { state, change } = reduce(definition.reducers, before?.state ?? {}, [capture(input)]);
  const { next, barriers } = await route(definition, [{ node: START }], state, [], step);
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

/** What a boundary notes of breakpoints: which there are, and whether one fires here. */
export function arrivalNotes(breaks: Breaks, ran: readonly string[], next: readonly Task[]): Notes {
  if (breaks.before.length === 0 && breaks.after.length === 0) return {};
  const fires =
    next.length > 0 &&
    (next.some(({ node }) => breaks.before.includes(node)) || ran.some((node) => breaks.after.includes(node)));
  return fires ? { breaks, paused: true } : { breaks };
}

/** A thread of another workflow, or one that waits for a node the graph lacks, is refused before anything is done. */
export function checkFits(
  definition: Definition,
  thread: string | undefined,
  workflow: string | null,
  { next }: { readonly next: readonly Task[] },
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
}

/** Whether both lists hold the same questions. */
export function sameQuestions(left: readonly Interrupt[], right: readonly Interrupt[]): boolean {
  return left.length === right.length && left.every(({ id }, index) => id === right[index]?.id);
}

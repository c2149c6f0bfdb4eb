import type { CheckpointTuple, Interrupt } from "../../model/checkpoint.ts";
import { RunError } from "../errors.ts";
import type { Definition } from "../graph/definition.ts";
import { type Goto, targetList } from "../graph/goto.ts";
import { reduce, type Values } from "../graph/reducers.ts";
import { checkTarget, route, UnknownTarget } from "../run/routing.ts";
import { capture, isPlainObject } from "./capture.ts";
import { updatedPosition } from "./edit-position.ts";
import { type Position, readPosition } from "./graph-position.ts";
import { checkFits } from "./start-run.ts";
import { emptyProgress, isOfTask, openInterrupts } from "./step-progress.ts";

/** The changes that a call of `resume` asks for. */
export interface ResumeRequest {
  readonly value?: unknown;
  readonly update?: Values | undefined;
  readonly goto?: Goto | undefined;
}

/** The position from which a resumed run goes on. */
export interface ResumePoint {
  readonly position: Position;
  /** True if the position differs from the checkpoint it was read from, and so has to be committed. */
  readonly changed: boolean;
  /** The checkpoint that the position follows, when that is not the head. */
  readonly branchedFrom: string | undefined;
  /** The answers that this call gives, by interrupt id. */
  readonly answered: ReadonlyMap<string, unknown>;
}

/** Checks a request to resume from a checkpoint, and returns the position to go on from. Writes nothing. */
export async function resumePoint(
  definition: Definition,
  head: CheckpointTuple,
  from: CheckpointTuple | undefined,
  { value, update, goto }: ResumeRequest,
): Promise<ResumePoint> {
  const tuple = from ?? head;
  const { id, thread, workflow } = tuple.checkpoint;
  if (update !== undefined && !isPlainObject(update)) {
    throw new TypeError("resume({ update }) must be an object of state keys.");
  }
  let isBranch = id !== head.checkpoint.id;
  let position = readPosition(tuple, isBranch);
  // Without an answer a goto leaves the step, so that the nodes of its tasks need not exist any more.
  const leavesStep = goto !== undefined && value === undefined;
  checkFits(definition, thread, workflow, leavesStep ? { next: [] } : position);
  if (goto !== undefined) checkGoto(definition, thread, goto);
  const answered = new Map<string, unknown>();
  if (value !== undefined) {
    for (const [question, answer] of matchAnswers(position, value, thread)) answered.set(question, answer);
    // A new answer to a question whose task has finished starts a branch: the old course of events stays.
    if (!isBranch && [...answered.keys()].some((question) => isFinished(position, question))) {
      isBranch = true;
      position = readPosition(tuple, true);
    }
    giveAnswers(position, answered, goto);
  }
  const branchedFrom = isBranch ? id : undefined;
  if (leavesStep) {
    const left = await leaveStep(definition, position, update, goto);
    return { position: left, changed: true, branchedFrom, answered };
  }
  if (update !== undefined) {
    return { position: updatedPosition(definition, position, update), changed: true, branchedFrom, answered };
  }
  if (!isBranch) return { position, changed: false, branchedFrom, answered };
  const branch: Position = {
    ...position,
    id: undefined,
    change: {},
    source: "fork",
    interrupts: openInterrupts(position),
  };
  return { position: branch, changed: true, branchedFrom, answered };
}

function checkGoto(definition: Definition, thread: string, goto: Goto): void {
  for (const target of targetList(goto, "resume({ goto })")) {
    try {
      checkTarget(definition, "resume({ goto })", target);
    } catch (error) {
      if (!(error instanceof UnknownTarget)) throw error;
      const message = `resume({ goto }) names "${error.target}", which is not a node of workflow "${definition.name}".`;
      throw new RunError("UNKNOWN_NODE", message, { thread, node: error.target });
    }
  }
}

/** Returns the answer to each question that a value answers: all open questions, or those whose ids are its keys. */
function matchAnswers(position: Position, value: unknown, thread: string): ReadonlyMap<string, unknown> {
  const questions = new Map<string, Interrupt>();
  for (const question of position.interrupts) questions.set(question.id, question);
  for (const list of position.progress.asked.values())
    for (const question of list) questions.set(question.id, question);
  const open = openInterrupts(position);
  const all = open.length > 0 ? open : [...questions.values()];
  if (all.length === 0) {
    const message = `No interrupt of thread "${thread}" waits for an answer. Resume it without a value.`;
    throw new RunError("NO_INTERRUPT", message, { thread });
  }
  const named = isPlainObject(value) ? Object.keys(value) : [];
  if (!named.some((id) => questions.has(id))) return new Map(all.map(({ id }) => [id, value]));
  const unknown = named.find((id) => !questions.has(id));
  if (unknown !== undefined) {
    throw new RunError("NO_INTERRUPT", `No interrupt "${unknown}" of thread "${thread}" waits for an answer.`, {
      thread,
    });
  }
  return new Map(Object.entries(value as Values));
}

function isFinished({ next, progress }: Position, question: string): boolean {
  return next.some(({ task }) => progress.results.has(task) && isOfTask(question, task));
}

function giveAnswers(
  { next, progress }: Position,
  answered: ReadonlyMap<string, unknown>,
  goto: Goto | undefined,
): void {
  for (const [question, answer] of answered) {
    progress.answers.set(question, capture(answer));
    const task = next.find(({ task: key }) => isOfTask(question, key));
    if (goto !== undefined && task !== undefined) progress.gotos.set(task.task, capture(goto));
  }
}

/** Ends the step early: keeps the updates of its finished tasks, drops its other tasks, and goes to the targets instead. */
async function leaveStep(
  definition: Definition,
  position: Position,
  update: Values | undefined,
  goto: Goto,
): Promise<Position> {
  const step = position.step + 1;
  const finished = position.next.filter(({ task }) => position.progress.results.has(task));
  const updates = finished.map(({ task }) => position.progress.results.get(task)?.update);
  const { state, change } = reduce(definition.reducers, position.state, [...updates, capture(update)]);
  const { next } = await route(definition, [{ node: "resume", goto }], state, [], step);
  const { paused: _, nested: __, ...notes } = position.notes;
  return {
    ...position,
    id: undefined,
    state,
    change,
    step,
    source: "update",
    path: [...position.path, ...new Set(finished.map(({ node }) => node))],
    plainPath: false,
    next,
    interrupts: [],
    notes,
    progress: emptyProgress(),
  };
}

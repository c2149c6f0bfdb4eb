import type { CheckpointTuple, Interrupt } from "../../model/checkpoint.ts";
import { isPlainObject } from "../../platform/plain-objects.ts";
import { RunError } from "../errors.ts";
import type { Definition } from "../graph/definition.ts";
import { type Goto, targetList } from "../graph/goto.ts";
import { reduce, type Values } from "../graph/reducers.ts";
import { checkTarget, route, UnknownTarget } from "../graph/routing.ts";
import { capture } from "../values/capture.ts";
import { checkAnswer } from "./check-answer.ts";
import { updatedPosition } from "./edit-position.ts";
import { type Position, readPosition } from "./graph-position.ts";
import { checkFits, NOTHING } from "./start-run.ts";
import { emptyProgress, openInterrupts } from "./step-progress.ts";
import { isOfTask, isQuestion, looksLikeId } from "./stops.ts";

/** The changes that a call of `resume` asks for. */
export interface ResumeRequest {
  readonly value?: unknown;
  readonly answers?: Readonly<Record<string, unknown>> | undefined;
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
  { value, answers, update, goto }: ResumeRequest,
  migrated = false,
): Promise<ResumePoint> {
  const point = await pointOf(definition, head, from, { value, answers, update, goto });
  if (!migrated) return point;
  // The stored state is of an earlier version: the whole state is put again before anything runs on it.
  const { position } = point;
  const whole: Position = { ...position, id: undefined, change: undefined, interrupts: openInterrupts(position) };
  return { ...point, position: point.changed ? whole : { ...whole, source: "update" }, changed: true };
}

async function pointOf(
  definition: Definition,
  head: CheckpointTuple,
  from: CheckpointTuple | undefined,
  { value, answers, update, goto }: ResumeRequest,
): Promise<ResumePoint> {
  checkAnswers(value, answers);
  const tuple = from ?? head;
  const { id, thread, workflow } = tuple.checkpoint;
  if (update !== undefined && !isPlainObject(update)) {
    throw new TypeError("resume({ update }) must be an object of state keys.");
  }
  let isBranch = id !== head.checkpoint.id;
  let position = readPosition(tuple, isBranch);
  // Without an answer a goto leaves the step, so that the nodes of its tasks need not exist any more.
  const hasAnswer = value !== undefined || answers !== undefined;
  const leavesStep = goto !== undefined && !hasAnswer;
  checkFits(definition, thread, workflow, leavesStep ? NOTHING : position);
  if (goto !== undefined) checkGoto(definition, thread, goto);
  const answered = new Map<string, unknown>();
  if (hasAnswer) {
    const matched = answers === undefined ? matchValue(position, value, thread) : matchIds(position, answers, thread);
    for (const [{ id: question, node }, answer] of matched) {
      answered.set(question, await checkAnswer(definition, thread, node, question, answer));
    }
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

/** Refuses answers that are given in a way that could be taken for another. */
function checkAnswers(value: unknown, answers: unknown): void {
  if (answers !== undefined && !isPlainObject(answers)) {
    throw new TypeError("resume({ answers }) must be an object of answers by question id.");
  }
  if (answers !== undefined && value !== undefined) {
    throw new TypeError("resume takes a value, which is one plain answer, or answers by id, not both.");
  }
  if (isPlainObject(value) && Object.keys(value).some(looksLikeId)) {
    throw new TypeError("The value of resume has question ids as keys: give answers by id as resume({ answers }).");
  }
}

/** Returns the questions that a plain answer is for: all open ones or, where none is open, those that were answered. */
function matchValue(position: Position, value: unknown, thread: string): readonly (readonly [Interrupt, unknown])[] {
  const open = openInterrupts(position);
  const asked = [...position.progress.asked.values()].flat().filter(isQuestion);
  const all = new Map([...position.interrupts, ...asked].map((question) => [question.id, question]));
  const questions = open.length > 0 ? open : [...all.values()];
  if (questions.length === 0) {
    const message = `No interrupt of thread "${thread}" waits for an answer. Resume it without a value.`;
    throw new RunError("NO_INTERRUPT", message, { thread });
  }
  return questions.map((question) => [question, value]);
}

/** Returns the open questions that answers are for; every one must be open. */
function matchIds(position: Position, answers: Values, thread: string): readonly (readonly [Interrupt, unknown])[] {
  const open = new Map(openInterrupts(position).map((question) => [question.id, question]));
  return Object.entries(answers).map(([id, answer]) => {
    const question = open.get(id);
    if (question === undefined) throw noInterrupt(thread, id);
    return [question, answer];
  });
}

/** Makes the `NO_INTERRUPT` of an answer whose question is not open. */
export function noInterrupt(thread: string, id: string): RunError {
  const message = `No interrupt "${id}" of thread "${thread}" waits for an answer: it was answered, or never asked. See the interrupts of its state().`;
  return new RunError("NO_INTERRUPT", message, { thread });
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
  const { paused: _, nested: __, idle: ___, due: ____, graph: _____, tasks: ______, ...notes } = position.notes;
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

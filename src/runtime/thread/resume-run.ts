import type { CheckpointTuple, Interrupt } from "../../model/checkpoint.ts";
import { RunError } from "../errors.ts";
import type { Definition } from "../graph/definition.ts";
import { reduce, type Values } from "../graph/reducers.ts";
import { type Goto, targetList } from "../graph/targets.ts";
import { checkTarget, route, type Task, UnknownTarget } from "../run/routing.ts";
import { capture, isPlainObject } from "./capture.ts";
import { emptyProgress, isOfTask, openInterrupts, type Position, readPosition } from "./position.ts";
import { checkFits } from "./start-run.ts";

export interface Wish {
  readonly value?: unknown;
  readonly update?: Values | undefined;
  readonly goto?: Goto | undefined;
}

/** Where a resumed run goes on. */
export interface Reopened {
  readonly position: Position;
  /** The position is not in the store yet: it differs from the checkpoint it was read from. */
  readonly changed: boolean;
  /** It does not follow the head, but this checkpoint. */
  readonly branchedFrom: string | undefined;
  /** Answers that were given now, by interrupt. */
  readonly answered: ReadonlyMap<string, unknown>;
}

/** What a checkpoint becomes when it is resumed with these wishes. Nothing is written here, everything is checked. */
export async function reopen(
  definition: Definition,
  head: CheckpointTuple,
  from: CheckpointTuple | undefined,
  { value, update, goto }: Wish,
): Promise<Reopened> {
  const tuple = from ?? head;
  const { id, thread, workflow } = tuple.checkpoint;
  if (update !== undefined && !isPlainObject(update)) {
    throw new TypeError("resume({ update }) must be an object of state keys.");
  }
  let isBranch = id !== head.checkpoint.id;
  let position = readPosition(tuple, isBranch);
  const leaves = goto !== undefined && value === undefined;
  checkFits(definition, thread, workflow, leaves ? { next: [] } : position);
  if (goto !== undefined) checkGoto(definition, thread, goto);
  const answered = new Map<string, unknown>();
  if (value !== undefined) {
    for (const [question, answer] of matchAnswers(position, value, thread)) answered.set(question, answer);
    // An answer to what was answered before, and acted on, is another course of events: a branch.
    if (!isBranch && [...answered.keys()].some((question) => isFinished(position, question))) {
      isBranch = true;
      position = readPosition(tuple, true);
    }
    giveAnswers(position, answered, goto);
  }
  const branchedFrom = isBranch ? id : undefined;
  if (leaves)
    return { position: await elsewhere(definition, position, update, goto), changed: true, branchedFrom, answered };
  if (update !== undefined)
    return { position: edited(definition, position, update), changed: true, branchedFrom, answered };
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

/** Which questions a value answers: all open ones, or those it names. */
function matchAnswers(position: Position, value: unknown, thread: string): ReadonlyMap<string, unknown> {
  const questions = new Map<string, Interrupt>();
  for (const question of position.interrupts) questions.set(question.id, question);
  for (const list of position.progress.asked.values())
    for (const question of list) questions.set(question.id, question);
  const open = openInterrupts(position);
  const all = open.length > 0 ? open : [...questions.values()];
  if (all.length === 0) {
    throw new RunError(
      "NO_INTERRUPT",
      `No interrupt of thread "${thread}" waits for an answer. Resume it without a value.`,
      {
        thread,
      },
    );
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
    const task = next.find((one) => isOfTask(question, one.task));
    if (goto !== undefined && task !== undefined) progress.gotos.set(task.task, capture(goto));
  }
}

/** The step is left: what its finished tasks did is kept, the rest is dropped, and the run goes on elsewhere. */
async function elsewhere(
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

/** The state is changed; what was pending stays pending, and what had finished stays finished. */
export function edited(definition: Definition, position: Position, update: Values): Position {
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

/** As if a node had run and returned the update: its edges are followed, the other pending tasks stay. */
export async function editedAs(
  definition: Definition,
  position: Position,
  update: Values,
  node: string,
): Promise<Position> {
  const changed = edited(definition, position, update);
  const kept = position.next.filter((task) => task.node !== node);
  const { next, barriers } = await route(definition, [{ node }], changed.state, position.barriers, changed.step);
  const unfinished = kept.filter(({ task }) => !position.progress.results.has(task));
  const isPending = (task: Task): boolean =>
    task.arg === undefined && unfinished.some((one) => isPlain(one, task.node));
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

function isPlain(task: Task, node: string): boolean {
  return task.node === node && task.arg === undefined;
}

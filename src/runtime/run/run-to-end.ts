import type { TaskTime } from "../../model/interface/topology.ts";
import { messageOf, nameOf, originOf, RunError, StorageFailure } from "../errors.ts";
import { ReducerFailure, reduce } from "../graph/reducers.ts";
import { BranchFailure, route, type Task, UnknownTarget } from "../graph/routing.ts";
import type { FlowNotes, Position } from "../position/graph-position.ts";
import { arrivalNotes } from "../position/start-run.ts";
import { controlWrite, emptyProgress, openInterrupts, openStops, sameQuestions } from "../position/step-progress.ts";
import { timeOrderedId } from "../position/time-ordered-id.ts";
import { ownCopy } from "../values/capture.ts";
import { answerStops } from "./answer-stops.ts";
import { findsNested, nestedHeads, noteNested } from "./nested.ts";
import { abortError, checkLease, type EndedGraph, type GraphLevel, nodeError, withOuter } from "./session.ts";
import { type Failed, superstep, TaskFault } from "./superstep.ts";

/**
 * Runs a graph from a position to its end: super-step after super-step, until no task is next, a task asks, or a
 * breakpoint fires. A failure leaves the position, the results of its finished tasks, and the error in the store.
 */
export async function runToEnd(level: GraphLevel, start: Position, resumed: boolean): Promise<EndedGraph> {
  try {
    return await runSteps(level, start, resumed);
  } catch (error) {
    // No write of this run may be under way when its lease is released.
    await level.journal.drain().catch(() => {});
    if (!(error instanceof TaskFault)) throw error;
    await saveErrors(level, [error.failed]);
    throw error.failed.error;
  }
}

async function runSteps(level: GraphLevel, start: Position, resumed: boolean): Promise<EndedGraph> {
  const { journal, session } = level;
  let position = start;
  for (let taken = 0; ; taken += 1) {
    await session.drained();
    await session.noticeCancel();
    checkLease(level);
    if (position.next.length === 0) {
      const last = await withOuter(level, position);
      await journal.flush(last);
      return { status: "done", position: last };
    }
    if (position.notes.paused && !(resumed && position === start)) return pause(level, position);
    const first = position.next[0] as Task;
    if (session.cancellation.cancelled) {
      return fail(level, position, [{ task: first, error: abortError(level, position.step + 1) }]);
    }
    if (taken >= session.maxSteps) return fail(level, position, [{ task: first, error: stepLimit(level, position) }]);
    let failures = await superstep(level, position);
    // A stop may have its answer by now: a signal or a person was quick, or the time is up.
    while (failures.length === 0 && openStops(position).length > 0 && (await answerStops(level, position))) {
      failures = await superstep(level, position);
    }
    checkLease(level);
    if (failures.length > 0) return fail(level, position, failures);
    if (openStops(position).length > 0) return pause(level, position);
    position = await advance(level, position);
  }
}

/** Ends a step: reduces the updates of its tasks in activation order, finds the next tasks, and commits the boundary. */
async function advance(level: GraphLevel, position: Position): Promise<Position> {
  const { definition, journal, session, breaks, namespace } = level;
  const { next: tasks, progress, notes } = position;
  const step = position.step + 1;
  let boundary: Position;
  try {
    const updates = tasks.map(({ task }) => progress.results.get(task)?.update);
    const { state, change } = reduce(definition.reducers, position.state, updates);
    const arrivals = tasks.map(({ node, task }) => ({
      node,
      goto: progress.gotos.get(task) ?? progress.results.get(task)?.goto,
    }));
    const { next, barriers } = await route(definition, arrivals, state, position.barriers, step, session.cancellation);
    const ran = [...new Set(tasks.map(({ node }) => node))];
    const outer: FlowNotes = notes.outer === undefined ? {} : { outer: notes.outer };
    boundary = {
      id: undefined,
      state,
      change,
      step,
      source: "loop",
      node: ran.at(-1) ?? null,
      path: [...position.path, ...ran],
      plainPath: ran.length === 1,
      next,
      interrupts: [],
      barriers,
      run: position.run,
      notes: { ...outer, ...arrivalNotes(breaks, ran, next), ...taskTimes(position, session.now()) },
      progress: emptyProgress(),
    };
  } catch (error) {
    const isAborted = session.cancellation.cancelled && error instanceof BranchFailure;
    const failed = isAborted
      ? { task: tasks[0] as Task, error: abortError(level, step) }
      : boundaryFailure(level, position, error);
    return fail(level, position, [failed]);
  }
  level.stopped.clear();
  await journal.commit(boundary);
  const checkpoint = boundary.id === undefined ? undefined : journal.head;
  const names = boundary.next.map(({ node }) => node);
  session.emit({ type: "step", namespace, step, state: ownCopy(boundary.state), next: names, checkpoint });
  return boundary;
}

/** Steps of more tasks keep no times: their checkpoint would outgrow what it tells. */
const MOST_TIMES = 64;

/** Returns the times of a step's tasks, if there were several, as they are kept with the checkpoint that ends it. */
function taskTimes({ next, progress: { times } }: Position, now: number): Pick<FlowNotes, "tasks"> {
  if (next.length < 2 || next.length > MOST_TIMES) return {};
  const tasks = next.flatMap(({ node, task }): TaskTime[] => {
    const time = times.get(task);
    return time === undefined ? [] : [[node, now - time.from, time.to - time.from]];
  });
  return tasks.length < 2 ? {} : { tasks };
}

/** Stops at a position and stores it, with its open questions and the results of its finished tasks. */
async function pause(level: GraphLevel, position: Position): Promise<EndedGraph> {
  if (level.outer === undefined) await level.session.mail?.dropStale(position);
  return { status: "interrupted", position: await keep(level, position, restOf(position)) };
}

/** Returns the notes of a position that waits: whether anything is left to run before a stop is answered, and when one is due. */
function restOf({ next, progress, ...position }: Position): Pick<FlowNotes, "idle" | "due"> {
  const open = openStops({ next, progress });
  if (open.length === 0 || position.notes.paused) return {};
  const times = open.flatMap(({ until }) => until ?? []);
  return { idle: true, ...(times.length > 0 && { due: Math.min(...times) }) };
}

/** Results that are copied to a checkpoint which puts a position again. With more results, the checkpoint is replaced in place. */
const COPIED = 16;

/**
 * Makes a position durable as it is now. A stored position whose open questions have changed is put again as a new
 * checkpoint, so that the head alone is enough to go on.
 */
async function keep(level: GraphLevel, from: Position, rest: Pick<FlowNotes, "idle" | "due"> = {}): Promise<Position> {
  const { journal } = level;
  const position = await withOuter(level, from);
  const interrupts = openInterrupts(position);
  const id = await journal.idOf(position);
  const { idle, due, graph, tasks, ...others } = position.notes;
  // Told once, by the checkpoint that is there.
  const told = id === undefined ? { ...(graph && { graph }), ...(tasks && { tasks }) } : {};
  const isSame = sameQuestions(interrupts, position.interrupts) && idle === rest.idle && due === rest.due;
  if (id !== undefined && isSame && (await findsNested(level, position, id))) {
    await journal.flush(position);
    return position;
  }
  // Copying the results of a wide step for every answer would cost their square.
  const inPlace = id !== undefined && id === journal.head?.id && position.progress.results.size > COPIED;
  const keptId = inPlace ? id : timeOrderedId();
  const kept: Position = {
    ...position,
    id: undefined,
    ...(id === undefined ? {} : { change: {}, source: inPlace ? position.source : "loop" }),
    plainPath: position.plainPath && id === undefined,
    interrupts,
    notes: noteNested({ ...others, ...told, ...rest }, keptId, await nestedHeads(level, position, id)),
  };
  await journal.flush(kept, { id: keptId, inPlace });
  return kept;
}

/**
 * Throws the first failure. All are saved, so that the thread's status is failed until the step is tried again; but a run
 * that was only aborted has not failed: it can go on.
 */
async function fail(level: GraphLevel, position: Position, failures: readonly Failed[]): Promise<never> {
  await keep(level, position);
  const faults = failures.filter(({ error }) => error.code !== "ABORTED");
  await saveErrors(level, faults);
  throw (faults[0] ?? failures[0])?.error;
}

async function saveErrors({ journal }: GraphLevel, failures: readonly Failed[]): Promise<void> {
  const saving = failures.map(({ task, error }) => {
    const writes = [controlWrite("error", describe(error))];
    return journal.saveAtHead({ task: task.task, node: task.node, writes });
  });
  // No worker takes a failed run.
  if (failures.length > 0) saving.push(journal.setDue(null));
  await Promise.all(saving);
}

function describe(error: RunError): Record<string, unknown> {
  const { cause } = error;
  return { code: error.code, name: nameOf(cause, error), message: messageOf(cause ?? error), ...originOf(cause) };
}

function stepLimit({ session }: GraphLevel, position: Position): RunError {
  const at = session.threadId === undefined ? "" : ` in thread "${session.threadId}"`;
  const message = `The run took ${session.maxSteps} steps without an end${at}. Resume it with a greater maxSteps.`;
  return new RunError("STEP_LIMIT", message, { thread: session.threadId, run: session.run, step: position.step });
}

/** Blames the failure of a branch, a reducer or a target on the node it belongs to. */
function boundaryFailure(level: GraphLevel, position: Position, error: unknown): Failed {
  if (error instanceof StorageFailure) throw error;
  const known = error instanceof UnknownTarget || error instanceof BranchFailure;
  const from = known ? position.next.find(({ node }) => node === error.from) : undefined;
  const given = error instanceof ReducerFailure ? position.next[error.update] : undefined;
  const task = from ?? given ?? (position.next.at(-1) as Task);
  const blamed = { ...task, step: position.step + 1 };
  if (error instanceof UnknownTarget) {
    return { task, error: nodeError(level, "UNKNOWN_NODE", blamed, "goes nowhere", error) };
  }
  const cause = error instanceof BranchFailure ? error.cause : error;
  const what = error instanceof BranchFailure ? "has a branch that failed" : "has an update that could not be applied";
  return { task, error: nodeError(level, "NODE_FAILED", blamed, what, cause) };
}

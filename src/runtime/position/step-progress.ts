import type { CheckpointTuple, Interrupt } from "../../model/checkpoint.ts";
import { controlChannels, controlIndexes } from "../../model/control-writes.ts";
import { assign } from "../../platform/plain-objects.ts";
import type { Goto } from "../graph/goto.ts";
import type { Values } from "../graph/reducers.ts";
import type { Task } from "../graph/routing.ts";
import { freeze } from "../values/capture.ts";
import { EMITS } from "./kept-emits.ts";
import { isOfTask, isQuestion, isRemembered, type Stop } from "./stops.ts";

/** The return value of a task. */
export interface Result {
  readonly update: Values | undefined;
  readonly goto: Goto | undefined;
}

/** The progress of a step's tasks, stored as writes against the checkpoint that the step starts from. */
export interface StepProgress {
  /** Results of finished tasks, by task. */
  readonly results: Map<string, Result>;
  /** The stops of each unfinished task: questions, sleeps and waits, answered or not. */
  readonly asked: Map<string, readonly Stop[]>;
  /** Answers by the id of the stop, and remembered steps by their id. */
  readonly answers: Map<string, unknown>;
  /** Targets given together with an answer, by task: they replace the task's own edges and goto. */
  readonly gotos: Map<string, Goto>;
  /** Tasks that failed, and were not tried again since. */
  readonly failed: Set<string>;
  /** When tasks ran in this process, by task, in milliseconds since 1970. */
  readonly times: Map<string, { readonly from: number; readonly to: number }>;
  /** How many emitted data were kept. */
  emits: number;
}

export function emptyProgress(): StepProgress {
  return {
    results: new Map(),
    asked: new Map(),
    answers: new Map(),
    gotos: new Map(),
    failed: new Set(),
    times: new Map(),
    emits: 0,
  };
}

/**
 * Reads a step's progress from the writes of its checkpoint. `asCommitted` ignores writes that came after the checkpoint;
 * `kept` are the ids of the steps that were remembered before it.
 */
export function readProgress(
  { checkpoint, writes }: CheckpointTuple,
  next: readonly Task[],
  asCommitted: boolean,
  kept: readonly string[] = [],
): StepProgress {
  const progress = emptyProgress();
  const completed = new Set(checkpoint.completed);
  const questions = new Set(checkpoint.interrupts.map(({ id }) => id));
  const updates = new Map<string, Record<string, unknown>>();
  const stops = new Map<string, readonly Stop[]>();
  for (const { task } of next) {
    const open = checkpoint.interrupts.filter(({ id }) => isOfTask(id, task));
    if (open.length > 0) progress.asked.set(task, open);
  }
  const isKept = (id: string): boolean => !asCommitted || (isRemembered(id) ? kept.includes(id) : !questions.has(id));
  for (const { task, index, channel, value } of writes) {
    if (task === EMITS) {
      if (!asCommitted) progress.emits = Math.max(progress.emits, index + 1);
    } else if (index >= 0 && (!asCommitted || completed.has(task))) {
      // The first write of a result is its goto, the writes after it are the update, a key each.
      if (index === 0)
        progress.results.set(task, { update: undefined, goto: (value ?? undefined) as Goto | undefined });
      else assign(entryOf(updates, task), channel, value);
    } else if (index === controlIndexes.interrupt) {
      stops.set(task, value as readonly Stop[]);
    } else if (index === controlIndexes.resume && isKept(task)) {
      if (channel !== GOTO) progress.answers.set(task, value);
      else if (!asCommitted) progress.gotos.set(task, value as Goto);
    } else if (index === controlIndexes.error && !asCommitted && value !== null) {
      progress.failed.add(task);
    }
  }
  for (const [task, all] of stops) {
    // Of the stops that came after the checkpoint, none is asked; of those before it, the open ones are in the checkpoint.
    const known = asCommitted ? all.filter(({ id }) => progress.answers.has(id)) : all;
    const open = asCommitted ? (progress.asked.get(task) ?? []) : [];
    if (known.length + open.length > 0) progress.asked.set(task, [...known, ...open]);
  }
  for (const [task, update] of updates) {
    const result = progress.results.get(task);
    if (result !== undefined) progress.results.set(task, { ...result, update: freeze(update) });
  }
  for (const task of progress.results.keys()) forgetQuestions(progress, task);
  return progress;
}

/** Tells whether a task has to run: it has not finished, and never stopped or has an answer since it did. */
export function isRunnable(progress: StepProgress, { task }: Task): boolean {
  if (progress.results.has(task)) return false;
  const asked = progress.asked.get(task);
  return asked === undefined || asked.some(({ id, answered }) => !answered && progress.answers.has(id));
}

/** Notes that a task has stopped, and returns all its stops: those that were answered before stay known. */
export function noteStops({ asked, answers }: StepProgress, task: string, open: readonly Stop[]): readonly Stop[] {
  // An answer that came before its question does not answer it.
  for (const { id } of open) answers.delete(id);
  const answered = (asked.get(task) ?? []).filter(({ id }) => answers.has(id));
  const stops: readonly Stop[] = [...answered.map((stop) => ({ ...stop, answered: true as const })), ...open];
  asked.set(task, stops);
  return stops;
}

/** Drops the stops and answers of a finished task. */
export function forgetQuestions({ asked, answers }: StepProgress, task: string): void {
  asked.delete(task);
  for (const id of answers.keys()) if (isOfTask(id, task)) answers.delete(id);
}

function entryOf(updates: Map<string, Record<string, unknown>>, task: string): Record<string, unknown> {
  const update = updates.get(task) ?? {};
  updates.set(task, update);
  return update;
}

const GOTO = "goto";

interface TaskWrite {
  readonly channel: string;
  readonly value: unknown;
  readonly index?: number;
}

type ControlWrite = Required<TaskWrite>;

/** Returns a result as writes: first the goto, which also marks the task as finished, then the update, a key each. */
export function resultWrites(update: Values | undefined, goto: Goto | undefined): TaskWrite[] {
  const entries = Object.entries(update ?? {});
  return [{ channel: GOTO, value: goto ?? null }, ...entries.map(([channel, value]) => ({ channel, value }))];
}

/** Makes a control write: an error, a question, an answer, or the mark of a breakpoint that was left (`scheduled`). */
export function controlWrite(kind: keyof typeof controlIndexes, value: unknown): ControlWrite {
  return { channel: controlChannels[kind], value, index: controlIndexes[kind] };
}

export function answerWrite(value: unknown): ControlWrite {
  return controlWrite("resume", value);
}

export function gotoWrite(value: Goto): ControlWrite {
  return { channel: GOTO, value, index: controlIndexes.resume };
}

/** Tells whether both lists hold the same questions. */
export function sameQuestions(left: readonly Interrupt[], right: readonly Interrupt[]): boolean {
  return left.length === right.length && left.every(({ id }, index) => id === right[index]?.id);
}

interface InStep {
  readonly next: readonly Task[];
  readonly progress: StepProgress;
}

/** Returns the stops that nothing has answered yet, in activation order. */
export function openStops({ next, progress }: InStep): readonly Stop[] {
  return next.flatMap(({ task }) => (progress.asked.get(task) ?? []).filter(({ id }) => !progress.answers.has(id)));
}

/** Returns the questions that wait for an answer, in activation order. */
export function openInterrupts(step: InStep): readonly Interrupt[] {
  const questions = openStops(step).filter(isQuestion);
  return questions.map(({ id, node, value }) => ({ id, node, value }));
}

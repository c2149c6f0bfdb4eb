import type { CheckpointTuple, Interrupt } from "../../model/checkpoint.ts";
import { controlChannels, controlIndexes } from "../../model/control-writes.ts";
import type { Goto } from "../graph/goto.ts";
import type { Values } from "../graph/reducers.ts";
import type { Task } from "../run/routing.ts";
import { define, freeze } from "./capture.ts";

/** The return value of a task. */
export interface Result {
  readonly update: Values | undefined;
  readonly goto: Goto | undefined;
}

/** The progress of a step's tasks, stored as writes against the checkpoint that the step starts from. */
export interface Progress {
  /** Results of finished tasks, by task. */
  readonly results: Map<string, Result>;
  /** Questions that stopped a task, by task. */
  readonly asked: Map<string, readonly Interrupt[]>;
  /** Answers, by interrupt id. */
  readonly answers: Map<string, unknown>;
  /** Targets given together with an answer, by task: they replace the task's own edges and goto. */
  readonly gotos: Map<string, Goto>;
}

export function emptyProgress(): Progress {
  return { results: new Map(), asked: new Map(), answers: new Map(), gotos: new Map() };
}

/** Reads a step's progress from the writes of its checkpoint. `asCommitted` ignores writes that came after the checkpoint. */
export function readProgress(
  { checkpoint, writes }: CheckpointTuple,
  next: readonly Task[],
  asCommitted: boolean,
): Progress {
  const progress = emptyProgress();
  const completed = new Set(checkpoint.completed);
  const questions = new Set(checkpoint.interrupts.map(({ id }) => id));
  const updates = new Map<string, Record<string, unknown>>();
  for (const { task } of next) {
    const open = checkpoint.interrupts.filter(({ id }) => isOfTask(id, task));
    if (open.length > 0) progress.asked.set(task, open);
  }
  for (const { task, index, channel, value } of writes) {
    if (index >= 0 && (!asCommitted || completed.has(task))) {
      // The first write of a result is its goto, the writes after it are the update, a key each.
      if (index === 0)
        progress.results.set(task, { update: undefined, goto: (value ?? undefined) as Goto | undefined });
      else define(entryOf(updates, task), channel, value);
    } else if (index === controlIndexes.interrupt && !asCommitted) {
      progress.asked.set(task, value as readonly Interrupt[]);
    } else if (index === controlIndexes.resume && !(asCommitted && questions.has(task))) {
      if (channel !== GOTO) progress.answers.set(task, value);
      else if (!asCommitted) progress.gotos.set(task, value as Goto);
    }
  }
  for (const [task, update] of updates) {
    const result = progress.results.get(task);
    if (result !== undefined) progress.results.set(task, { ...result, update: freeze(update) });
  }
  for (const task of progress.results.keys()) forgetQuestions(progress, task);
  return progress;
}

/** Drops the questions and answers of a finished task. */
export function forgetQuestions({ asked, answers }: Progress, task: string): void {
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

/** Returns the id of a task's n-th question. A question of a nested graph has the id `task/id`, `id` being its id there. */
export function interruptId(task: string, count: number): string {
  return `${task}#${count}`;
}

export function isOfTask(id: string, task: string): boolean {
  return id.startsWith(`${task}#`) || id.startsWith(`${task}/`);
}

/** Tells whether both lists hold the same questions. */
export function sameQuestions(left: readonly Interrupt[], right: readonly Interrupt[]): boolean {
  return left.length === right.length && left.every(({ id }, index) => id === right[index]?.id);
}

/** Returns the questions that wait for an answer, in activation order. */
export function openInterrupts({
  next,
  progress,
}: {
  readonly next: readonly Task[];
  readonly progress: Progress;
}): readonly Interrupt[] {
  return next.flatMap(({ task }) => (progress.asked.get(task) ?? []).filter(({ id }) => !progress.answers.has(id)));
}

import type { Update } from "../../model/arguments.ts";
import type {
  Barrier,
  Checkpoint,
  CheckpointInfo,
  CheckpointTuple,
  Interrupt,
  Metadata,
  Source,
} from "../../model/checkpoint.ts";
import type { Values } from "../graph/reducers.ts";
import type { Goto } from "../graph/targets.ts";
import type { Task } from "../run/routing.ts";
import { define, freeze, isPlainObject } from "./capture.ts";

/** What the runtime keeps in a checkpoint's metadata, under the key `flow`. */
export interface Notes {
  /** A breakpoint fired here: whoever goes on has seen it. */
  readonly paused?: true;
  /** The breakpoints of the run, so that a resumed one keeps them. */
  readonly breaks?: Breaks;
  /** In a nested namespace: the outer checkpoint whose task this graph is. */
  readonly outer?: string;
  /** Where nested graphs stood when this checkpoint was made, by task; `of` is this checkpoint's id, a copy has another. */
  readonly nested?: { readonly of: string; readonly at: Readonly<Record<string, string>> };
}

export interface Breaks {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** What a task returned. */
export interface Result {
  readonly update: Values | undefined;
  readonly goto: Goto | undefined;
}

/** How far the tasks of a step are. Kept as writes against the checkpoint that the step starts from. */
export interface Progress {
  /** Finished tasks. */
  readonly results: Map<string, Result>;
  /** Questions that stopped a task, by task. */
  readonly asked: Map<string, readonly Interrupt[]>;
  /** Answers, by interrupt. */
  readonly answers: Map<string, unknown>;
  /** Where to go after a task instead of where it leads, by task; given with an answer. */
  readonly gotos: Map<string, Goto>;
}

/** Where a graph stands: a checkpoint that is, or may be, in the store, and how far the step from it is. */
export interface Position {
  /** Its id once it was handed to the store; undefined while it is only here. */
  id: string | undefined;
  readonly state: Values;
  /** How the state differs from that of the checkpoint before, where that is known. */
  readonly change: Update<Record<string, unknown>> | undefined;
  readonly step: number;
  readonly source: Source;
  readonly node: string | null;
  readonly path: readonly string[];
  /** Whether the path is that of the checkpoint before plus `node`, which need not be said. */
  readonly plainPath: boolean;
  readonly next: readonly Task[];
  readonly interrupts: readonly Interrupt[];
  readonly barriers: readonly Barrier[];
  readonly run: string | null;
  readonly notes: Notes;
  readonly progress: Progress;
}

export function emptyProgress(): Progress {
  return { results: new Map(), asked: new Map(), answers: new Map(), gotos: new Map() };
}

/** The tasks of a checkpoint. One that was put by hand has no keys: they follow from where it is. */
export function tasksOf(checkpoint: Checkpoint): readonly Task[] {
  return checkpoint.next.map((activation, index) => ({
    ...activation,
    task: activation.task ?? `${checkpoint.step}.${index}`,
  }));
}

/** A checkpoint without what can grow. */
export function infoOf(checkpoint: Checkpoint): CheckpointInfo {
  const { state: _, path: __, next: ___, completed, interrupts, barriers, ...info } = checkpoint;
  return info;
}

export function notesOf(metadata: Metadata): Notes {
  return (metadata.flow ?? {}) as Notes;
}

/**
 * The position that a checkpoint and its writes describe. `asCommitted` leaves out what was written after the
 * checkpoint was made: for going back to it.
 */
export function readPosition(tuple: CheckpointTuple, asCommitted: boolean): Position {
  const { checkpoint } = tuple;
  if (!isPlainObject(checkpoint.state)) {
    throw new TypeError(
      `The state of checkpoint "${checkpoint.id}" of thread "${checkpoint.thread}" is no plain object: a graph cannot run on it.`,
    );
  }
  const next = tasksOf(checkpoint);
  return {
    id: checkpoint.id,
    state: freeze(checkpoint.state),
    change: undefined,
    step: checkpoint.step,
    source: checkpoint.source,
    node: checkpoint.node,
    path: checkpoint.path,
    plainPath: false,
    next,
    interrupts: checkpoint.interrupts,
    barriers: checkpoint.barriers,
    run: checkpoint.run,
    notes: notesOf(checkpoint.metadata),
    progress: readProgress(tuple, next, asCommitted),
  };
}

/** How far the tasks of a checkpoint are, by its writes. */
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
      // The first write of a result says where to go, those after it are the update, key by key.
      if (index === 0)
        progress.results.set(task, { update: undefined, goto: (value ?? undefined) as Goto | undefined });
      else define(mapped(updates, task), channel, value);
    } else if (index === INTERRUPT && !asCommitted) {
      progress.asked.set(task, value as readonly Interrupt[]);
    } else if (index === ANSWER && !(asCommitted && questions.has(task))) {
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

/** A finished task has no more use for what it asked and was told. */
export function forgetQuestions({ asked, answers }: Progress, task: string): void {
  asked.delete(task);
  for (const id of answers.keys()) if (isOfTask(id, task)) answers.delete(id);
}

function mapped(updates: Map<string, Record<string, unknown>>, task: string): Record<string, unknown> {
  const update = updates.get(task) ?? {};
  updates.set(task, update);
  return update;
}

/** The indexes and channels of the runtime's control writes. */
export const ERROR = -1;
export const INTERRUPT = -3;
export const ANSWER = -4;
export const GOTO = "goto";

interface TaskWrite {
  readonly channel: string;
  readonly value: unknown;
  readonly index?: number;
}

/** A result as writes: first where to go, which also says that the task has ended, then the update, key by key. */
export function resultWrites(update: Values | undefined, goto: Goto | undefined): TaskWrite[] {
  const entries = Object.entries(update ?? {});
  return [{ channel: GOTO, value: goto ?? null }, ...entries.map(([channel, value]) => ({ channel, value }))];
}

/** The id of the n-th question of a task; one asked in a nested graph is `task/id`, where `id` is its id there. */
export function interruptId(task: string, count: number): string {
  return `${task}#${count}`;
}

export function isOfTask(id: string, task: string): boolean {
  return id.startsWith(`${task}#`) || id.startsWith(`${task}/`);
}

/** The questions that still wait for an answer, in activation order. */
export function openInterrupts({ next, progress }: Pick<Position, "next" | "progress">): readonly Interrupt[] {
  return next.flatMap(({ task }) => (progress.asked.get(task) ?? []).filter(({ id }) => !progress.answers.has(id)));
}

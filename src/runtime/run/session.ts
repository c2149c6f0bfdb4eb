import type { Thread } from "../../api/thread.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { CheckpointInfo } from "../../model/checkpoint.ts";
import type { Cancellation } from "../control/cancellation.ts";
import type { Timer } from "../control/clock.ts";
import type { Slots } from "../control/slots.ts";
import { messageOf, RunError, type RunErrorCode, StorageFailure } from "../errors.ts";
import type { Definition } from "../graph/definition.ts";
import type { Values } from "../graph/reducers.ts";
import type { Journal } from "../journal/journal.ts";
import type { Durability } from "../journal/journal-options.ts";
import type { Breaks, Position } from "../position/graph-position.ts";
import { EMITS } from "../position/kept-emits.ts";
import type { Stop } from "../position/stops.ts";
import { taskKey } from "../position/task-key.ts";
import type { FlowEvent } from "./events.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";

/** The end of a graph: without further tasks, or waiting. */
export interface EndedGraph {
  readonly status: "done" | "interrupted" | "cancelled";
  readonly position: Position;
  /** The last checkpoint, where it is not the journal's. */
  readonly checkpoint?: CheckpointInfo;
}

/** The messages to a thread, as tasks and steps use them; see `thread/mail.ts`. */
interface Mail {
  takeSignal(level: GraphLevel, position: Position, stop: Stop): Promise<boolean>;
  answerStops(level: GraphLevel, position: Position): Promise<boolean>;
  timeUp(level: GraphLevel, position: Position, stop: Stop): Promise<void>;
  dropStale(position: Position): Promise<void>;
}

/** The part of a run that its outer graph shares with the graphs nested in it. */
export interface RunSession {
  readonly threadId: string | undefined;
  readonly run: string;
  readonly durability: Durability;
  readonly maxSteps: number;
  readonly concurrency: number;
  /** Held by node functions while they run; a nested graph holds none, its nodes do. */
  readonly slots: Slots;
  /** Errors of tasks whose node collects them. */
  readonly collected: RunError[];
  readonly cancellation: Cancellation;
  readonly lease: LeaseKeeper | undefined;
  /** The messages for the thread; undefined when the run has no thread. */
  readonly mail: Mail | undefined;
  /** Aborts the run if a message asks to cancel it. */
  noticeCancel(): Promise<void>;
  /** Returns a handle on a namespace of the thread; undefined when the run has no thread. */
  open(namespace: readonly string[]): Thread<Values> | undefined;
  emit(event: FlowEvent): void;
  /** Waits while a reader of the run's events is far behind. */
  drained(): Promise<void>;
  /** Returns the time in milliseconds since 1970. */
  now(): number;
  readonly timer: Timer;
  /** Runs a graph from a position to its end. `resumed` passes over a breakpoint at that position. */
  runToEnd(level: GraphLevel, position: Position, resumed: boolean): Promise<EndedGraph>;
}

/** A graph of a run, outer or nested, in its namespace. */
export interface GraphLevel {
  readonly session: RunSession;
  readonly definition: Definition;
  readonly namespace: readonly string[];
  readonly journal: Journal;
  /** The task that this graph is, for a nested one. */
  readonly outer?: { readonly level: GraphLevel; readonly position: Position };
  readonly breaks: Breaks;
  /** The heads of nested graphs that stopped in the running step, by task. */
  readonly stopped: Map<string, string>;
}

/** Makes sure that a position is in the store, whatever the durability: answers and steps are kept against it. */
export async function ensureStored(level: GraphLevel, position: Position): Promise<string | undefined> {
  const { outer } = level;
  const id = await level.journal.idOf(position);
  if (id !== undefined) return id;
  await level.journal.ensure(position, outer && (await ensureStored(outer.level, outer.position)));
  return position.id;
}

/**
 * Returns a position of a nested graph with the outer checkpoint in its notes, by which a later run finds it. With `exit`, the
 * outer position may have been stored after the nested graph began.
 */
export async function withOuter({ outer }: GraphLevel, position: Position): Promise<Position> {
  const id = outer && (await outer.level.journal.idOf(outer.position));
  if (id === undefined || id === position.notes.outer) return position;
  return { ...position, notes: { ...position.notes, outer: id } };
}

/** Stores answers to stops, or remembered steps, before it resolves. */
export async function rememberAt(
  level: GraphLevel,
  position: Position,
  answers: ReadonlyMap<string, unknown>,
): Promise<void> {
  try {
    await ensureStored(level, position);
    await level.journal.remember(position, answers);
  } catch (error) {
    if (error instanceof StorageFailure || ThreadmarkError.is(error, "SERIALIZE", "TOO_LARGE")) throw error;
    throw new StorageFailure(error);
  }
}

/** Stores emitted data against the position, for those who follow the run from elsewhere. */
export async function keepEmitted(level: GraphLevel, position: Position, node: string, data: unknown): Promise<void> {
  const root = level.outer;
  // Followers read the thread itself: data of a nested graph is kept with the task that is the graph.
  if (root !== undefined) return keepEmitted(root.level, root.position, node, data);
  const number = position.progress.emits;
  position.progress.emits += 1;
  const write = { channel: "emit", value: data, index: number };
  await ensureStored(level, position);
  await level.journal.saveAt(position, { task: EMITS, node, writes: [write] });
}

/** Throws if the run's lease is known to be lost, after which it must not write any more. */
export function checkLease({ session }: GraphLevel): void {
  try {
    session.lease?.check();
  } catch (error) {
    throw new StorageFailure(error);
  }
}

/** Makes the error of a run that is aborted between two steps. */
export function abortError({ session }: GraphLevel, step: number): RunError {
  const { reason } = session.cancellation;
  const at = session.threadId === undefined ? "" : ` of thread "${session.threadId}"`;
  const details = { thread: session.threadId, run: session.run, step, cause: reason };
  return new RunError("ABORTED", `The run was aborted before step ${step}${at}: ${messageOf(reason)}`, details);
}

/** Makes the error of a node, with its step, task and thread. */
export function nodeError(
  { session, namespace }: GraphLevel,
  code: RunErrorCode,
  { node, task, step }: { readonly node: string; readonly task: string; readonly step: number },
  what: string,
  cause: unknown,
): RunError {
  const key = taskKey(session.threadId, session.run, namespace, task);
  const at = session.threadId === undefined ? "" : ` of thread "${session.threadId}"`;
  return new RunError(code, `Node "${node}" ${what} (step ${step}, task ${key}${at}): ${messageOf(cause)}`, {
    thread: session.threadId,
    run: session.run,
    node,
    task: key,
    step,
    cause,
  });
}

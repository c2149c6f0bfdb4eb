import type { Thread } from "../../api/thread.ts";
import { messageOf, RunError, type RunErrorCode, StorageFailure } from "../errors.ts";
import type { Definition } from "../graph/definition.ts";
import type { Values } from "../graph/reducers.ts";
import type { Breaks, Position } from "../thread/graph-position.ts";
import type { Durability, Journal } from "../thread/journal.ts";
import { taskKey } from "../thread/task-key.ts";
import type { Cancellation } from "./cancellation.ts";
import type { FlowEvent } from "./events.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";

/** The end of a graph: without further tasks, or waiting. */
export interface Ended {
  readonly status: "done" | "interrupted";
  readonly position: Position;
}

/** The part of a run that its outer graph shares with the graphs nested in it. */
export interface Session {
  readonly threadId: string | undefined;
  readonly run: string;
  readonly durability: Durability;
  readonly maxSteps: number;
  readonly concurrency: number;
  readonly cancellation: Cancellation;
  readonly lease: LeaseKeeper | undefined;
  /** Returns a handle on a namespace of the thread; undefined when the run has no thread. */
  open(namespace: readonly string[]): Thread<Values> | undefined;
  emit(event: FlowEvent): void;
  /** Runs a graph from a position to its end. `resumed` passes over a breakpoint at that position. */
  runToEnd(level: Level, position: Position, resumed: boolean): Promise<Ended>;
}

/** A graph of a run, outer or nested, in its namespace. */
export interface Level {
  readonly session: Session;
  readonly definition: Definition;
  readonly namespace: readonly string[];
  readonly journal: Journal;
  readonly breaks: Breaks;
  /** The heads of nested graphs that stopped in the running step, by task. */
  readonly stopped: Map<string, string>;
}

/** Throws if the run's lease is known to be lost, after which it must not write any more. */
export function checkLease({ session }: Level): void {
  try {
    session.lease?.check();
  } catch (error) {
    throw new StorageFailure(error);
  }
}

/** Makes the error of a run that is aborted between two steps. */
export function abortError({ session }: Level, step: number): RunError {
  const { reason } = session.cancellation;
  const at = session.threadId === undefined ? "" : ` of thread "${session.threadId}"`;
  const details = { thread: session.threadId, run: session.run, step, cause: reason };
  return new RunError("ABORTED", `The run was aborted before step ${step}${at}: ${messageOf(reason)}`, details);
}

/** Makes the error of a node, with its step, task and thread. */
export function nodeError(
  { session, namespace }: Level,
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

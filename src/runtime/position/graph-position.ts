import type {
  Barrier,
  Checkpoint,
  CheckpointInfo,
  CheckpointTuple,
  Interrupt,
  Metadata,
  Source,
} from "../../model/checkpoint.ts";
import type { Update } from "../../model/interface/options.ts";
import type { TaskTime, Topology } from "../../model/interface/topology.ts";
import { isPlainObject } from "../../platform/plain-objects.ts";
import type { Values } from "../graph/reducers.ts";
import type { Task } from "../graph/routing.ts";
import { freeze } from "../values/capture.ts";
import { readProgress, type StepProgress } from "./step-progress.ts";

/** The runtime's own part of a checkpoint's metadata, stored under the key `flow`. */
export interface FlowNotes {
  /** A breakpoint fired at this checkpoint; a resumed run does not stop at it again. */
  readonly paused?: true;
  /** The breakpoints of the run, so that a resumed run keeps them. */
  readonly breaks?: Breaks;
  /** In a nested namespace: the id of the outer checkpoint whose task this graph is. */
  readonly outer?: string;
  /** The heads of nested graphs, by task. `of` is this checkpoint's id: a copy of the checkpoint has another id. */
  readonly nested?: { readonly of: string; readonly at: Readonly<Record<string, string>> };
  /** Nothing runs on until a stop is answered: by a person, a signal, or the time `due`. */
  readonly idle?: true;
  /** The earliest time at which a stop is answered by itself, in milliseconds since 1970. */
  readonly due?: number;
  /** The ids of the steps that unfinished tasks remembered before this checkpoint. */
  readonly kept?: readonly string[];
  /** The workflow as it was compiled, with the first checkpoint of a thread. Only shown to people. */
  readonly graph?: Topology;
  /** When the tasks of the step before this checkpoint ran, if there were several. Only shown to people. */
  readonly tasks?: readonly TaskTime[];
}

/** Names of nodes that a run stops before, or after. */
export interface Breaks {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** A graph between two steps: a checkpoint, stored or about to be, and the progress of the step that starts from it. */
export interface Position {
  /** The checkpoint's id; undefined until the store has the checkpoint. */
  id: string | undefined;
  readonly state: Values;
  /** The difference from the parent's state; undefined where the store has to compare. */
  readonly change: Update<Record<string, unknown>> | undefined;
  readonly step: number;
  readonly source: Source;
  readonly node: string | null;
  readonly path: readonly string[];
  /** True if the path is the parent's path plus `node`, which is the store's default and need not be stored. */
  readonly plainPath: boolean;
  readonly next: readonly Task[];
  readonly interrupts: readonly Interrupt[];
  readonly barriers: readonly Barrier[];
  readonly run: string | null;
  readonly notes: FlowNotes;
  readonly progress: StepProgress;
}

/** Returns the pending tasks of a checkpoint. A checkpoint put by hand may lack task keys: they follow from step and index. */
export function tasksOf(checkpoint: Checkpoint): readonly Task[] {
  return checkpoint.next.map((activation, index) => ({
    ...activation,
    task: activation.task ?? `${checkpoint.step}.${index}`,
  }));
}

/** Returns a checkpoint's metadata without its state and lists. */
export function infoOf(checkpoint: Checkpoint): CheckpointInfo {
  const { state: _, path: __, next: ___, completed, interrupts, barriers, ...info } = checkpoint;
  return info;
}

export function notesOf(metadata: Metadata): FlowNotes {
  return (metadata.flow ?? {}) as FlowNotes;
}

/**
 * Returns the position that a checkpoint and its writes describe. `asCommitted` ignores writes that came after the
 * checkpoint, for going back to it.
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
    progress: readProgress(tuple, next, asCommitted, notesOf(checkpoint.metadata).kept),
  };
}

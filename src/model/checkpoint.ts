import type { Attributes } from "./attributes.ts";
import type { Status } from "./status.ts";

/** Where a checkpoint came from. */
export type Source = "input" | "loop" | "update" | "fork";
export const sources: readonly Source[] = ["input", "loop", "update", "fork"];

/** An activation that should run next: a node, with an optional task key and argument. */
export interface Activation {
  readonly node: string;
  readonly task?: string;
  readonly arg?: unknown;
}

/** A question to the outside, asked by a node in the middle of a step. */
export interface Interrupt {
  readonly id: string;
  readonly node: string;
  readonly value: unknown;
}

/** A join that waits: which of the nodes it waits for have arrived. */
export interface Barrier {
  readonly node: string;
  readonly arrived: readonly string[];
}

/** The caller's own facts about a checkpoint, stored with it. */
export type Metadata = { readonly [key: string]: unknown };

/** Everything about a checkpoint that does not grow with the state, as `put` returns and `history` yields it. */
export interface CheckpointInfo {
  /** Unique in its thread and namespace. */
  readonly id: string;
  readonly thread: string;
  readonly namespace: readonly string[];
  /** Commit order within the thread; assigned by the store, kept by fork and copy. */
  readonly seq: number;
  /** The id of the checkpoint that it builds on; null for a root. */
  readonly parent: string | null;
  /** The number of the super-step: by default the parent's plus 1, and 0 for a root. */
  readonly step: number;
  readonly source: Source;
  /** The node that ran last; null where `put` named none. */
  readonly node: string | null;
  /** The run that made the checkpoint; null where neither `put` nor the parent names one. */
  readonly run: string | null;
  /** Null where neither `put` nor the parent names one. */
  readonly workflow: string | null;
  /** The label; `""` without one. */
  readonly label: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** The version of the state's shape; 0 where none was given. */
  readonly stateVersion: number;
  readonly metadata: Metadata;
  /** How many activations are in `next`. */
  readonly pending: number;
  /** How many interrupts wait for an answer. */
  readonly waiting: number;
}

/** An immutable snapshot of the state at a super-step boundary, with what should run next. */
export interface Checkpoint<State = unknown> extends CheckpointInfo {
  readonly state: State;
  /** The nodes that ran so far, in order. */
  readonly path: readonly string[];
  /** The activations that run next; empty at the end of a run. */
  readonly next: readonly Activation[];
  readonly completed: readonly string[];
  readonly interrupts: readonly Interrupt[];
  readonly barriers: readonly Barrier[];
}

/** A task's result (or error, or interrupt), saved against a checkpoint. */
export interface Write {
  readonly task: string;
  /** The node of the task; null where the writer named none. */
  readonly node: string | null;
  /** The place among the task's writes; below 0 for control writes: error −1, scheduled −2, interrupt −3, resume −4. */
  readonly index: number;
  readonly channel: string;
  readonly value: unknown;
}

/** A checkpoint with the name of its parent and the writes that are saved against it. */
export interface CheckpointTuple<State = unknown> {
  readonly checkpoint: Checkpoint<State>;
  /** The address of the checkpoint's parent; null for a root. */
  readonly parent: { readonly thread: string; readonly namespace: readonly string[]; readonly id: string } | null;
  /** The writes by task and index, bytewise. */
  readonly writes: readonly Write[];
}

/** A thread as lists show it: its head, its status and its counts. */
export interface ThreadInfo {
  readonly id: string;
  /** The workflow of the root's head; null where it names none. */
  readonly workflow: string | null;
  /** The root namespace's head, or of the namespace committed last when the root is empty. */
  readonly head: CheckpointInfo;
  readonly status: Status;
  readonly checkpoints: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  /** The thread that this one was forked or copied from, and the checkpoint; null for any other thread. */
  readonly forkedFrom: { readonly thread: string; readonly checkpoint: string | null } | null;
  /** The values that the thread is found by. */
  readonly attributes: Attributes;
  /** The place in the list that the thread was in, for `after`. */
  readonly cursor: string;
}

/** A question that waits for an answer, as `store.interrupts` yields it. */
export interface OpenInterrupt {
  readonly thread: string;
  /** The workflow of the thread; null where it has none. */
  readonly workflow: string | null;
  /** The id of the checkpoint at which the thread waits. */
  readonly checkpoint: string;
  readonly id: string;
  /** The node that asked; null where the writer named none. */
  readonly node: string | null;
  readonly value: unknown;
  /** When it was asked, in milliseconds since 1970. */
  readonly since: number;
  /** The place in the list, for `after`. */
  readonly cursor: string;
}

/** A thread that a worker can take, as `store.due` yields it. */
export interface DueThread {
  readonly thread: string;
  /** When it became due, in milliseconds since 1970. */
  readonly due: number;
  /** When the lease ends that somebody has on it, unless it is renewed; absent where nobody has. */
  readonly leasedUntil?: number;
}

import type { Thread } from "../../api/thread.ts";
import type { ThreadmarkError } from "../../errors.ts";
import type { AttributeChanges } from "../../model/attributes.ts";
import type { Checkpoint } from "../../model/checkpoint.ts";
import type { LeaseToken } from "../../model/interface/options.ts";
import type { Values } from "../graph/reducers.ts";

/**
 * When a boundary (the checkpoint at the end of a step) is written.
 *
 * - `sync`: the boundary is durable before the next step starts
 * - `async`: boundaries are written in order while the next step runs; a failed write fails the run at the next boundary
 * - `exit`: only the last boundary is written, and interrupts and failures
 */
export type Durability = "sync" | "async" | "exit";

export interface JournalOptions {
  /** Undefined for a run that keeps nothing. */
  readonly thread: Thread<Values> | undefined;
  readonly lease: LeaseToken | undefined;
  readonly durability: Durability;
  readonly workflow: string;
  /** The version of the states it writes; undefined to leave that to the store. */
  readonly version?: number | undefined;
  /** The namespace's head when the run began. */
  readonly head: Checkpoint | undefined;
  /** Returns the time, for a thread whose puts say when a worker is to take it; absent for a nested graph. */
  readonly schedule?: (() => number) | undefined;
  /** The trace context to keep with every checkpoint, for runs that are resumed elsewhere. */
  readonly trace?: string | undefined;
}

export interface CommitOptions {
  /** The checkpoint's id. Default: the store's choice. */
  readonly id?: string;
  /** The checkpoint to branch from, when that is not the head; null for a new root. */
  readonly parent?: string | null;
  /** The checkpoint `id` is there with the writes of the position, and is replaced. */
  readonly inPlace?: boolean;
  /** Messages to the thread that the commit uses up. */
  readonly consume?: readonly string[];
  /** Values to find the thread by. */
  readonly attributes?: AttributeChanges | undefined;
}

/** Returns the error to report when a task's value cannot be stored. */
export type BlameTask = (error: ThreadmarkError) => Error;

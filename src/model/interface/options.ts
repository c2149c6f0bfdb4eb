import type { AttributeChanges } from "../attributes.ts";
import type { Activation, Barrier, Interrupt, Metadata, Source } from "../checkpoint.ts";
import type { Patch } from "../patch.ts";

type Key<State> = Extract<keyof State, string>;
type AppendableKeys<State> = {
  [K in Key<State>]: NonNullable<State[K]> extends readonly unknown[] | string ? K : never;
}[Key<State>];

/**
 * Names a checkpoint of a thread: by its id, by its step or label (the last committed one that has it), or by its seq.
 *
 * @example
 * await thread.get({ label: "before-refactor" });
 * await thread.fork({ at: { step: 3 } });
 */
export type CheckpointRef = string | { readonly step: number } | { readonly seq: number } | { readonly label: string };

/** Names a checkpoint of another thread, for `diff`. */
export interface CheckpointElsewhere {
  /** The id of the other thread. The namespace is that of the handle. */
  readonly thread: string;
  /** A checkpoint of that thread. */
  readonly at: CheckpointRef;
}

/**
 * A change the caller knows: applied to the parent's state, `{}` on an empty thread. A key may be in one group only.
 *
 * @example
 * await thread.put({ update: { append: { messages: [message] }, set: { turn: 2 }, unset: ["draft"] } });
 * await thread.put({ update: { patch: [[["plan", "steps", 2, "done"], true]] } });
 */
export interface Update<State> {
  /** Elements added to the end of an array, or text to the end of a string. @default {} */
  readonly append?: { readonly [K in AppendableKeys<State>]?: NonNullable<State[K]> };
  /** Top-level keys and their new values. @default {} */
  readonly set?: Partial<State>;
  /** Top-level keys that go; any, where nothing is known of the state. @default [] */
  readonly unset?: readonly (unknown extends State ? string : Key<State>)[];
  /** Values deep in the state, each with its path. A path alone removes a key. Applied in order, after the rest. @default [] */
  readonly patch?: readonly Patch<State>[];
}

/** The fields of a checkpoint that `put` takes beside its state. */
export interface PutFields {
  /** Unique in the thread's namespace; an id that exists is replaced in place. @default an id that sorts by time */
  readonly id?: string;
  /** Any safe integer. @default the parent's step + 1, or 0 */
  readonly step?: number;
  /** The origin of the checkpoint. @default "loop" */
  readonly source?: Source;
  /** The node that ran last. @default null */
  readonly node?: string | null;
  /** The nodes run so far. @default the parent's path, and `node` if there is one */
  readonly path?: readonly string[];
  /** The nodes to run next; a string is short for `{ node }`. @default [] */
  readonly next?: readonly (string | Activation)[];
  /** The tasks of the super-step that have finished. @default [] */
  readonly completed?: readonly string[];
  /** The questions that wait for an answer. @default [] */
  readonly interrupts?: readonly Interrupt[];
  /** The joins that wait for nodes to arrive. @default [] */
  readonly barriers?: readonly Barrier[];
  /** The id of the run. @default the parent's */
  readonly run?: string | null;
  /** The name of the workflow. @default the parent's */
  readonly workflow?: string | null;
  /** A name by which the checkpoint can be found. @default "" */
  readonly label?: string;
  /** Milliseconds since 1970. @default now, by the store's clock */
  readonly createdAt?: number;
  /** The version of the state's shape. @default the parent's, or 0 */
  readonly stateVersion?: number;
  /** Any plain object. @default {} */
  readonly metadata?: Metadata;
  /** Values to find the thread by, merged into those it has; null removes one. @default as they are */
  readonly attributes?: AttributeChanges;
  /** When a worker is to take the thread, in milliseconds since 1970; null: not at all. @default as it is */
  readonly due?: number | null;
}

/** The input of `put`: exactly one of `state` and `update`, and the fields that differ from their defaults. */
export type PutInput<State> = PutFields &
  ({ readonly state: State; readonly update?: never } | { readonly update: Update<State>; readonly state?: never });

/** The right to advance a thread, as `acquire` gives it. */
export interface LeaseToken {
  readonly thread: string;
  readonly holder: string;
  readonly epoch: number;
  /** Random, so that two leases are never alike, even where a server that failed over gives an epoch out again. */
  readonly token?: string;
}

/** Options of `put`. */
export interface PutOptions {
  /** The checkpoint this one follows; null makes a root. @default the head at commit time */
  readonly parent?: CheckpointRef | null;
  /** The checkpoint that must be the head, else `CONFLICT`; null: the namespace must be empty. @default any head will do */
  readonly expect?: CheckpointRef | null;
  /** The lease of the thread; a stale one is `FENCED`. @default none: `BUSY` while another's is live */
  readonly lease?: LeaseToken;
}

/** Options of `latest`. */
export interface LatestOptions {
  /** `commit`: the head. `step`: the greatest step, ties to the last committed. @default "commit" */
  readonly by?: "commit" | "step";
}

/** Options of `history`. */
export interface HistoryOptions {
  /** The most checkpoints to yield. @default Infinity */
  readonly limit?: number;
  /** Only checkpoints committed before this one; a number is a seq. An unknown one is `NOT_FOUND`. @default all */
  readonly before?: CheckpointRef | number;
  /** Only checkpoints of this run. @default all runs */
  readonly run?: string;
  /** Only checkpoints of this origin. @default all */
  readonly source?: Source;
  /** Yield whole checkpoints instead of metadata. @default false */
  readonly states?: boolean;
  /** Ends the history with the signal's reason. @default none */
  readonly signal?: AbortSignal;
}

/** The results of one task, as `putWrites` takes them. */
export interface WritesInput {
  /** The id of the task. */
  readonly task: string;
  /** The node that the task ran. @default null */
  readonly node?: string | null;
  /** Channels and values. `index` is the position by default; below 0 it is control: see `controlIndexes`. */
  readonly writes: readonly { readonly channel: string; readonly value: unknown; readonly index?: number }[];
}

/** Options of `putWrites`. */
export interface WritesOptions {
  /** The lease of the thread; a stale one is `FENCED`. @default none: writes are taken while another's is live */
  readonly lease?: LeaseToken;
}

/** Options of `fork`. */
export interface ForkOptions<State> {
  /** The checkpoint to begin with. @default the head */
  readonly at?: CheckpointRef;
  /** The id of the new thread; an existing one is `CONFLICT`. @default a new id */
  readonly into?: string;
  /** Top-level keys of the state to set, in one more checkpoint on top. @default none */
  readonly edits?: Partial<State>;
  /** `ancestors`: the checkpoint and its ancestors. `none`: one checkpoint only. @default "ancestors" */
  readonly history?: "ancestors" | "none";
  /** The label of the newest checkpoint of the fork. @default `fork-of:<thread>` if one was made, else as it was */
  readonly label?: string;
  /**
   * Copy what the fork shows into a lineage of its own, instead of sharing its records: for templates that are forked many
   * times. It costs as much as it copies, and `forkedFrom` is null. @default false
   */
  readonly detached?: boolean;
}

/** Options of `copy`. */
export interface CopyOptions {
  /** Copy by value, into a lineage of its own: see {@link ForkOptions}. @default false */
  readonly detached?: boolean;
}

/** Everything that `prune` can be told. Its options also have a rule. */
export interface PruneSettings {
  /** How many of the newest checkpoints of each namespace stay; 0 counts as 1. @default 1 */
  readonly keepLast?: number;
  /** Only checkpoints older than this many milliseconds may go. @default any age */
  readonly olderThan?: number;
  /** Keep checkpoints that have a label. @default false */
  readonly keepLabelled?: boolean;
  /** `protect` also keeps every ancestor of a checkpoint that stays. @default "truncate" */
  readonly ancestors?: "truncate" | "protect";
  /** Delete nothing, and return what would be deleted. @default false */
  readonly dryRun?: boolean;
  /** Gives up before the commit, with the signal's reason. @default none */
  readonly signal?: AbortSignal;
}

/** Options of `prune`: `keepLast` or `olderThan`, or both, must be given. */
export type PruneOptions = PruneSettings & ({ readonly keepLast: number } | { readonly olderThan: number });

/** Options of `acquire`. */
export interface AcquireOptions {
  /** The name of the holder, for others to see. @default host, process and a random part */
  readonly holder?: string;
  /** Milliseconds until another may take the lease. @default 30000 */
  readonly ttl?: number;
  /** Wait for a lease that is held: true for as long as it takes, or this many milliseconds. @default false */
  readonly wait?: boolean | number;
  /** Ends the waiting with the signal's reason. @default none */
  readonly signal?: AbortSignal;
}

/** Options of `breakLease`, for the thread's log of broken leases; each up to 512 bytes. */
export interface BreakOptions {
  /** The name of whoever breaks the lease. @default null */
  readonly by?: string;
  /** The reason, for people. @default null */
  readonly reason?: string;
}

/** Options of `store.thread`. */
export interface ThreadOptions {
  /** A path inside the thread, for nested graphs. @default [] */
  readonly namespace?: readonly string[];
}

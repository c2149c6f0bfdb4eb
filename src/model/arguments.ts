import type { Activation, Barrier, Interrupt, Metadata, Source, Status } from "./checkpoint.ts";

type Key<State> = Extract<keyof State, string>;
type AppendableKeys<State> = {
  [K in Key<State>]: NonNullable<State[K]> extends readonly unknown[] | string ? K : never;
}[Key<State>];

/** A change the caller knows: applied to the parent's state, `{}` on an empty thread. */
export interface Update<State> {
  /** Elements added to the end of an array, or text to the end of a string. */
  readonly append?: { readonly [K in AppendableKeys<State>]?: NonNullable<State[K]> };
  readonly set?: Partial<State>;
  /** Top-level keys; any, where nothing is known of the state. */
  readonly unset?: readonly (unknown extends State ? string : Key<State>)[];
}

export interface PutFields {
  readonly id?: string;
  readonly step?: number;
  readonly source?: Source;
  readonly node?: string | null;
  readonly path?: readonly string[];
  readonly next?: readonly (string | Activation)[];
  readonly completed?: readonly string[];
  readonly interrupts?: readonly Interrupt[];
  readonly barriers?: readonly Barrier[];
  readonly run?: string | null;
  readonly workflow?: string | null;
  readonly label?: string;
  readonly createdAt?: number;
  readonly stateVersion?: number;
  readonly metadata?: Metadata;
}

/** What `put` takes: exactly one of `state` and `update`, and whatever else differs from the defaults. */
export type PutInput<State> = PutFields &
  ({ readonly state: State; readonly update?: never } | { readonly update: Update<State>; readonly state?: never });

/** The right to advance a thread. */
export interface LeaseToken {
  readonly thread: string;
  readonly holder: string;
  readonly epoch: number;
}

export interface PutOptions {
  /** The checkpoint this one follows; null makes a root. Default: the head at commit time. */
  readonly parent?: string | null;
  /** The head must be this checkpoint (null: the namespace must be empty), else `CONFLICT`. */
  readonly expect?: string | null;
  readonly lease?: LeaseToken;
}

export interface HistoryOptions {
  readonly limit?: number;
  /** An id or a seq; exclusive. */
  readonly before?: string | number;
  readonly run?: string;
  readonly source?: Source;
  /** Yield whole checkpoints instead of metadata. */
  readonly states?: boolean;
}

export interface WritesInput {
  readonly task: string;
  readonly node?: string | null;
  readonly writes: readonly { readonly channel: string; readonly value: unknown; readonly index?: number }[];
}

export interface ForkOptions<State> {
  readonly at?: string | { readonly step: number };
  readonly into?: string;
  readonly edits?: Partial<State>;
  readonly history?: "ancestors" | "none";
  readonly label?: string;
}

export interface PruneOptions {
  readonly keepLast?: number;
  /** Only what is older than this many milliseconds may go. */
  readonly olderThan?: number;
  readonly keepLabelled?: boolean;
  readonly ancestors?: "truncate" | "protect";
  readonly dryRun?: boolean;
}

export interface PruneResult {
  readonly deleted: number;
  readonly bytesReclaimed: number;
}

export interface AcquireOptions {
  readonly holder: string;
  /** Milliseconds until another may take the lease. */
  readonly ttl: number;
}

/** Who breaks a lease and why, for the thread's log of broken leases; each up to 512 bytes. */
export interface BreakOptions {
  readonly by?: string;
  readonly reason?: string;
}

/** A lease that was broken before its time. */
export interface BrokenLease {
  readonly holder: string;
  readonly epoch: number;
  /** When it would have run out, and when it was broken: milliseconds since 1970. */
  readonly expiresAt: number;
  readonly at: number;
  readonly by: string | null;
  readonly reason: string | null;
}

export interface LeaseInfo {
  /** The lease that was taken last and not given up. With nothing remaining, anybody may take it. */
  readonly held: {
    readonly holder: string;
    readonly epoch: number;
    readonly expiresAt: number;
    /** Milliseconds by the store's clock. */
    readonly remaining: number;
  } | null;
  /** The leases that were broken, the latest first; the last ten of them. */
  readonly broken: readonly BrokenLease[];
}

export interface ThreadsOptions {
  readonly workflow?: string;
  readonly prefix?: string;
  readonly status?: Status;
  readonly order?: "id" | "updated";
  readonly limit?: number;
  /** The id of the last thread already seen. */
  readonly after?: string;
}

/** One difference between two states, by path. */
export interface Change {
  readonly path: readonly (string | number)[];
  readonly kind: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface Fault {
  readonly thread: string;
  readonly checkpoint: string | null;
  readonly message: string;
}

/** For work that goes through the whole store. */
export interface WorkOptions {
  /** Hears how many threads are done, as it goes on. What it throws ends the work. */
  readonly progress?: (threads: number) => void;
}

export interface VerifyResult {
  readonly ok: boolean;
  readonly faults: readonly Fault[];
}

export interface Stats {
  readonly threads: number;
  readonly checkpoints: number;
  /** Bytes of encoded values by kind: directory, metadata, tail, packs, index, writes; and `total` on the medium. */
  readonly bytes: {
    readonly directory: number;
    readonly metadata: number;
    readonly tail: number;
    readonly packs: number;
    readonly index: number;
    readonly writes: number;
    readonly total: number;
  };
}

/** What a thread takes on the medium, without what it shares with those it was forked from. */
export interface ThreadSize {
  readonly bytes: Omit<Stats["bytes"], "directory">;
  /** Bytes of its frames and metadata by when they were committed, oldest first. Sealed ones count as one. */
  readonly growth: readonly { readonly at: number; readonly bytes: number }[];
}

/** What a checkpoint takes: the frame that tells it from its parent. */
export interface CheckpointSize {
  readonly bytes: number;
  /** Whether the frame holds the whole state, not only what changed. */
  readonly full: boolean;
  /** Whether the frame belongs to the thread that this one was forked from, and takes no room of its own. */
  readonly inherited: boolean;
}

/** How a class of yours is stored: by name, only if registered. */
export interface ClassCodec<T = unknown> {
  test(value: unknown): value is T;
  encode(value: T): unknown;
  decode(data: unknown): T;
}

export interface OpenOptions {
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** Makes checkpoint and thread ids. */
  readonly ids?: () => string;
  /** `full`: a commit survives a power cut. `normal`: it survives the end of the process. */
  readonly fsync?: "full" | "normal";
  readonly readOnly?: boolean;
  /** The permissions of files that are made, as in `0o660`. Default `0o600`: for the owner only. */
  readonly mode?: number;
  // biome-ignore lint/suspicious/noExplicitAny: a registry holds codecs of many types; each is checked by its own test().
  readonly classes?: Readonly<Record<string, ClassCodec<any>>>;
  /**
   * What to do with stored instances of classes that are not in `classes`. `refuse` (the default): reading them is
   * `UNSUPPORTED`. `keep`: they are read as `{ name, data }` and can be stored again as what they were; for tools.
   */
  readonly unregistered?: "refuse" | "keep";
  /** Bytes of recently used states kept in memory. Default 64 MiB. */
  readonly cacheBytes?: number;
  /** How packs are compressed. Default "none". */
  readonly compression?: "none" | "deflate" | "zstd";
  /** @internal How many checkpoints make a pack. Tests make small ones, so that short histories have many. */
  readonly packRows?: number;
  /** @internal How many bytes of checkpoints make a pack. */
  readonly packBytes?: number;
  /** @internal How many bytes a checkpoint may take. */
  readonly checkpointBytes?: number;
}

export interface ImportResult {
  /** Threads that were written. */
  readonly imported: number;
  /** Threads that were there already, just so. */
  readonly unchanged: number;
  readonly checkpoints: number;
}

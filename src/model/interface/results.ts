import type { SweepReport } from "../retention/sweep.ts";
import type { Status } from "../status.ts";

/** The result of `prune`. */
export interface PruneResult {
  /** How many checkpoints went, or would go with `dryRun`. */
  readonly deleted: number;
  /**
   * Bytes that no checkpoint reaches any more, less those that had to be rewritten. 0 where the checkpoints are hidden, and leave storage
   * with later ones, because rewriting would take more than it frees.
   */
  readonly bytesReclaimed: number;
}

/** The result of `putWrites`: how many writes were stored, and how many were there already. */
export interface WritesResult {
  readonly stored: number;
  readonly ignored: number;
}

/** A lease that was broken before its time. */
export interface BrokenLease {
  readonly holder: string;
  readonly epoch: number;
  /** When the lease would have run out, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** When the lease was broken, in milliseconds since 1970. */
  readonly at: number;
  /** The name of whoever broke it; null where `break` was given none. */
  readonly by: string | null;
  /** Null where `break` was given none. */
  readonly reason: string | null;
}

/** The lease of a thread, and the leases that were broken. */
export interface LeaseInfo {
  /** The lease that was taken last and not given up. With nothing remaining, anybody may take it. */
  readonly held: {
    readonly holder: string;
    readonly epoch: number;
    readonly expiresAt: number;
    /** Milliseconds by the store's clock. */
    readonly remaining: number;
  } | null;
  /** Whether anybody has held a lease since the thread was made. A fork or an imported thread begins without. */
  readonly taken: boolean;
  /** The leases that were broken, the latest first; the last ten of them. */
  readonly broken: readonly BrokenLease[];
}

/** A difference between two states, by path. */
export interface Change {
  readonly path: readonly (string | number)[];
  readonly kind: "added" | "removed" | "changed";
  /** The value before; absent where it was added. */
  readonly before?: unknown;
  /** The value after; absent where it was removed. */
  readonly after?: unknown;
}

/** Damage that `verify` found. */
export interface Fault {
  /** The thread's id; `""` where the medium itself is damaged. */
  readonly thread: string;
  /** The checkpoint's id; null where the fault is not that of a single checkpoint. */
  readonly checkpoint: string | null;
  readonly message: string;
}

/** The result of `verify`. */
export interface VerifyResult {
  readonly ok: boolean;
  readonly faults: readonly Fault[];
}

/** The result of `stats`. Numbers that cost too much in a larger store are null there: `measure` finds them. */
export interface Stats {
  readonly threads: number;
  /** How many checkpoints all threads show; null in a larger store. */
  readonly checkpoints: number | null;
  /**
   * Bytes of encoded values by kind: directory, metadata, tail, packs, index of checkpoints, writes, large values, entries of the
   * index of threads, the log that `watch` reads; null in a larger store. And `total` on the medium; null only where that is unknown
   * too, in a larger store in memory or on Redis.
   */
  readonly bytes: {
    readonly directory: number | null;
    readonly metadata: number | null;
    readonly tail: number | null;
    readonly packs: number | null;
    readonly index: number | null;
    readonly writes: number | null;
    readonly values: number | null;
    readonly entries: number | null;
    readonly log: number | null;
    readonly total: number | null;
  };
  /** How many milliseconds a hot standby of Postgres is behind its primary; absent elsewhere. */
  readonly behind?: number;
  /** The last sweep; null where there was none. */
  readonly sweep: SweepReport | null;
  /** The last backup that this store noted; null where there was none. */
  readonly backup: BackupReport | null;
  /** When a restore began that has not ended: threads may be missing until one does. Absent otherwise. */
  readonly restoring?: number;
  /** How the store is encrypted; null where it is not. */
  readonly encryption: EncryptionReport | null;
  /** How many threads have a head of each state version; 0 is unversioned. Null in a larger store. */
  readonly stateVersions: { readonly [version: number]: number } | null;
}

/** The result of `measure`: the statistics of a store, every number of them. */
export interface MeasuredStats extends Stats {
  readonly checkpoints: number;
  readonly bytes: { readonly [Kind in keyof Stats["bytes"]]: number };
  readonly stateVersions: { readonly [version: number]: number };
}

/** How a store is encrypted. */
export interface EncryptionReport {
  /** The name of the key that wraps the store's own key; the one that new data keys are wrapped with is `current`. */
  readonly key: string;
  readonly current: string;
  readonly hideIds: boolean;
  /** Whether a rotation of all data has begun and not ended: `rotate({ data: true })` goes on with it. */
  readonly rotating: boolean;
}

/**
 * Bytes that a thread takes on the medium, without those it shares with the threads it was forked from. Large values count
 * where the thread's own checkpoints and writes need them: forks may need the same ones.
 */
export interface ThreadSize {
  readonly bytes: Omit<MeasuredStats["bytes"], "directory" | "entries" | "log">;
  /** Bytes of its frames and metadata by when they were committed, oldest first. A pack counts as one. */
  readonly growth: readonly { readonly at: number; readonly bytes: number }[];
}

/** Bytes that a checkpoint takes: its frame, a delta against its parent's. */
export interface CheckpointSize {
  readonly bytes: number;
  /** True if the frame holds the whole state, not only what changed. */
  readonly full: boolean;
  /** True if the frame belongs to the thread that this one was forked from, and takes no room of its own. */
  readonly inherited: boolean;
}

/** The result of `backup`. */
export interface BackupResult {
  /** `store`: all threads are as they were at one moment. `thread`: each thread is, at a moment of its own. */
  readonly consistent: "store" | "thread";
  /** Where the next backup goes on, as its `since`. */
  readonly cursor: string;
  readonly threads: number;
  /** Threads that were deleted since the previous backup. */
  readonly deleted: number;
  readonly checkpoints: number;
  readonly bytes: number;
}

/** A backup that was made, and when. */
export interface BackupReport extends BackupResult {
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** The result of `restore`. */
export interface RestoreResult {
  /** Threads that were written. */
  readonly restored: number;
  readonly deleted: number;
  readonly checkpoints: number;
  /** The cursor of the last backup: where its store's next one goes on. */
  readonly cursor: string | null;
}

/** The result of `rotate`. A lineage is a thread with its forks and copies. */
export interface RotateResult {
  /** Lineages whose data key was wrapped anew. */
  readonly wrapped: number;
  /** Lineages that were written anew, under a new data key. */
  readonly rewritten: number;
}

/** The result of `import`. */
export interface ImportResult {
  /** Threads that were written. */
  readonly imported: number;
  /** Threads that were there already, just so. */
  readonly unchanged: number;
  readonly checkpoints: number;
}

/** How many threads there are, by status and workflow. Threads without a workflow are under `""`. */
export interface Counts {
  readonly threads: number;
  readonly status: { readonly [Name in Status]: number };
  readonly workflows: { readonly [workflow: string]: { readonly [Name in Status]: number } };
}

import type { Value } from "../../backend.ts";
import { unwrapJson, wrapJson } from "../../codec/envelope.ts";
import type { Attributes } from "../../model/attributes.ts";
import type { BackupReport, BrokenLease } from "../../model/interface/results.ts";
import type { MailCount } from "./mail.ts";
import { decodeIndex, encodeIndex, type IndexState } from "./store-wide/index-state.ts";
import type { SweeperRecord } from "./store-wide/sweeper.ts";

/**
 * The point a forked or copied tape continues from. The rows it shows of its source never change; a compaction only
 * writes down where they are.
 */
export interface Origin {
  readonly tape: number;
  /**
   * The rows shown of the source. `chain`: the ancestors of `at`; `all`: everything the source showed; `none`: nothing,
   * its frames are only built on.
   */
  readonly mode: "chain" | "all" | "none";
  /** The seq of the checkpoint forked at, or of the nearest ancestor once that was removed; 0 for a copy. */
  readonly at: number;
  /** The source's greatest seq at that moment: own rows come after it, inherited rows do not. */
  readonly upTo: number;
  /** The source's generation at that moment: later changes of shared rows carry a greater one. */
  readonly generation: number;
  /**
   * The first seq of nested namespaces that is not shown, once known: the source's root had gone on from the fork's
   * checkpoint by then.
   */
  readonly limit?: number;
  /**
   * The last checkpoint shown of nested namespaces (0: none), where the remaining rows of the source would lead to
   * another.
   */
  readonly starts?: { readonly [namespace: string]: number };
  /** By seq, the parent of a checkpoint in this fork, where the remaining rows of the source would name another. */
  readonly parents?: { readonly [seq: string]: number };
  readonly thread: string;
  readonly checkpoint: string | null;
}

export interface LeaseRecord {
  readonly holder: string;
  readonly epoch: number;
  /** Random: where a server has lost commits, an epoch may be given out again, to another holder. Earlier versions had none. */
  readonly token?: string;
  readonly expires: number;
  /** Milliseconds that it was taken or renewed for. Earlier versions did not say. */
  readonly ttl?: number;
  /** How often it was renewed: an observer sees by it that the holder lives, whatever the clocks say. */
  readonly beat?: number;
}

/**
 * The record that every commit of a tape checks. Appending a checkpoint leaves it alone: the key of the new row proves
 * that nobody else was first. Every change of existing rows, or of who may write, changes it.
 */
export interface Meta {
  /** Counts the changes of this record, so that no two versions are equal. */
  readonly version: number;
  readonly thread: string;
  readonly createdAt: number;
  readonly origin?: Origin;
  /** How often the tape was forked, copied, or had checkpoints hidden. */
  readonly generation: number;
  /** Rows up to this seq are in packs, later ones in the tail. */
  readonly sealed: number;
  /** The last sealed row of the root namespace; 0 if none. */
  readonly rootSealed: number;
  /** The step of that row, as long as each sealed row of the root has a greater step than the one before it. */
  readonly rootStep?: number;
  /** The pack that holds the newest full frame of the root's chain, so that reading the head can start there. */
  readonly rootFull: number;
  /** No seq up to this one may be given out again: rows were deleted. */
  readonly floor: number;
  /** How often packs were written anew. */
  readonly rewrites: number;
  /** How many of the rows counted by the tail were deleted since. */
  readonly removed: number;
  /** The greatest id among sealed rows whose id was supplied: a greater one is certainly new. */
  readonly greatestId?: string;
  /** Deleted seqs whose rows are still in storage, because forks may show them or later frames build on them: from, to, generation. */
  readonly gone?: readonly (readonly [number, number, number])[];
  /**
   * How often a compaction has put replaced content into frames, or given frames and origins other parents where some
   * were replaced.
   *
   * Invariant: all tapes of a lineage have the same count. Frames, marks, origins and trees that were read under
   * different counts do not match.
   */
  readonly folds?: number;
  /** Whether there are `mark` records. */
  readonly marks?: true;
  readonly epoch: number;
  /** The epoch that the tape began with, where an earlier thread of the name had leases; see `newMeta`. */
  readonly born?: number;
  readonly lease?: LeaseRecord;
  /** Leases that were broken, the latest first, a few of them. */
  readonly broken?: readonly BrokenLease[];
  /** Counts the messages in the thread's mailbox; absent until the first one. Every change of the mailbox changes it. */
  readonly mail?: MailCount;
  /** True if an error was once written for a checkpoint: only then are the head's writes searched for one. */
  readonly failed?: true;
  /** True if a write that decides the status was once made for a checkpoint: only then are the head's writes searched. */
  readonly controls?: true;
  /** True if such a write came before its checkpoint: a new head may have some already. */
  readonly early?: true;
  /**
   * The facts that the thread is found by. Absent while it has no checkpoint, and in stores of earlier versions until it is next changed.
   *
   * Invariant: the thread's entries are those of its meta record (`textsOf`), and change in the commits that change it.
   */
  readonly index?: IndexState;
  readonly attributes?: Attributes;
  /** When a worker is to take the thread. */
  readonly due?: number;
  /**
   * Names the handler without which no checkpoint of the thread may be pruned, because some are read from others in a way
   * that the store does not know.
   */
  readonly pruner?: string;
  /** The sweeps of the store: in one thread, which is for that alone. */
  readonly sweeper?: SweeperRecord;
  /** The last backup of the store, in that thread. */
  readonly backup?: BackupReport;
  /** When a restore of the store began that has not ended, in that thread. */
  readonly restoring?: number;
  /** The thread was deleted, but forks still build on the tape. */
  readonly dead?: true;
}

export function newMeta(thread: string, createdAt: number, epoch: number): Meta {
  return {
    version: 1,
    thread,
    createdAt,
    generation: 0,
    sealed: 0,
    rootSealed: 0,
    rootFull: 0,
    floor: 0,
    rewrites: 0,
    removed: 0,
    epoch,
    ...(epoch > 0 && { born: epoch }),
  };
}

/** A meta record as it is stored. */
interface StoredMeta extends Meta {
  /** The index as text (see {@link encodeIndex}) and, if there are any, the attributes. Earlier records have `index` and `attributes`. */
  readonly i?: readonly [index: string, attributes?: Attributes] | undefined;
}

/** Leaves out counts that are 0, as most are in nearly every thread: they took more than a third of the record. */
export function encodeMeta(meta: Meta): Value {
  const { generation, sealed, rootSealed, rootFull, floor, rewrites, removed, epoch, index, attributes } = meta;
  return wrapJson({
    ...meta,
    generation: generation || undefined,
    sealed: sealed || undefined,
    rootSealed: rootSealed || undefined,
    rootFull: rootFull || undefined,
    floor: floor || undefined,
    rewrites: rewrites || undefined,
    removed: removed || undefined,
    epoch: epoch || undefined,
    ...(index && { index: undefined, attributes: undefined, i: storedIndex(meta, index, attributes) }),
  });
}

function storedIndex({ createdAt }: Meta, index: IndexState, attributes: Attributes | undefined): StoredMeta["i"] {
  const text = encodeIndex(index, createdAt);
  return attributes === undefined ? [text] : [text, attributes];
}

export function decodeMeta(value: Value): Meta {
  const record = unwrapJson(value) as { -readonly [Name in keyof StoredMeta]: StoredMeta[Name] };
  // Field by field: lists of threads decode many, and an object of defaults took longer than all of this.
  record.generation ??= 0;
  record.sealed ??= 0;
  record.rootSealed ??= 0;
  record.rootFull ??= 0;
  record.floor ??= 0;
  record.rewrites ??= 0;
  record.removed ??= 0;
  record.epoch ??= 0;
  if (record.i !== undefined) {
    const [text, attributes] = record.i;
    record.index = decodeIndex(text, record.createdAt);
    if (attributes !== undefined) record.attributes = attributes;
    // Not deleted: an object that has lost a field is slower ever after.
    record.i = undefined;
  }
  return record;
}

/** Returns a changed copy under the next version. A field given as undefined is removed. */
export function changeMeta(meta: Meta, change: { readonly [K in keyof Meta]?: Meta[K] | undefined }): Meta {
  return { ...meta, ...change, version: meta.version + 1 } as Meta;
}

/**
 * Returns when a thread was last active, as `updatedAt` tells it. A fork or copy begins when it is made: the times of the rows that it
 * inherits do not count, since a nested one may be later than the clock that made the fork, and forking does not look for it.
 */
export function activeAt(
  { origin, createdAt }: Pick<Meta, "origin" | "createdAt">,
  newest: { readonly seq: number; readonly createdAt: number },
): number {
  if (origin === undefined) return newest.createdAt;
  return newest.seq > origin.upTo ? Math.max(newest.createdAt, createdAt) : createdAt;
}

/** Tells whether a view with this generation no longer shows the row with this seq. */
export function isGone({ gone }: Pick<Meta, "gone">, seq: number, generation: number): boolean {
  // Asked of every row in turn: destructuring each range takes most of the time.
  if (gone) for (const range of gone) if (seq >= range[0] && seq <= range[1] && range[2] <= generation) return true;
  return false;
}

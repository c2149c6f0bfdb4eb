/**
 * The contract between the engine and the place where a store lives.
 *
 * A backend is an ordered map of records with conditional, atomic, durable batches, with an ordered set of texts and a
 * log beside it. It knows nothing of checkpoints: it sees keys made of integers, one directory keyed by thread ids, and
 * encoded values. Everything else (deltas, packs, forks, leases, retention) is the engine's, written once for all backends.
 *
 * To add a backend: implement {@link Backend}, run the cases of `threadmark/testing` against it.
 */

/**
 * The tables of integer-keyed records, and what the engine keeps in each. `wide` tables use the key's third integer
 * (`part`) and random keys; in all others `part` is always 0 and keys mostly grow.
 */
export const tables = {
  /** The state of a tape, a record each; group = lineage, item = tape. Small, read and checked by every commit. */
  meta: { wide: false },
  /** Checkpoints not yet sealed; group = tape, item = seq. */
  tail: { wide: false },
  /** Replaced and relabelled checkpoints; group = tape, item = seq. */
  mark: { wide: false },
  /** Packs, by their last seq: metadata of the rows, the net change, the single steps. */
  rows: { wide: false },
  net: { wide: false },
  steps: { wide: false },
  /** Sealed checkpoints whose id does not tell where they are; item, part = hash of namespace and id. */
  id: { wide: true },
  /** The last sealed checkpoint of each nested namespace; item, part = hash of the namespace. */
  head: { wide: true },
  /** Writes; item = hash of namespace and checkpoint, part = hash of the task. */
  write: { wide: true },
  /** Large values; group = lineage, item and part = 64 bits of the content's name. */
  value: { wide: true },
  /** Messages to a thread; group = tape, item and part = hash of the message's id. */
  mail: { wide: true },
} as const;

/** The name of a table of records with keys of integers. */
export type Table = keyof typeof tables;

/** Everything that a backend stores records of, as `size` counts it. */
export type Stored = Table | "directory" | "entry" | "log";

/**
 * The key of a record: `lineage` and `group` are numbers of tapes, in [1, `capabilities.tapes`); so is the `item` of a `meta` record.
 * Every other `item`, and `part`, is in [0, 2^32). Records of two lineages never are the same record, whatever else their keys
 * share. `lineage` also lets a distributed backend place the record.
 */
export interface Key {
  readonly table: Table;
  readonly lineage: number;
  readonly group: number;
  readonly item: number;
  readonly part: number;
}

/** A directory key: a thread's id, any string of 1 to 512 bytes of UTF-8 without NUL. Ordered bytewise. */
export interface DirectoryKey {
  readonly table: "directory";
  readonly id: string;
}

/**
 * An encoded value: text (ten characters of envelope, then JSON), or bytes (compressed or encrypted). It must come back
 * as it was: text as text, bytes as bytes. Bytes that were passed in belong to the backend.
 */
export type Value = string | Uint8Array;

/** All records of a group with `from <= item <= to`, in key order (or `reverse`), at most `limit`. */
export interface Range {
  readonly table: Table;
  readonly lineage: number;
  readonly group: number;
  /** Default: the first item of the group. */
  readonly from?: number;
  /** Default: the last item of the group. */
  readonly to?: number;
}

/**
 * A text under which a tape is found. Entries of all lineages are one set, ordered by text (bytewise in UTF-8), then
 * lineage, then tape. A text has 1 to 700 bytes of UTF-8 and no NUL.
 */
export interface IndexEntry {
  readonly text: string;
  readonly lineage: number;
  readonly tape: number;
}

/** An entry as a read finds it. */
export interface FoundEntry extends IndexEntry {
  /** The newest records of its tape, if they were asked for and the backend has them at hand. */
  readonly records?: TapeRecords;
}

/** The meta record of a tape, and its newest two records of `tail`, newest first. */
export interface TapeRecords {
  readonly meta: Value | undefined;
  readonly tail: readonly Found[];
}

/** A line of the log: the time of the commit in milliseconds, and up to 16 KB of text without NUL. */
export interface LogLine {
  readonly at: number;
  readonly text: string;
}

/** The log is cut by `compact`, and by commits from time to time, to these bounds. Its newest line always stays. */
export const logBounds: { readonly lines: number; readonly milliseconds: number } = {
  lines: 100_000,
  milliseconds: 24 * 60 * 60 * 1000,
};

/** A question to a backend. All reads of a call are answered from one moment. */
export type Read =
  | { readonly get: Key | DirectoryKey }
  | { readonly scan: Range; readonly reverse?: boolean; readonly limit?: number }
  /** Directory entries in bytewise order of id: those that start with `prefix` and come after `after`. */
  | { readonly list: { readonly prefix?: string; readonly after?: string; readonly limit: number } }
  /**
   * Entries with `from <= text < to`, in order or `reverse`; with `after`, those that come behind it in that order. With
   * `tapes`, entries may come with the newest records of their tapes; a caller who finds none there reads them. It is a number of
   * characters: of all finds of a call that have it, those entries are wanted first whose texts have the greatest ends of that length.
   */
  | {
      readonly find: {
        readonly from: string;
        readonly to: string;
        readonly after?: IndexEntry;
        readonly limit: number;
        readonly tapes?: number;
      };
      readonly reverse?: boolean;
    }
  /** The number of entries with `from <= text < to`. */
  | { readonly tally: { readonly from: string; readonly to: string } }
  /**
   * Lines of the log behind the position `after`, oldest first; "" is the position before the first line. Of more than
   * `limit`, the first ones, or with `newest` the last ones.
   */
  | { readonly log: LogRange };

/** A page of the log: the lines after a position, oldest first; with `newest`, the last ones. */
export interface LogRange {
  /** The position behind which the page begins; `""` for the beginning of the log. */
  readonly after: string;
  readonly limit: number;
  /** Default false. */
  readonly newest?: boolean;
}

/** A record that a scan found, without the part of its key that the scan names. */
export interface Found {
  readonly item: number;
  readonly part: number;
  readonly value: Value;
}

/** An entry of the directory: the id of a thread, and its record. */
export interface Listed {
  readonly id: string;
  readonly value: Value;
}

/**
 * The answer to a read of the log. Positions are opaque and ascend in the order in which commits become visible: a reader that has
 * seen a position has seen every line before it.
 */
export interface LogPage {
  readonly lines: readonly (LogLine & { readonly position: string })[];
  /**
   * Texts of lines that are committed, but have no position yet because others may still come before them. Absent where
   * commits become visible one after the other.
   */
  readonly unsettled?: readonly string[];
  /** The position of the newest line; "" if there never was one. */
  readonly end: string;
  /** Whether lines behind `after` were cut away, or `after` is not a position of this log. */
  readonly expired: boolean;
}

/**
 * The answer to a `get` is a Value or undefined, to a `scan` Found[], to a `list` Listed[], to a `find` FoundEntry[], to a
 * `tally` a number, to a `log` a LogPage.
 */
export type Answer =
  | Value
  | undefined
  | readonly Found[]
  | readonly Listed[]
  | readonly FoundEntry[]
  | number
  | LogPage;

/**
 * An atomic change. Its records, entries and lines are of one lineage, and beside them it touches at most one directory entry:
 * where a thread is made, forked into, copied into, imported over or deleted. A backend need not take any other; stores are
 * held to that by `oneLineage` of `threadmark/testing`.
 *
 * It is refused, and nothing of it written, unless every check holds and every inserted key is
 * absent (or among the batch's own deletes). Checks and inserts are judged, and all is applied, inside one transaction;
 * deletes come before inserts, and those before puts: what is written last of a key counts.
 *
 * The item of a `meta` record is the number of a tape, and so the group of the tape's other records. A number is for one
 * tape of one lineage: a batch that inserts a `meta` record is also refused if another lineage has one with that item. A
 * backend that leaves the lineage out of its own keys must enforce this, or it would mix the two; one whose keys tell
 * lineages apart may overlook a number that is costly to find.
 */
export interface Batch {
  /** The record at `key` must hold exactly `value`; undefined means it must be absent. */
  readonly checks?: readonly { readonly key: Key | DirectoryKey; readonly value: Value | undefined }[];
  readonly deletes?: readonly (Key | DirectoryKey | Range)[];
  readonly inserts?: readonly Entry[];
  /** Written whether or not the key exists. */
  readonly puts?: readonly Entry[];
  /** Entries that leave and join the index, in this order, whether or not they are in it. All are of one lineage. */
  readonly entries?: { readonly remove?: readonly IndexEntry[]; readonly add?: readonly IndexEntry[] };
  /** Lines for the log. Lines of two lineages that are committed in one call may stand in either order. */
  readonly log?: { readonly lineage: number; readonly lines: readonly LogLine[] };
  /** A record that the batch builds on beside its checks. If there were more `interruptions` since, it is a check like the others. */
  readonly follows?: { readonly key: Key; readonly value: Value; readonly interruptions: number };
}

/** A record to insert or to put. */
export interface Entry {
  readonly key: Key | DirectoryKey;
  readonly value: Value;
}

/** The size of a table. */
export interface Size {
  readonly records: number;
  /** Bytes of the values (and ids), without the overhead of pages and indexes. */
  readonly bytes: number;
}

export interface Sizes {
  readonly tables: Readonly<Record<Stored, Size>>;
  /** The bytes that the store takes on its medium; undefined where that is unknown. */
  readonly total: number | undefined;
  /** How many milliseconds a copy that follows another server is behind it; absent where this is no such copy. */
  readonly behind?: number;
}

/** The abilities of a backend, as it declares it. Nothing looks at its name. */
export interface Capabilities {
  /** Commits survive the end of the process. */
  readonly durable: boolean;
  /** Several processes may write at the same time. */
  readonly processes: boolean;
  /** Calls are trips to another machine: better to ask for too much than to ask twice; and answers may be lost. */
  readonly distant?: boolean;
  /** How many `commit` calls are worth having under way at once; 1 unless told. They never touch the same groups. */
  readonly commitsAtOnce?: number;
  /** Numbers of tapes and lineages are below this: 2^31 unless told, and at most 2^40. */
  readonly tapes?: number;
}

/** A store as it was at one moment. */
export interface Snapshot {
  read(reads: readonly Read[]): Promise<readonly Answer[]>;
  /** Gives the moment up. It must not be held longer than it is needed: the store cannot shrink meanwhile. */
  close(): Promise<void>;
}

/** The place of a store: an ordered map with conditional, atomic, durable batches. */
export interface Backend {
  /** For messages: "memory", "sqlite", … Never used to make a decision. */
  readonly name: string;
  readonly capabilities: Capabilities;
  /**
   * Counts the moments since when commits that were acknowledged or shown may be gone, as when a server crashed and another
   * took its place: what was read before is read again. Absent where that cannot be.
   */
  readonly interruptions?: number;
  /**
   * Answers all reads in order, in a single round trip. Everything of one lineage (its records, entries and lines) is answered
   * from one snapshot; two lineages, and the directory, may be seen at different moments. Creates nothing.
   */
  read(reads: readonly Read[]): Promise<readonly Answer[]>;
  /**
   * Applies the batches in order, each atomic by itself, and returns when all that were applied are durable: for each
   * whether it was applied (true) or refused (false). No two batches of one call touch the same group or directory id.
   * On failure it rejects with a ThreadmarkError: `BACKEND` with `committed: false` when nothing was applied,
   * `committed: "unknown"` when that cannot be told; `READ_ONLY`, `BUSY`, `CORRUPT`, `VERSION`, `MOVED` where they fit.
   */
  commit(batches: readonly Batch[]): Promise<readonly boolean[]>;
  /**
   * Calls back whenever there may be commits that were not there before, from others soon and from this object at once, until
   * the returned function is called. It may call too often, and never too rarely. Absent: watchers look every 25 ms.
   */
  hear?(callback: () => void): () => void;
  /**
   * Returns a number, near `number`, for a lineage that begins with a thread of this id, so that the two live at one place
   * where a store has several. Absent: any number will do.
   */
  numberFor?(id: string, number: number): number;
  size(): Promise<Sizes>;
  /**
   * Returns what `size` does of the whole store, without counting records. Absent where that would take as long: `stats` then
   * tells a total of small stores only.
   */
  total?(): Promise<Omit<Sizes, "tables">>;
  /**
   * Gives room that deleted records left back to the system, and makes them unreadable on the medium. `BUSY` where others
   * are in the way for too long: it says what was done, and commits go on meanwhile.
   */
  compact(): Promise<void>;
  /**
   * Gives some of that room back in a step of a few milliseconds, between commits. `lineages` are those in which records were
   * deleted since the step before; none at the end. Resolves to whether there is more. Absent where only `compact` can.
   */
  reclaim?(lineages: readonly number[]): Promise<boolean>;
  /**
   * Resolves to the store as it is at this moment, to be read for a while as others commit; undefined where there is no store
   * yet. Absent where a backend cannot: a backup then is of one moment only if nobody commits meanwhile.
   */
  snapshot?(): Promise<Snapshot | undefined>;
  /** Faults of the medium itself (a damaged page, a torn journal), in words. The engine checks the records. */
  verify(): Promise<readonly string[]>;
  /** Releases everything. Called once, after all other calls have settled. */
  close(): Promise<void>;
}

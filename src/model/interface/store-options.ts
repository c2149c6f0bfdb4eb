import type { Where } from "../attributes.ts";
import type { RetentionOptions } from "../retention/sweep.ts";
import type { StateSchemas } from "../state-versions.ts";
import type { Status } from "../status.ts";
import type { EncryptionOptions } from "./encryption.ts";
import type { ChangeKind } from "./watched-changes.ts";

/** Options of `store.threads`. */
export interface ThreadsOptions {
  /** Only threads of this workflow. @default all */
  readonly workflow?: string;
  /** Only threads with a checkpoint of this run. @default all */
  readonly run?: string;
  /** Only threads whose id begins with this text. A TypeError where the store hides its ids. @default all */
  readonly prefix?: string;
  /** Only threads of this status, or of one of these. @default all */
  readonly status?: Status | readonly Status[];
  /** Only threads whose attributes meet these conditions. @default all */
  readonly where?: Where;
  /** Only threads that were active after this time, in milliseconds since 1970. @default all */
  readonly updatedAfter?: number;
  /** Only threads that were last active before this time. @default all */
  readonly updatedBefore?: number;
  /**
   * `id`: bytewise, or in another order where the store hides its ids. `updated`: newest first. The order is right to a second: of threads that were active in the same second,
   * one that began earlier in it may come before. @default "id"
   */
  readonly order?: "id" | "updated";
  /** The most threads to yield. @default Infinity */
  readonly limit?: number;
  /** The `cursor` of the last thread already seen; in the order of ids that is its id. @default from the beginning */
  readonly after?: string;
  /** Ends the list with the signal's reason. @default none */
  readonly signal?: AbortSignal;
}

/** Options of `store.watch`. */
export interface WatchOptions {
  /** Only changes of this thread. @default all */
  readonly thread?: string;
  /** Only changes of threads of this workflow. @default all */
  readonly workflow?: string;
  /** Only changes of these kinds. @default all */
  readonly kinds?: readonly ChangeKind[];
  /** The cursor of the last change already seen, of a watch with the same thread, workflow and kinds. @default from now on */
  readonly after?: string;
  /** Ends the watch. @default none */
  readonly signal?: AbortSignal;
}

/** Options of `store.interrupts`. */
export interface InterruptsOptions {
  /** Only threads of this workflow. @default all */
  readonly workflow?: string;
  /** Only threads whose attributes meet these conditions. @default all */
  readonly where?: Where;
  /** The most questions to yield. @default Infinity */
  readonly limit?: number;
  /** The `cursor` of the last question already seen. @default from the newest */
  readonly after?: string;
  /** Ends the list with the signal's reason. @default none */
  readonly signal?: AbortSignal;
}

/** Options of `store.due`. */
export interface DueOptions {
  /** Only threads of this workflow; null: those without one. */
  readonly workflow: string | null;
  /** Only threads that are due by this time, in milliseconds since 1970. @default now, by the store's clock */
  readonly before?: number;
  /** True to yield threads that somebody has leased too, with `leasedUntil`. @default false */
  readonly leased?: boolean;
  /** The most threads to yield. @default Infinity */
  readonly limit?: number;
  /** Ends the list with the signal's reason. @default none */
  readonly signal?: AbortSignal;
}

/** Options of work that goes through the whole store: `verify`, `compact`, `measure`, `sweep`, `export` and `import`. */
export interface WorkOptions {
  /**
   * Called with the number of threads done, as the work goes on, and with the id of the last one, where threads are gone
   * through in the order of their ids. An error it throws ends the work. @default none
   */
  readonly progress?: (threads: number, last?: string) => void;
  /** Ends the work with the signal's reason; changes that are committed by then stay. @default none */
  readonly signal?: AbortSignal;
}

/** Options of `stats`. */
export interface StatsOptions {
  /** Ends the reading of a small store with the signal's reason. @default none */
  readonly signal?: AbortSignal;
}

/** Options of `compact`, `verify` and `measure`. */
export interface ResumableOptions extends WorkOptions {
  /** Begin behind the thread of this id, bytewise: the last one that `progress` told of work that was stopped. @default at the first */
  readonly after?: string;
}

/** Options of `sweep`. */
export interface SweepOptions extends WorkOptions {
  /** Delete nothing, and return the same. @default false */
  readonly dryRun?: boolean;
}

/** Options of `rotate`. */
export interface RotateOptions extends WorkOptions {
  /** Also write everything anew, under new data keys. @default false: data keys are wrapped by the current key */
  readonly data?: boolean;
}

/** Options of `export`. */
export interface ExportOptions extends WorkOptions {
  /** The ids of the threads. @default all threads */
  readonly threads?: readonly string[];
  /** Only threads whose ids come behind this one, bytewise: an export that was stopped goes on with it. @default all threads */
  readonly after?: string;
  /** Encrypt the bundle with the keys of the store. A store with these keys can import it. @default false */
  readonly encrypted?: boolean;
}

/** A stream that a backup can be written into, as Node's are. It stays open. */
export interface BackupStream {
  write(text: string, done: (error?: Error | null) => void): unknown;
  once(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** Options of `backup`. */
export interface BackupOptions extends WorkOptions {
  /**
   * The `cursor` of an earlier backup: only threads that were changed since then are written, and which were deleted. Cursors
   * are `EXPIRED` after a day, or 100,000 changes other than puts. @default everything
   */
  readonly since?: string;
}

/** How instances of a class are stored, under the name that they are registered with. */
export interface ClassCodec<T = unknown> {
  test(value: unknown): value is T;
  encode(value: T): unknown;
  decode(data: unknown): T;
}

/** An object outside the store, as a driver lists it. */
export interface StoredObject {
  readonly name: string;
  /** When it was last written, in milliseconds since 1970. */
  readonly at: number;
}

/**
 * A place for large values outside the store. Names are made by the store, never used twice, and consist of letters, digits,
 * `_` and `-`. The place must hold the values of one store only.
 *
 * @example
 * const driver = directory("./values");
 * const store = await open("sqlite:agent.db", { largeValues: { driver } });
 */
export interface ValueDriver {
  /** Stores an object. When it resolves, the object is durable. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Resolves to an object's bytes, or undefined where there is no such object. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Deletes an object; one that is not there is no error. */
  delete(name: string): Promise<void>;
  /** Yields all objects, in any order. */
  list(): AsyncIterable<StoredObject>;
}

/** How large values are stored. */
export interface LargeValueOptions {
  /**
   * The length of a value's JSON from which it is stored by itself, once for all threads of its lineage; Infinity: never.
   * @default 8192
   */
  readonly from?: number;
  /** Where new large values go. @default none: into the store */
  readonly driver?: ValueDriver;
}

/** Options of `open` that every store takes. */
export interface StoreOptions {
  /** Gives the time in milliseconds since 1970. @default Date.now */
  readonly clock?: () => number;
  /** Makes checkpoint and thread ids. @default ids that sort by time for checkpoints, random ones for threads */
  readonly ids?: () => string;
  /** Classes whose instances can be stored, by name. @default {} */
  // biome-ignore lint/suspicious/noExplicitAny: a registry holds codecs of many types; each is checked by its own test().
  readonly classes?: Readonly<Record<string, ClassCodec<any>>>;
  /**
   * How stored instances of classes that are not in `classes` are read. `refuse`: `UNSUPPORTED`. `keep`: as `{ name, data }`,
   * which can be stored again as what it was; for tools. @default "refuse"
   */
  readonly unregistered?: "refuse" | "keep";
  /** Bytes of recently used states kept in memory. @default 67108864, which is 64 MiB */
  readonly cacheBytes?: number;
  /**
   * The version of the program's states and how older ones are migrated: one schema, or schemas by workflow. On Postgres a string
   * names the schema of the tables instead. @default states have no version
   */
  readonly schema?: StateSchemas;
  /** How packs and large values are compressed. `zstd` needs Node 22.15. @default "none" */
  readonly compression?: "none" | "deflate" | "zstd";
  /** From which length a value is stored by itself, and where. @default { from: 8192 }, in the store */
  readonly largeValues?: LargeValueOptions;
  /** Which checkpoints and threads go by themselves, and when: see `sweep`. @default none */
  readonly retention?: RetentionOptions;
  /** The keys that the store is encrypted with: AES-256-GCM. @default none: the store is not encrypted */
  readonly encryption?: EncryptionOptions;
  /** @internal How many checkpoints make a pack. Tests make small ones, so that short histories have many. */
  readonly packRows?: number;
  /** @internal How many bytes of checkpoints make a pack. */
  readonly packBytes?: number;
  /** @internal How many bytes a checkpoint may take. */
  readonly checkpointBytes?: number;
  /** @internal How many bytes of full frames a removal writes however little it removes. */
  readonly rewriteBytes?: number;
}

/** Options of `open` that most urls take; each kind of store may have more. */
export interface OpenOptions extends StoreOptions {
  /** `full`: a commit survives a power cut. `normal`: it survives the end of the process. @default "full" */
  readonly fsync?: "full" | "normal";
  /** Open for reading only; changes are `READ_ONLY`. @default false */
  readonly readOnly?: boolean;
  /** The permissions of files that are made, as in `0o660`; for SQLite and files. @default 0o600, for the owner only */
  readonly mode?: number;
}

import type { Answer, Backend, Read, Value } from "../backend.ts";
import type { Compression } from "../codec/envelope.ts";
import { RECORD_BYTES } from "../codec/json-text.ts";
import type { ValueCodec } from "../codec/values/value.ts";
import { ThreadmarkError } from "../errors.ts";
import { Committer } from "./commits/group-commit.ts";
import { Lane } from "./commits/lane.ts";
import { isCorrupt } from "./faults/damage.ts";
import { ByteCache } from "./memory/byte-cache.ts";
import { randomWriter } from "./memory/new-tape.ts";
import { type Tape, UNSEALED } from "./memory/tape.ts";
import { Tapes } from "./memory/tapes.ts";
import { TreeCache } from "./memory/tree-cache.ts";
import type { ReadAhead } from "./reads/read-ahead.ts";
import { type DirectoryRecord, decodeDirectory } from "./records/meta.ts";
import { overlong } from "./records/size-limits.ts";
import { InheritedFacts } from "./view/inherited-facts.ts";

export interface EngineOptions {
  readonly backend: Backend;
  readonly codec: ValueCodec;
  readonly clock: () => number;
  /** Supplied ids instead of those that tell their own address. */
  readonly ids: (() => string) | undefined;
  readonly cacheBytes: number;
  readonly compression: Compression;
  readonly packRows?: number | undefined;
  readonly packBytes?: number | undefined;
  readonly checkpointBytes?: number | undefined;
}

/** Rows of a tail before they are sealed into a pack. */
const PACK_ROWS = 64;

/** Records of a tail, together, before they are sealed: larger rows make smaller packs. */
const PACK_BYTES = 4 * 1024 * 1024;

/** What one checkpoint may take: half of a record, so that its whole body and its metadata always fit into one. */
const CHECKPOINT_BYTES = RECORD_BYTES / 2;

/** Beyond this many, lanes with nothing to do are dropped: each is small, but threads are many. */
const LANES = 1024;
const FRESH_CACHE_BYTES = 16 * 1024 * 1024;

/** How often a read is made again because the backend was interrupted meanwhile. */
const INTERRUPTED_READS = 3;

/** A thread's directory record, decoded, with the value that a commit checks. */
export type DirectoryEntry = DirectoryRecord & { readonly value: Value };

/** What every operation works with: the backend, the codec, and what is remembered of tapes and trees. */
export class Engine {
  readonly backend: Backend;
  readonly codec: ValueCodec;
  readonly clock: () => number;
  readonly ids: (() => string) | undefined;
  readonly compression: Compression;
  /** How many rows are sealed into one pack. */
  readonly packRows: number;
  /** How many bytes of rows, unless it is one row alone. */
  readonly packBytes: number;
  /** How many bytes a checkpoint's body, the record of a put, and the writes of a task may take. */
  readonly checkpointBytes: number;
  /** Names this store in the rows it commits, where answers may be lost: two stores may put the same at the same moment. */
  readonly writer: string | undefined;
  readonly committer: Committer;
  readonly trees: TreeCache;
  readonly tapes: Tapes;
  /** What forks inherit, as far as it was asked: it outlives the tapes, of which nested forks may have more than fit. */
  readonly inherited: InheritedFacts;
  readonly #directory: ByteCache<string, Required<Pick<DirectoryRecord, "tape" | "lineage">>>;
  readonly #lanes = new Map<string, Lane>();
  #interruptions: number | undefined;
  #active = 0;
  #idle: (() => void) | undefined;
  #closed = false;

  constructor(options: EngineOptions) {
    this.backend = options.backend;
    this.codec = options.codec;
    this.clock = options.clock;
    this.ids = options.ids;
    this.compression = options.compression;
    this.packRows = options.packRows ?? PACK_ROWS;
    this.packBytes = options.packBytes ?? PACK_BYTES;
    this.checkpointBytes = options.checkpointBytes ?? CHECKPOINT_BYTES;
    this.writer = options.backend.capabilities.distant ? randomWriter() : undefined;
    this.#interruptions = options.backend.interruptions;
    this.committer = new Committer(options.backend);
    this.trees = new TreeCache(options.cacheBytes);
    this.tapes = new Tapes(options.backend, Math.max(options.cacheBytes / 4, 1 << 20));
    this.inherited = new InheritedFacts(Math.max(options.cacheBytes / 8, 1 << 20));
    this.#directory = new ByteCache(Math.max(options.cacheBytes / 8, 1 << 20));
  }

  /** How often the backend had been interrupted when what is remembered was read; undefined where it never is. */
  get interruptions(): number | undefined {
    return this.#interruptions;
  }

  /** What is remembered may tell of commits that an interruption has undone, and their seqs are given out again. */
  #forgetIfInterrupted(): void {
    const { interruptions } = this.backend;
    if (interruptions === this.#interruptions) return;
    this.#interruptions = interruptions;
    this.tapes.clear();
    this.trees.clear();
    this.inherited.clear();
    this.#directory.clear();
  }

  /** Refuses what comes after `close`, and lets `close` wait for what came before. */
  async track<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#closed) throw closedError();
    this.enter();
    try {
      return await operation();
    } catch (error) {
      throw overlong(error) ?? error;
    } finally {
      this.leave();
    }
  }

  /** Something begins that `close` has to wait for. */
  enter(): void {
    this.#active += 1;
  }

  /** How much of that is under way. */
  get active(): number {
    return this.#active;
  }

  leave(): void {
    this.#active -= 1;
    if (this.#active === 0) this.#idle?.();
  }

  get closed(): boolean {
    return this.#closed;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#active > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    if (this.backend.commitIfFree) await this.#sealTails();
    this.tapes.clear();
    this.trees.clear();
    await this.backend.close();
  }

  /** Half a pack is worth a seal of its own. */
  async #sealTails(): Promise<void> {
    const tapes = this.tapes.unsealed(this.packRows / 2 + UNSEALED);
    if (tapes.length > 0) await (await import("./commits/seal-on-close.ts")).sealTails(this, tapes);
  }

  /** Another engine that remembers nothing yet, on the same backend unless told. */
  fresh(backend: Backend = this.backend): Engine {
    const { codec, clock, ids, compression, packRows, packBytes, checkpointBytes } = this;
    const cacheBytes = FRESH_CACHE_BYTES;
    return new Engine({
      backend,
      codec,
      clock,
      ids,
      compression,
      packRows,
      packBytes,
      checkpointBytes,
      cacheBytes,
    });
  }

  /** The queue that orders this process's changes of one thread. */
  lane(thread: string): Lane {
    let lane = this.#lanes.get(thread);
    if (!lane) {
      if (this.#lanes.size >= LANES) this.#dropIdleLanes();
      lane = new Lane(this, thread);
      this.#lanes.set(thread, lane);
    }
    return lane;
  }

  #dropIdleLanes(): void {
    for (const [thread, lane] of this.#lanes) if (lane.idle) this.#lanes.delete(thread);
  }

  /** A thread's tape as it is in the store now, or undefined when there is no such thread. */
  async thread(id: string, ahead?: ReadAhead): Promise<Tape | undefined> {
    this.#forgetIfInterrupted();
    try {
      let tape = await this.#thread(id, ahead);
      // What was remembered was asked to be brought up to date, by a backend that may have lost part of it.
      for (let again = 0; again < INTERRUPTED_READS && this.backend.interruptions !== this.#interruptions; again += 1) {
        this.#forgetIfInterrupted();
        tape = await this.#thread(id, ahead);
      }
      return tape;
    } catch (error) {
      if (!isCorrupt(error) || error.thread !== undefined) throw error;
      const { message, frame } = error;
      throw new ThreadmarkError("CORRUPT", `Thread ${JSON.stringify(id)}: ${message}`, {
        thread: id,
        ...(frame !== undefined && { frame }),
        cause: error,
      });
    }
  }

  async #thread(id: string, ahead: ReadAhead | undefined): Promise<Tape | undefined> {
    const known = this.#directory.get(id);
    if (known) {
      const tape = await this.tapes.refresh(known.tape, known.lineage, ahead);
      if (tape && !tape.meta.dead && tape.meta.thread === id) return tape;
      this.#directory.delete(id);
    }
    const entry = await this.directoryEntry(id);
    if (entry?.tape === undefined || entry.lineage === undefined) return undefined;
    const tape = await this.tapes.refresh(entry.tape, entry.lineage, ahead);
    if (!tape) return this.#missing(id, entry);
    if (tape.meta.dead) return undefined;
    this.remember(id, tape);
    return tape;
  }

  /** A directory entry without its tape: the thread was deleted just now, or the record is lost. */
  async #missing(id: string, { tape, lineage }: DirectoryEntry): Promise<Tape | undefined> {
    const now = await this.directoryEntry(id);
    if (now?.tape === undefined) return undefined;
    if (now.tape !== tape || now.lineage !== lineage) return this.thread(id);
    throw new ThreadmarkError(
      "CORRUPT",
      `Thread ${JSON.stringify(id)}: its tape ${tape} is missing. Run verify() and restore it from a backup.`,
      { thread: id, frame: `${tape}:meta` },
    );
  }

  /** The last remembered tape of a thread, without any I/O; it may be stale. */
  rememberedThread(id: string): Tape | undefined {
    this.#forgetIfInterrupted();
    const known = this.#directory.get(id);
    return known && this.tapes.get(known.tape, known.lineage);
  }

  async directoryEntry(id: string): Promise<DirectoryEntry | undefined> {
    const [value] = await this.backend.read([{ get: { table: "directory", id } }]);
    return value === undefined ? undefined : { ...decodeDirectory(value as Value), value: value as Value };
  }

  remember(id: string, tape: Tape): void {
    const known = this.#directory.get(id);
    if (known?.tape !== tape.number || known.lineage !== tape.lineage) {
      this.#directory.set(id, { tape: tape.number, lineage: tape.lineage }, id.length + 100);
    }
    this.tapes.keep(tape);
  }

  forget(id: string): void {
    const known = this.#directory.get(id);
    if (known) this.tapes.forget(known.tape, known.lineage);
    this.#directory.delete(id);
  }

  read(reads: readonly Read[]): Promise<readonly Answer[]> {
    return this.backend.read(reads);
  }
}

export function closedError(): ThreadmarkError {
  return new ThreadmarkError("CLOSED", "The store is closed. Open it again with open().");
}

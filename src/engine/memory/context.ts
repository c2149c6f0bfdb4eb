import type { Answer, Backend, Read, Value } from "../../backend.ts";
import type { Compression } from "../../codec/envelope.ts";
import { RECORD_BYTES } from "../../codec/json-text.ts";
import type { ValueCodec } from "../../codec/values/value.ts";
import { ThreadmarkError } from "../../errors.ts";
import { isCorrupt } from "../faults/damage.ts";
import { type DirectoryRecord, decodeDirectory } from "../records/directory.ts";
import { ByteCache } from "./byte-cache.ts";
import { InheritedFacts } from "./inherited-facts.ts";
import { randomWriter } from "./new-tape.ts";
import { OpenCalls } from "./open-calls.ts";
import type { Tape } from "./tape.ts";
import { type Along, Tapes } from "./tapes.ts";
import { TreeCache } from "./tree-cache.ts";

export interface ContextOptions {
  readonly backend: Backend;
  readonly codec: ValueCodec;
  readonly clock: () => number;
  /** Makes the ids of checkpoints; by default an id tells the checkpoint's address. */
  readonly ids: (() => string) | undefined;
  readonly cacheBytes: number;
  readonly compression: Compression;
  readonly packRows?: number | undefined;
  readonly packBytes?: number | undefined;
  readonly checkpointBytes?: number | undefined;
}

/** Rows of a tail before they are sealed into a pack. */
const PACK_ROWS = 64;

/** Bytes of a tail's records before they are sealed: larger rows make smaller packs. */
const PACK_BYTES = 4 * 1024 * 1024;

/** Limit of one checkpoint: half a record, so that its whole body and its metadata always fit into one. */
const CHECKPOINT_BYTES = RECORD_BYTES / 2;

const FRESH_CACHE_BYTES = 16 * 1024 * 1024;

/** How often a read is repeated because the backend was interrupted meanwhile. */
const INTERRUPTED_READS = 3;

/** A thread's directory record, decoded, with the value that a commit checks. */
export type DirectoryEntry = DirectoryRecord & { readonly value: Value };

/** The things every operation works with: the backend, the codec, and the tapes and trees that are remembered. */
export class Context {
  readonly backend: Backend;
  readonly codec: ValueCodec;
  readonly clock: () => number;
  readonly ids: (() => string) | undefined;
  readonly compression: Compression;
  /** Rows in one pack. */
  readonly packRows: number;
  /** Bytes of the rows in one pack, unless the pack is a single row. */
  readonly packBytes: number;
  /** Bytes that a checkpoint's body, the record of a put, and the writes of a task may take. */
  readonly checkpointBytes: number;
  /** Names this store in the rows it commits, where answers may be lost: two stores may put equal rows at the same moment. */
  readonly writer: string | undefined;
  readonly calls: OpenCalls = new OpenCalls();
  readonly trees: TreeCache;
  readonly tapes: Tapes;
  /** Facts about inherited rows; they outlive the tapes, of which nested forks may have more than fit into memory. */
  readonly inherited: InheritedFacts;
  readonly #directory: ByteCache<string, Required<Pick<DirectoryRecord, "tape" | "lineage">>>;
  #interruptions: number | undefined;

  constructor(options: ContextOptions) {
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
    this.trees = new TreeCache(options.cacheBytes);
    this.tapes = new Tapes(options.backend, Math.max(options.cacheBytes / 4, 1 << 20));
    this.inherited = new InheritedFacts(Math.max(options.cacheBytes / 8, 1 << 20));
    this.#directory = new ByteCache(Math.max(options.cacheBytes / 8, 1 << 20));
  }

  /** Returns a context on the same backend, or on another one, that remembers nothing yet. */
  fresh(backend: Backend = this.backend): Context {
    const { codec, clock, ids, compression, packRows, packBytes, checkpointBytes } = this;
    const cacheBytes = FRESH_CACHE_BYTES;
    return new Context({
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

  /**
   * Returns the number of interruptions of the backend when the oldest remembered thing was read; undefined where it
   * has none.
   */
  get interruptions(): number | undefined {
    return this.#interruptions;
  }

  /** Drops everything remembered. */
  forgetAll(): void {
    this.tapes.clear();
    this.trees.clear();
    this.inherited.clear();
    this.#directory.clear();
  }

  /** Drops everything remembered if an interruption may have undone commits: their seqs are then given out again. */
  #forgetIfInterrupted(): void {
    const { interruptions } = this.backend;
    if (interruptions === this.#interruptions) return;
    this.#interruptions = interruptions;
    this.forgetAll();
  }

  /** Returns a thread's tape as it is in the store now, or undefined when there is no such thread. */
  async thread(id: string, ahead?: Along): Promise<Tape | undefined> {
    this.#forgetIfInterrupted();
    try {
      let tape = await this.#thread(id, ahead);
      // The tape may have been brought up to date by a backend that has since lost part of it.
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

  async #thread(id: string, ahead: Along | undefined): Promise<Tape | undefined> {
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

  /** Decides about a directory entry without its tape: the thread was deleted just now, or the record is lost. */
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

  /** Returns the remembered tape of a thread, without any I/O; it may be stale. */
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

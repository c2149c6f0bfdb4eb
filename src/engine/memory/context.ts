import type { Answer, Backend, Read, Value } from "../../backend.ts";
import type { Compression } from "../../codec/envelope.ts";
import { RECORD_BYTES } from "../../codec/json-text.ts";
import type { ValueCodec } from "../../codec/values/value.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { LargeValueOptions } from "../../model/interface/store-options.ts";
import { SMALL_REWRITE } from "../../model/retention/rewriting.ts";
import type { StateVersions } from "../../model/state-versions.ts";
import { observedRead } from "../../platform/diagnostics.ts";
import type { EncryptedBackend } from "../encryption/encrypted-backend.ts";
import { ofThread } from "../faults/damage.ts";
import { type DirectoryRecord, decodeDirectory } from "../records/store-wide/directory.ts";
import { nameOf } from "../records/values.ts";
import { ByteCache } from "./byte-cache.ts";
import type { ContextOptions } from "./context-options.ts";
import { InheritedFacts } from "./inherited-facts.ts";
import { indexReads, KnownIndex } from "./known-index.ts";
import { KnownValues } from "./large-values/known-values.ts";
import { OutsideValues } from "./large-values/outside-values.ts";
import { randomName } from "./new-tape.ts";
import { OpenCalls } from "./open-calls.ts";
import type { Tape } from "./tape.ts";
import { type Along, Tapes } from "./tapes.ts";
import { TreeCache } from "./tree-cache.ts";
import { Watches } from "./watches.ts";

/** Rows of a tail before they are sealed into a pack. */
const PACK_ROWS = 64;

/** Bytes of a tail's records before they are sealed: larger rows make smaller packs, so that a seal takes a moment. */
const PACK_BYTES = 256 * 1024;

/** Limit of one checkpoint: half a record, so that its whole body and its metadata always fit into one. */
const CHECKPOINT_BYTES = RECORD_BYTES / 2;

/** The length from which a value is stored by itself. */
const LARGE_FROM = 8192;

const FRESH_CACHE_BYTES = 16 * 1024 * 1024;

/** How often a read is repeated because the backend was interrupted meanwhile. */
const INTERRUPTED_READS = 3;

/** A thread's directory record, decoded, with the value that a commit checks. */
export type DirectoryEntry = DirectoryRecord & { readonly value: Value };

/** The tape of a thread, by its numbers and by the name it is remembered under. */
interface KnownTape {
  readonly tape: number;
  readonly lineage: number;
  readonly name: string;
}

/** The things every operation works with: the backend, the codec, and the tapes and trees that are remembered. */
export class EngineContext {
  readonly backend: Backend;
  readonly codec: ValueCodec;
  readonly clock: () => number;
  readonly ids: (() => string) | undefined;
  readonly compression: Compression;
  /** The versions of states, where the store has a schema. */
  readonly versions: StateVersions | undefined;
  /** Rows in one pack. */
  readonly packRows: number;
  /** Bytes of the rows in one pack, unless the pack is a single row. */
  readonly packBytes: number;
  /** Bytes that a checkpoint's body, the record of a put, and the writes of a task may take. */
  readonly checkpointBytes: number;
  /** Bytes of full frames that a removal writes however little it removes: see `isWorthRewriting`. */
  readonly rewriteBytes: number;
  /** Names this store in the rows it commits, where answers may be lost: two stores may put equal rows at the same moment. */
  readonly writer: string | undefined;
  /** The length of a value's JSON from which it is stored by itself. */
  readonly largeFrom: number;
  readonly largeValues: LargeValueOptions | undefined;
  readonly encryption: EncryptedBackend | undefined;
  readonly calls: OpenCalls = new OpenCalls();
  readonly watches: Watches = new Watches();
  readonly trees: TreeCache;
  readonly tapes: Tapes;
  /** The large values that are known to be stored. */
  readonly values: KnownValues;
  /** Large values outside the store. */
  readonly outside: OutsideValues;
  /** Facts about inherited rows; they outlive the tapes, of which nested forks may have more than fit into memory. */
  readonly inherited: InheritedFacts;
  /** Whether the index is complete, and whether the store needs keys. */
  readonly index: KnownIndex;
  readonly #directory: ByteCache<string, KnownTape>;
  #interruptions: number | undefined;

  constructor(options: ContextOptions) {
    this.backend = options.backend;
    this.codec = options.codec;
    this.clock = options.clock;
    this.ids = options.ids;
    this.compression = options.compression;
    this.versions = options.versions;
    this.packRows = options.packRows ?? PACK_ROWS;
    this.packBytes = options.packBytes ?? PACK_BYTES;
    this.checkpointBytes = options.checkpointBytes ?? CHECKPOINT_BYTES;
    this.rewriteBytes = options.rewriteBytes ?? SMALL_REWRITE;
    this.writer = options.backend.capabilities.distant ? randomName() : undefined;
    this.largeValues = options.largeValues;
    this.largeFrom = options.largeValues?.from ?? LARGE_FROM;
    this.encryption = options.encryption;
    this.outside = new OutsideValues(options.largeValues?.driver, options.encryption);
    this.#interruptions = options.backend.interruptions;
    this.trees = new TreeCache(options.cacheBytes);
    this.tapes = new Tapes(options.backend, Math.max(options.cacheBytes / 4, 1 << 20));
    this.values = new KnownValues(Math.max(options.cacheBytes / 4, 1 << 20));
    this.inherited = new InheritedFacts(Math.max(options.cacheBytes / 8, 1 << 20));
    this.index = new KnownIndex((reads) => this.read(reads), options.encryption !== undefined);
    this.#directory = new ByteCache(Math.max(options.cacheBytes / 8, 1 << 20));
  }

  /** Names a large value by its JSON. */
  readonly nameValue = (json: string): string => this.encryption?.nameOf(json) ?? nameOf(json);

  /** Resolves to whether ids are hidden: threads are then found by equality only, and listed in an order of its own. */
  async hidesIds(): Promise<boolean> {
    return (await this.encryption?.hidesIds()) === true;
  }

  /** Returns an entry's text as reads of the index give it. */
  indexText(text: string): string {
    return this.encryption?.textOf(text) ?? text;
  }

  /** Returns the text by which a thread's id is in its place in the list. */
  listedId(id: string): string {
    return this.encryption?.idOf(id) ?? id;
  }

  /** Returns a context on the same backend, or on another one, that remembers nothing yet and migrates no states. */
  fresh(backend: Backend = this.backend): EngineContext {
    return new EngineContext({ ...this, backend, versions: undefined, cacheBytes: FRESH_CACHE_BYTES });
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
    this.values.clear();
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
      throw ofThread(error, id);
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
    if (entry === undefined) await this.index.expectNoKeys();
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
    return known && this.tapes.named(known.name);
  }

  /** Returns true if a tape is the one that is remembered under its name; a forgotten one is no longer kept up to date. */
  isRemembered(tape: Tape): boolean {
    this.#forgetIfInterrupted();
    return this.tapes.named(tape.name) === tape;
  }

  /** Reads a thread's directory record. With `asks`, it is asked along whether the store is new, unless that is known. */
  async directoryEntry(id: string, asks = false): Promise<DirectoryEntry | undefined> {
    const isAsked = asks && !this.index.isKnown;
    const get: Read = { get: { table: "directory", id } };
    const [value, ...rest] = await this.read(isAsked ? [get, ...indexReads] : [get]);
    if (isAsked) this.index.learn(rest);
    return value === undefined ? undefined : { ...decodeDirectory(value as Value), value: value as Value };
  }

  remember(id: string, tape: Tape): void {
    const known = this.#directory.get(id);
    if (known?.name !== tape.name) {
      this.#directory.set(id, { tape: tape.number, lineage: tape.lineage, name: tape.name }, id.length + 100);
    }
    this.tapes.keep(tape);
  }

  forget(id: string): void {
    const known = this.#directory.get(id);
    if (known) this.tapes.forget(known.tape, known.lineage);
    this.#directory.delete(id);
  }

  read(reads: readonly Read[]): Promise<readonly Answer[]> {
    return observedRead(this.backend, reads);
  }
}

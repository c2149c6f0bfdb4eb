import type { FileState, FileSystem, OpenFile } from "../disk/file-system.ts";
import { damagedJournal, movedLines } from "../faults.ts";
import type { Line } from "../format/line.ts";
import { isSound } from "../format/line-reader.ts";
import type { Operation } from "../format/operation.ts";
import { formatVersion } from "../format/operation.ts";
import type { BatchBoundary, ScanResult, Undecided } from "./batch-boundary.ts";
import { beginning, boundaryAfter } from "./batch-boundary.ts";
import { encodeBatch, type JournalEntry, type Prepared } from "./encode-batch.ts";
import { RecordIndex } from "./record-index.ts";
import { scan } from "./scan.ts";

/**
 * An append-only file: its records, its end, and the operations that extend it. When another process replaces or
 * truncates the file, the journal is loaded again as a new object.
 */
export class JournalFile {
  readonly path: string;
  readonly lineage: number;
  readonly index: RecordIndex;
  readonly #fileSystem: FileSystem;
  #input: OpenFile | undefined;
  #output: OpenFile | undefined;
  /** Identifies the file that is open for writing. */
  #inode: string | undefined;
  #end: BatchBoundary = beginning;
  #undecided: Undecided | undefined;
  #moved: ScanResult["moved"];
  #state: FileState | undefined;
  /** The file's length, including garbage behind the end. */
  #size = 0;
  /** Whether the file's name is known to survive a power cut. */
  isNamed = false;
  /** A batch was appended but neither accepted nor cut away. Until then the file must not be loaded again. */
  #isUnfinished = false;
  /** The last batch is joint, and the directory's confirmation may not be on the medium yet. */
  #dependsOnDirectory = false;
  #users = 0;
  #closing: (() => void) | undefined;

  constructor(fileSystem: FileSystem, path: string, lineage: number) {
    this.#fileSystem = fileSystem;
    this.path = path;
    this.lineage = lineage;
    this.index = new RecordIndex(path, lineage);
  }

  get end(): BatchBoundary {
    return this.#end;
  }

  /** Returns a whole batch at the end that counts only if the directory confirms it. */
  get undecided(): Undecided | undefined {
    return this.#undecided;
  }

  /** Returns the file's state at the last look. */
  get state(): FileState | undefined {
    return this.#state;
  }

  get isUnfinished(): boolean {
    return this.#isUnfinished;
  }

  /** Returns whether the directory must be synced before this journal is extended. */
  get dependsOnDirectory(): boolean {
    return this.#dependsOnDirectory;
  }

  get garbageBytes(): number {
    return this.#size - this.index.live.bytes;
  }

  /** Reads the journal if its file exists. */
  async load(): Promise<void> {
    try {
      this.#input = await this.#fileSystem.open(this.path, "read");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      throw error;
    }
    const state = await this.#input.stat();
    if (state.kind !== "file") throw Object.assign(new Error(`${this.path} is not a file`), { code: "EISDIR" });
    this.#adopt(await scan(this.#input, state.size, this.#end, this.index), state);
  }

  /**
   * Reads the lines added since. Resolves to false when the file is not the loaded one and the journal must be loaded
   * again.
   */
  async refresh(state: FileState | undefined): Promise<boolean> {
    const known = this.#state;
    if (state === undefined || known === undefined) return state === known;
    if (state.inode !== known.inode || state.size < known.size) return false;
    if (state.size === known.size) return state.changed === known.changed;
    // Damage here would mean that the known end was replaced meanwhile, so lines are kept back until the scan proves
    // sound.
    const added: Line[] = [];
    let sound = true;
    const refuse = (): void => {
      sound = false;
    };
    const sink = { record: (line: Line): unknown => added.push(line), damaged: refuse, lost: refuse, moved: refuse };
    const result = await scan(this.#input as OpenFile, state.size, this.#end, sink);
    if (!sound || (result.end.offset < state.size && !(await this.#isWhereItWas()))) return false;
    for (const line of added) this.index.record(line);
    this.#adopt(result, state);
    return true;
  }

  /** Returns whether the last known line is still in the file. */
  async #isWhereItWas(): Promise<boolean> {
    const { offset, prior } = this.#end;
    if (prior.length === 0) return true;
    const line = await this.read(offset - prior.length, prior.length);
    return line.length === prior.length && isSound(line, prior.crc);
  }

  #adopt(result: ScanResult, state: FileState): void {
    this.#end = result.end;
    this.#undecided = result.undecided;
    this.#moved = result.moved;
    this.#state = state;
    this.#size = state.size;
  }

  /** Accepts the undecided batch, or leaves it for the next write to cut away. */
  decide(counts: boolean): void {
    if (counts && this.#undecided !== undefined) {
      for (const line of this.#undecided.lines) this.index.record(line);
      this.#end = this.#undecided.after;
      this.#dependsOnDirectory = true;
    }
    this.#undecided = undefined;
  }

  /** Reads bytes of the file, which must stay open meanwhile: see {@link use}. */
  async read(offset: number, length: number): Promise<Buffer> {
    if (this.#input === undefined) throw damagedJournal(this.path, 1, "the journal has gone");
    return this.#input.read(offset, length);
  }

  /**
   * Opens the file for writing, creates it if necessary, and makes sure that the next batch may follow its contents.
   */
  async ready(durable: boolean): Promise<void> {
    // Undoing the shift restores the lines, as long as nothing was cut away or written behind them.
    if (this.#moved !== undefined) throw movedLines(this.path, this.#moved.number);
    const output = await this.#open();
    const { offset, batch, synced } = this.#end;
    if (this.#size > offset) {
      // The remains of a crash or a failed write must be gone durably before other bytes replace them, or a second
      // crash could leave a mixture of both.
      await output.truncate(offset);
      await output.sync();
      this.#size = offset;
      this.#isUnfinished = false;
    } else if (durable && synced < batch) {
      // A new line declares all lines before it synced, which a killed process may not have done.
      await output.sync();
    } else {
      return;
    }
    this.#end = { ...this.#end, synced: batch };
  }

  async #open(): Promise<OpenFile> {
    if (this.#output !== undefined) return this.#output;
    this.#output = await this.#fileSystem.open(this.path, this.#input === undefined ? "create" : "write");
    this.#input ??= this.#output;
    return this.#output;
  }

  /** Returns whether the file open for writing is the one that was read and is still at the path. */
  async isInPlace(): Promise<boolean> {
    this.#inode ??= (await this.#output?.stat())?.inode;
    if (this.#state !== undefined && this.#state.inode !== this.#inode) return false;
    return (await this.#fileSystem.stat(this.path))?.inode === this.#inode;
  }

  /** Encodes a batch for the end of the file. */
  prepare(entries: readonly JournalEntry[], joint: boolean): Prepared {
    const format: Operation = { is: "format", format: formatVersion, lineage: this.lineage };
    const isDeclared = this.index.format >= formatVersion;
    return encodeBatch(this.#end, isDeclared ? entries : [[format, undefined], ...entries], joint);
  }

  async append({ bytes }: Prepared): Promise<void> {
    const { offset } = this.#end;
    this.#size = offset + bytes.length;
    this.#isUnfinished = true;
    await (this.#output as OpenFile).write(offset, bytes);
  }

  async sync(): Promise<void> {
    await this.#output?.sync();
  }

  /** Adds an appended batch to the index. `durable`: it was synced. */
  accept({ lines, values }: Prepared, durable: boolean): void {
    for (const [index, line] of lines.entries()) this.index.record(line, values[index]);
    const last = lines.at(-1) as Line;
    this.#end = boundaryAfter(last, durable ? last.batch : this.#end.synced);
    this.#isUnfinished = false;
    this.#dependsOnDirectory = false;
  }

  /** Cuts away a batch that was appended but not accepted. */
  async rollback(): Promise<void> {
    const { offset } = this.#end;
    if (!this.#isUnfinished || this.#output === undefined) return;
    await this.#output.truncate(offset);
    await this.#output.sync();
    this.#size = offset;
    this.#isUnfinished = false;
  }

  /** Cuts away a failed batch, and syncs what was not synced yet. */
  async finish(): Promise<void> {
    await this.rollback();
    if (this.#output === undefined || this.#end.synced === this.#end.batch) return;
    await this.#output.sync();
    this.#end = { ...this.#end, synced: this.#end.batch };
  }

  /** Keeps the file open until the returned function is called. */
  use(): () => void {
    this.#users++;
    let done = false;
    return () => {
      if (done) return;
      done = true;
      this.#users--;
      if (this.#users === 0) this.#closing?.();
    };
  }

  get isInUse(): boolean {
    return this.#users > 0;
  }

  /** Closes the file once its last user is done. */
  async close(): Promise<void> {
    if (this.#users > 0) await new Promise<void>((resolve) => (this.#closing = resolve));
    const files = new Set([this.#input, this.#output]);
    this.#input = undefined;
    this.#output = undefined;
    for (const file of files) await file?.close();
  }
}

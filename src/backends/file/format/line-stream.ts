import type { OpenFile } from "../disk/file-system.ts";

const chunkBytes = 1 << 18;
const newline = 0x0a;

/** Goes through the lines of a file up to `size`, a chunk at a time: `fill`, then `next` until it says no, then `fill`. */
export class LineStream {
  readonly #file: OpenFile;
  readonly #size: number;
  #chunk: Buffer = Buffer.alloc(0);
  /** One for all chunks: memory that was never touched costs more than reading into it. */
  #room: Buffer | undefined;
  #base: number;
  #length = chunkBytes;
  /** Where the current line is in {@link buffer}: `to` is behind its newline, or at the end of the file. */
  from = 0;
  to = 0;
  /** The current line's number in the file, from 1. */
  number: number;

  constructor(file: OpenFile, size: number, offset: number, linesBefore: number) {
    this.#file = file;
    this.#size = size;
    this.#base = offset;
    this.number = linesBefore;
  }

  get buffer(): Buffer {
    return this.#chunk;
  }

  /** The offset of {@link buffer} in the file. */
  get base(): number {
    return this.#base;
  }

  /** The offset of the current line in the file. */
  get offset(): number {
    return this.#base + this.from;
  }

  /** Reads on. False at the end of the file. */
  async fill(): Promise<boolean> {
    const position = this.#base + this.to;
    if (position >= this.#size) return false;
    // Not one line ended in the last chunk: a longer one is needed.
    if (this.to === 0 && this.#chunk.length > 0) this.#length *= 2;
    const length = Math.min(this.#length, this.#size - position);
    if (this.#room === undefined || this.#room.length < length) this.#room = Buffer.allocUnsafe(length);
    this.#chunk = await this.#file.read(position, length, this.#room);
    this.#base = position;
    this.from = 0;
    this.to = 0;
    return this.#chunk.length > 0;
  }

  next(): boolean {
    const from = this.to;
    if (from >= this.#chunk.length) return false;
    const end = this.#chunk.indexOf(newline, from);
    if (end < 0 && this.#base + this.#chunk.length < this.#size && !this.#isShort) return false;
    this.from = from;
    this.to = end < 0 ? this.#chunk.length : end + 1;
    this.number++;
    return true;
  }

  /** The file ended before `size`: someone cut it short since. */
  get #isShort(): boolean {
    return this.#chunk.length < Math.min(this.#length, this.#size - this.#base);
  }
}

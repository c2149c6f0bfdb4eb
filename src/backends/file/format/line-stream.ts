import type { OpenFile } from "../disk/file-system.ts";

const chunkBytes = 1 << 18;
const newline = 0x0a;

/**
 * Reads the lines of a file up to `size` in chunks: call `fill`, then `next` until it returns false, then `fill` again.
 */
export class LineStream {
  readonly #file: OpenFile;
  readonly #size: number;
  #chunk: Buffer = Buffer.alloc(0);
  /** Reused for all chunks: new memory costs more than reading into it. */
  #room: Buffer | undefined;
  #base: number;
  #length = chunkBytes;
  /** The bounds of the current line in {@link buffer}: `to` is behind its newline, or at the end of the file. */
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

  /** Returns the offset of {@link buffer} in the file. */
  get base(): number {
    return this.#base;
  }

  /** Returns the offset of the current line in the file. */
  get offset(): number {
    return this.#base + this.from;
  }

  /** Reads the next chunk. Resolves to false at the end of the file. */
  async fill(): Promise<boolean> {
    const position = this.#base + this.to;
    if (position >= this.#size) return false;
    // The last chunk held no whole line, so the next one is longer.
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

  /** Returns whether the file ended before `size`: another process truncated it meanwhile. */
  get #isShort(): boolean {
    return this.#chunk.length < Math.min(this.#length, this.#size - this.#base);
  }
}

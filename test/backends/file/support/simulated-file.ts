import { below, type Random } from "./random.ts";

const sector = 512;

/** Something that was done to a file and is not on the medium for certain. */
type Write = { readonly at: number; readonly bytes: Buffer };
type Change = Write | { readonly size: number };

/** A file of a simulated disk: what programs see of it, and what a power cut would leave. */
export class SimulatedFile {
  readonly inode: string;
  /** Counts the changes, as a clock would tell them. */
  changes = 0;
  #seen: Buffer = Buffer.alloc(0);
  #synced: Buffer = Buffer.alloc(0);
  #unsynced: Change[] = [];

  constructor(inode: string) {
    this.inode = inode;
  }

  get size(): number {
    return this.#seen.length;
  }

  read(position: number, length: number): Buffer {
    return Buffer.from(this.#seen.subarray(position, position + length));
  }

  write(at: number, bytes: Uint8Array): void {
    this.#change({ at, bytes: Buffer.from(bytes) });
  }

  truncate(size: number): void {
    this.#change({ size });
  }

  #change(change: Change): void {
    this.changes++;
    this.#unsynced.push(change);
    this.#seen = applied(this.#seen, change);
  }

  sync(): void {
    this.#synced = this.#seen;
    this.#unsynced = [];
  }

  /** A sync that fails: the system forgets what it had to write, though some of it may have been written. */
  failSync(random: Random): void {
    this.#synced = this.#survivors(random);
    this.#unsynced = [];
  }

  /** The power fails: of what was not synced, each sector is there or not, whatever came after it. */
  cutPower(random: Random): void {
    this.#synced = this.#survivors(random);
    this.#seen = this.#synced;
    this.#unsynced = [];
    this.changes++;
  }

  #survivors(random: Random): Buffer {
    // Now and then all survives, or nothing: mixtures alone would miss what lies at the ends.
    const chance = [0, 0.2, 0.5, 0.8, 1][below(random, 5)] as number;
    let content = this.#synced;
    for (const change of this.#unsynced) {
      if ("size" in change) {
        if (random() < chance) content = applied(content, change);
        continue;
      }
      for (const piece of sectorsOf(change)) if (random() < chance) content = applied(content, piece);
      // The size of the file may be on the medium before the bytes are.
      const end = change.at + change.bytes.length;
      if (end > content.length && random() < chance / 2) content = applied(content, { size: end });
    }
    return content;
  }
}

function applied(content: Buffer, change: Change): Buffer {
  if ("size" in change) {
    return change.size <= content.length
      ? Buffer.from(content.subarray(0, change.size))
      : Buffer.concat([content, Buffer.alloc(change.size - content.length)]);
  }
  const end = Math.max(content.length, change.at + change.bytes.length);
  const result = Buffer.alloc(end);
  content.copy(result);
  change.bytes.copy(result, change.at);
  return result;
}

function sectorsOf({ at, bytes }: Write): Write[] {
  const pieces: Write[] = [];
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + sector - ((at + from) % sector));
    pieces.push({ at: at + from, bytes: bytes.subarray(from, to) });
    from = to;
  }
  return pieces;
}

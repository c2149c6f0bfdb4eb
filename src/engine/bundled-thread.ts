import { damaged } from "../codec/bundle.ts";
import type { BundleRecord } from "./export.ts";

type RecordOf<Kind extends BundleRecord["kind"]> = Extract<BundleRecord, { kind: Kind }>;

/**
 * A thread as the lines of a bundle tell it. The checksum of a line says nothing of lines that were repeated, dropped or
 * moved: one that does not follow from those before it is refused, with its number.
 */
export class BundledThread {
  readonly id: string;
  readonly createdAt: number;
  readonly checkpoints: RecordOf<"checkpoint">[] = [];
  readonly writes: RecordOf<"writes">[] = [];
  readonly #seqs = new Set<number>();
  /** Checkpoints whose writes may still follow. */
  readonly #withoutWrites = new Set<string>();

  constructor(id: string, createdAt: number) {
    this.id = id;
    this.createdAt = createdAt;
  }

  addCheckpoint(record: RecordOf<"checkpoint">, line: number): void {
    const { seq, row } = record;
    if (!(seq > (this.checkpoints.at(-1)?.seq ?? 0))) throw damaged(line, "its checkpoint stands in the wrong place");
    if (row.parent !== undefined && !this.#seqs.has(row.parent)) {
      throw damaged(line, "the parent of its checkpoint does not stand before it");
    }
    if (row.base !== undefined && !this.#seqs.has(row.base)) {
      throw damaged(line, "what its checkpoint builds on does not stand before it");
    }
    this.checkpoints.push(record);
    this.#seqs.add(seq);
    this.#withoutWrites.add(JSON.stringify([row.namespace ?? "", row.id]));
  }

  addWrites(record: RecordOf<"writes">, line: number): void {
    if (!this.#withoutWrites.delete(JSON.stringify([record.namespace, record.checkpoint]))) {
      throw damaged(line, "its writes stand before their checkpoint, in another thread, or twice");
    }
    this.writes.push(record);
  }

  /** Whether all is there. Bundles of earlier versions do not say how many checkpoints have writes. */
  checkEnd({ id, checkpoints, writes = this.writes.length }: RecordOf<"end">, line: number): void {
    if (this.id !== id || this.checkpoints.length !== checkpoints) {
      throw damaged(line, "the thread's checkpoints are not all there");
    }
    if (this.writes.length !== writes) throw damaged(line, "the thread's writes are not all there");
  }
}

import { createHash } from "node:crypto";
import type { Batch, DirectoryKey, Key, Range } from "../../../backend.ts";
import { mostTapes } from "../schema/layout.ts";

/** A part of a batch: all that it has in one shard. */
export interface BatchPart {
  readonly shard: number;
  readonly batch: Batch;
}

/** Says which shard of a store everything is in: a lineage by its number, a directory entry by its id. */
export class Placement {
  readonly shards: number;

  constructor(shards: number) {
    this.shards = shards;
  }

  shardOfLineage(lineage: number): number {
    return lineage % this.shards;
  }

  shardOfThread(id: string): number {
    return createHash("sha256").update(id).digest().readUInt32BE(0) % this.shards;
  }

  /** Returns a number for a lineage that lives in the shard of a thread's directory entry. */
  numberFor(id: string, number: number): number {
    // Two numbers that are drawn one after the other stay two. No lineage has the number 0.
    const most = Math.floor(mostTapes / this.shards);
    return (number % most) * this.shards + this.shardOfThread(id) || this.shards;
  }

  /** Splits a batch by shards, in their order, in which transactions lock: one part, or two. */
  partsOf(batch: Batch): readonly BatchPart[] {
    const shards = this.#shardsOf(batch);
    if (shards.size < 2) return [{ shard: shards.values().next().value ?? 0, batch }];
    return [...shards].sort((a, b) => a - b).map((shard) => ({ shard, batch: this.#partIn(shard, batch) }));
  }

  #shardsOf({ checks = [], deletes = [], inserts = [], puts = [], entries, log }: Batch): Set<number> {
    const shards = new Set<number>();
    for (const { key } of checks) shards.add(this.#shardOf(key));
    for (const key of deletes) shards.add(this.#shardOf(key));
    for (const { key } of inserts) shards.add(this.#shardOf(key));
    for (const { key } of puts) shards.add(this.#shardOf(key));
    for (const { lineage } of entries?.remove ?? []) shards.add(this.shardOfLineage(lineage));
    for (const { lineage } of entries?.add ?? []) shards.add(this.shardOfLineage(lineage));
    if (log !== undefined) shards.add(this.shardOfLineage(log.lineage));
    return shards;
  }

  #shardOf(key: Key | DirectoryKey | Range): number {
    return key.table === "directory" ? this.shardOfThread(key.id) : this.shardOfLineage(key.lineage);
  }

  #partIn(shard: number, { checks, deletes, inserts, puts, entries, log }: Batch): Batch {
    const isIn = ({ key }: { readonly key: Key | DirectoryKey }): boolean => this.#shardOf(key) === shard;
    const isHere = ({ lineage }: { readonly lineage: number }): boolean => this.shardOfLineage(lineage) === shard;
    return {
      checks: checks?.filter(isIn) ?? [],
      deletes: deletes?.filter((key) => this.#shardOf(key) === shard) ?? [],
      inserts: inserts?.filter(isIn) ?? [],
      puts: puts?.filter(isIn) ?? [],
      ...(entries && {
        entries: { remove: entries.remove?.filter(isHere) ?? [], add: entries.add?.filter(isHere) ?? [] },
      }),
      ...(log && isHere(log) && { log }),
    };
  }
}

import type { Answer, FoundEntry, Listed, Read } from "../../../backend.ts";
import { compareIds } from "../../shared/id-order.ts";
import { mergedPage, parsePosition, type ShardPage } from "../../shared/merged-log.ts";
import { merged, shareOf, UNEVEN } from "../../shared/merged-pages.ts";
import { compareEntries } from "../../shared/ordered/entries.ts";
import type { SchemaAnswer } from "../reading/read-statement.ts";
import type { Placement } from "./placement.ts";

/** Reads in one shard, all from one snapshot. */
type ReadShard = (shard: number, reads: readonly Read[]) => Promise<readonly SchemaAnswer[]>;

/** Answers reads: one statement for every shard that has a part of the answer, all at once. */
export async function readShards(
  placement: Placement,
  reads: readonly Read[],
  readShard: ReadShard,
): Promise<readonly Answer[]> {
  for (const generous of [false, true]) {
    const call = new ReadCall(placement, generous);
    const pending = reads.map((read) => call.ask(read));
    await call.run(readShard);
    try {
      return pending.map((answer) => answer());
    } catch (error) {
      if (error !== UNEVEN) throw error;
    }
  }
  throw new Error("a shard that was asked for everything had more");
}

/** The reads of a call by shard, and how their answers make up those of the call. */
class ReadCall {
  readonly #placement: Placement;
  readonly #generous: boolean;
  readonly #reads = new Map<number, Read[]>();
  readonly #answers = new Map<number, readonly SchemaAnswer[]>();

  constructor(placement: Placement, generous: boolean) {
    this.#placement = placement;
    this.#generous = generous;
  }

  async run(readShard: ReadShard): Promise<void> {
    const reading = [...this.#reads].map(async ([shard, reads]) => {
      this.#answers.set(shard, await readShard(shard, reads));
    });
    // None may go on after this call has failed.
    const outcomes = await Promise.allSettled(reading);
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  /** Adds a read; returns a function that gives its answer once the call has run. */
  ask(read: Read): () => Answer {
    if ("get" in read) {
      const { get } = read;
      return this.#at(
        get.table === "directory" ? this.#placement.shardOfThread(get.id) : this.#placement.shardOfLineage(get.lineage),
        read,
      ) as () => Answer;
    }
    if ("scan" in read) return this.#at(this.#placement.shardOfLineage(read.scan.lineage), read) as () => Answer;
    if ("list" in read) {
      const { limit } = read.list;
      const share = shareOf(limit, this.#placement.shards, this.#generous);
      const pages = this.#everywhere<readonly Listed[]>(() => ({ list: { ...read.list, limit: share } }));
      return () => merged(pages(), (a, b) => compareIds(a.id, b.id), limit, share);
    }
    if ("find" in read) {
      const { limit } = read.find;
      const share = shareOf(limit, this.#placement.shards, this.#generous);
      const pages = this.#everywhere<readonly FoundEntry[]>(() => ({ ...read, find: { ...read.find, limit: share } }));
      const compare = read.reverse === true ? (a: FoundEntry, b: FoundEntry) => compareEntries(b, a) : compareEntries;
      return () => merged(pages(), compare, limit, share);
    }
    if ("tally" in read) {
      const counts = this.#everywhere<number>(() => read);
      return () => counts().reduce((sum, count) => sum + count, 0);
    }
    const seen = parsePosition(read.log.after, this.#placement.shards);
    // Of a position that is none, only the end of the log is wanted.
    const limit = seen === undefined ? 0 : read.log.limit;
    const pages = this.#everywhere<ShardPage>((shard) => ({
      log: { ...read.log, after: String(seen?.[shard] ?? 0), limit },
    }));
    return () => mergedPage(pages(), read.log);
  }

  #at(shard: number, read: Read): () => SchemaAnswer {
    const reads = this.#reads.get(shard) ?? [];
    this.#reads.set(shard, reads);
    const index = reads.push(read) - 1;
    return () => this.#answers.get(shard)?.[index];
  }

  #everywhere<T>(readOf: (shard: number) => Read): () => readonly T[] {
    const answers = Array.from({ length: this.#placement.shards }, (_, shard) => this.#at(shard, readOf(shard)));
    return () => answers.map((answer) => answer() as T);
  }
}

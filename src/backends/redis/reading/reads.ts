import type { Answer, IndexEntry, Listed, Read, Value } from "../../../backend.ts";
import { compareIds } from "../../shared/id-order.ts";
import { afterPrefix } from "../../shared/key-bounds.ts";
import { mergedPage } from "../../shared/merged-log.ts";
import { merged, shareOf, UNEVEN } from "../../shared/merged-pages.ts";
import { compareEntries } from "../../shared/ordered/entries.ts";
import type { Servers } from "../connection/servers.ts";
import {
  behind,
  boundsOf,
  entryMember,
  entryOf,
  foundOf,
  idText,
  type KeyLayout,
  listedOf,
  textOfKey,
  valueOf,
} from "../layout.ts";
import type { HeldLock, Locks } from "../writing/locks.ts";
import { askForLines } from "./log-pages.ts";
import { beyond, from, limited, ShardReads } from "./shard-reads.ts";

/** A read under way: what to make of the answers once they are there. */
type Pending = () => Answer;

/** A lock that was met, with the thread whose directory entry it locks. */
interface Met {
  readonly id: string;
  readonly lock: HeldLock;
}

/** How often locks in the way are looked at again before readers take the previous values. */
const mostRounds = 4;

/** Answers reads: one call of a script for every shard that has a part of the answer, all at once. */
export async function answerReads(
  servers: Servers,
  locks: Locks,
  layout: KeyLayout,
  reads: readonly Read[],
): Promise<readonly Answer[]> {
  let generous = layout.shards === 1;
  for (let round = 1; ; round++) {
    const call = new ReadCall(layout, generous);
    const pending = reads.map((read) => call.ask(read));
    await call.run(servers);
    const finished = await Promise.all(call.met().map(({ id, lock }) => locks.resolve(layout, id, lock)));
    if (finished.includes(true) && round < mostRounds) continue;
    try {
      return pending.map((answer) => answer());
    } catch (error) {
      if (error !== UNEVEN) throw error;
      generous = true;
    }
  }
}

class ReadCall {
  readonly #layout: KeyLayout;
  readonly #generous: boolean;
  readonly #shards = new Map<number, ShardReads>();
  readonly #locks: (() => readonly Met[])[] = [];

  constructor(layout: KeyLayout, generous: boolean) {
    this.#layout = layout;
    this.#generous = generous;
  }

  async run(servers: Servers): Promise<void> {
    await Promise.all(
      [...this.#shards].map(([shard, reads]) => servers.at(this.#layout.slotOf(shard), (link) => reads.run(link))),
    );
  }

  /** Returns the locks of directory entries that were read. */
  met(): readonly Met[] {
    return this.#locks.flatMap((found) => found());
  }

  ask(read: Read): Pending {
    if ("get" in read) return this.#get(read);
    if ("scan" in read) return this.#scan(read);
    if ("list" in read) return this.#list(read);
    if ("find" in read) return this.#find(read);
    if ("tally" in read) return this.#tally(read);
    const pages = this.#everywhere((reads, shard) => askForLines(reads, this.#layout, shard, read.log));
    return () =>
      mergedPage(
        pages.map((page) => page()),
        read.log,
      );
  }

  #get({ get }: Extract<Read, { get: unknown }>): Pending {
    const key = textOfKey(get);
    const bounds = [from(key), beyond(key + behind), ...limited(1)];
    let found: () => unknown;
    if (get.table === "directory") {
      const shard = this.#layout.shardOfThread(get.id);
      const reads = this.#at(shard);
      found = reads.add("ZRANGEBYLEX", this.#layout.key(shard, "d"), ...bounds);
      const lock = reads.add("HGET", this.#layout.key(shard, "k"), get.id);
      this.#locks.push(() => metLocks([get.id, lock()]));
    } else {
      const reads = this.#at(this.#layout.shardOfLineage(get.lineage));
      found = reads.add("ZRANGEBYLEX", this.#layout.lineageKey(get.lineage), ...bounds);
    }
    return (): Value | undefined => {
      const [member] = found() as readonly Buffer[];
      return member && valueOf(member, Buffer.byteLength(key));
    };
  }

  #scan({ scan, reverse = false, limit }: Extract<Read, { scan: unknown }>): Pending {
    const bounds = boundsOf(scan);
    if (bounds === undefined || (limit ?? 1) <= 0) return () => [];
    const reads = this.#at(this.#layout.shardOfLineage(scan.lineage));
    const found = range(
      reads,
      this.#layout.lineageKey(scan.lineage),
      from(bounds[0]),
      beyond(bounds[1]),
      reverse,
      limit,
    );
    return () => found().map((member) => foundOf(member, scan.table));
  }

  #list({ list: { prefix = "", after, limit } }: Extract<Read, { list: unknown }>): Pending {
    if (limit <= 0) return () => [];
    const end = afterPrefix(prefix);
    const upper = end === undefined ? "+" : beyond(end);
    const isBehind = after !== undefined && compareIds(after, prefix) >= 0;
    const lower = from(isBehind ? idText(after) + behind : prefix);
    const share = this.#share(limit);
    const pages = this.#everywhere((reads, shard) => {
      const locks = reads.add("HGETALL", this.#layout.key(shard, "k"));
      this.#locks.push(() => metLocks(locks() as readonly unknown[]));
      return range(reads, this.#layout.key(shard, "d"), lower, upper, false, share);
    });
    return () =>
      merged<Listed>(
        pages.map((page) => page().map(listedOf)),
        (a, b) => compareIds(a.id, b.id),
        limit,
        share,
      );
  }

  #find({ find: { from: least, to, after, limit }, reverse = false }: Extract<Read, { find: unknown }>): Pending {
    if (limit <= 0 || compareIds(least, to) >= 0) return () => [];
    let lower = from(least);
    let upper = beyond(to);
    if (after !== undefined && reverse && compareIds(after.text, to) < 0) upper = beyond(entryMember(after));
    if (after !== undefined && !reverse && compareIds(after.text, least) >= 0) lower = beyond(entryMember(after));
    const share = this.#share(limit);
    const pages = this.#everywhere((reads, shard) =>
      range(reads, this.#layout.key(shard, "e"), lower, upper, reverse, share),
    );
    const compare = reverse ? (a: IndexEntry, b: IndexEntry) => compareEntries(b, a) : compareEntries;
    return () =>
      merged<IndexEntry>(
        pages.map((page) => page().map(entryOf)),
        compare,
        limit,
        share,
      );
  }

  #tally({ tally }: Extract<Read, { tally: unknown }>): Pending {
    const bounds = [from(tally.from), beyond(tally.to)];
    const counts = this.#everywhere((reads, shard) => reads.add("ZLEXCOUNT", this.#layout.key(shard, "e"), ...bounds));
    return () => counts.reduce((sum, count) => sum + (count() as number), 0);
  }

  #share(limit: number): number {
    return shareOf(limit, this.#layout.shards, this.#generous);
  }

  #at(shard: number): ShardReads {
    const reads = this.#shards.get(shard) ?? new ShardReads();
    this.#shards.set(shard, reads);
    return reads;
  }

  #everywhere<T>(ask: (reads: ShardReads, shard: number) => T): readonly T[] {
    return Array.from({ length: this.#layout.shards }, (_, shard) => ask(this.#at(shard), shard));
  }
}

/** Asks for the members of a range, in order or in reverse. */
function range(
  reads: ShardReads,
  key: string,
  lower: string,
  upper: string,
  reverse: boolean,
  limit: number | undefined,
): () => readonly Buffer[] {
  const rest = limited(limit);
  const answer = reverse
    ? reads.add("ZREVRANGEBYLEX", key, upper, lower, ...rest)
    : reads.add("ZRANGEBYLEX", key, lower, upper, ...rest);
  return () => answer() as readonly Buffer[];
}

/**
 * Pairs threads and locks, as `HGETALL` gives them. A reader goes by its own clock: one that is fast gives a batch up too soon,
 * which is then refused and planned again.
 */
function metLocks(fields: readonly unknown[]): readonly Met[] {
  const met: Met[] = [];
  const now = Buffer.from(String(Date.now()));
  for (let at = 0; at < fields.length; at += 2) {
    const lock = fields[at + 1];
    if (Buffer.isBuffer(lock)) met.push({ id: String(fields[at]), lock: [lock, now] });
  }
  return met;
}

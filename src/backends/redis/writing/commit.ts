import { setTimeout as sleep } from "node:timers/promises";
import type { Batch, Value } from "../../../backend.ts";
import { cryptography } from "../../../platform/node-builtins.ts";
import { withDoubtfulCheck } from "../../shared/doubtful-batches.ts";
import { isSameValue } from "../../shared/same-value.ts";
import { Failure } from "../connection/failure.ts";
import type { Link, Servers } from "../connection/servers.ts";
import { slotOf } from "../crc16.ts";
import { behind, bytesOfKey, type Layout, valueOf } from "../layout.ts";
import { applyScript } from "./apply-script.ts";
import { type HeldLock, Locks, partedBatch } from "./locks.ts";
import { operationsOf, type Scope, scopeOf } from "./operations.ts";

/** The longest that a commit waits for its replicas, in milliseconds: less than until a silent server counts as gone. */
const replicaMilliseconds = 5_000;
const lockPause = 10;

/**
 * Commits batches, each by one call of a script.
 *
 * Lost answers. A call whose connection broke may have been applied. It is repeated, and the outcome is found so:
 * - most batches carry a token, which the first attempt has left in the shard, if it was applied;
 * - a batch of checks and inserts, as of every step, carries none. If the repeated one is refused and its records hold the
 *   values of this batch, they are this batch's own: a checkpoint's row names the store that put it. If the first of them
 *   holds another value, the batch was refused. If there is none, the outcome is unknown.
 */
export class Committer {
  readonly locks: Locks;
  readonly #servers: Servers;
  readonly #replicas: number;

  constructor(servers: Servers, replicas: number) {
    this.#servers = servers;
    this.#replicas = replicas;
    this.locks = new Locks(servers, (link) => this.#durable(link));
  }

  /** Commits the batches. Rejects with a {@link Failure} that tells whether anything may have been applied. */
  async commit(layout: Layout, batches: readonly Batch[]): Promise<readonly boolean[]> {
    const [only] = batches;
    if (only !== undefined && batches.length === 1) return [await this.#commit(layout, only)];
    const outcomes = await Promise.allSettled(batches.map((batch) => this.#commit(layout, batch)));
    const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
    const [first] = failures;
    if (first === undefined) return outcomes.map((outcome) => outcome.status === "fulfilled" && outcome.value);
    const some = outcomes.some((outcome) => outcome.status === "fulfilled" && outcome.value);
    const mayHaveApplied = some || failures.some((one) => !(one instanceof Failure) || one.mayHaveApplied);
    const { cause, state } = first instanceof Failure ? first : new Failure(first, true, false);
    throw new Failure(cause, mayHaveApplied, false, state);
  }

  #commit(layout: Layout, batch: Batch): Promise<boolean> {
    const scope = scopeOf(batch);
    const { lineage, thread } = scope;
    if (lineage === undefined && thread === undefined) return Promise.resolve(true);
    const isApart =
      this.#servers.isCluster &&
      lineage !== undefined &&
      thread !== undefined &&
      layout.shardOfLineage(lineage) !== layout.shardOfThread(thread);
    return isApart ? this.#commitApart(layout, batch, lineage, thread) : this.#commitAtOnce(layout, batch, scope);
  }

  /** Commits a batch whose records are all on one server. */
  async #commitAtOnce(layout: Layout, batch: Batch, { lineage, thread }: Scope): Promise<boolean> {
    const shard = lineage === undefined ? layout.shardOfThread(thread as string) : layout.shardOfLineage(lineage);
    const keys = keysOf(layout, shard, lineage);
    if (thread !== undefined) {
      const beside = layout.shardOfThread(thread);
      keys.push(layout.key(beside, "d"), layout.key(beside, "k"));
    }
    const token = isRecognisable(batch) ? "" : newToken();
    const slot = slotOf(layout.tag(shard));
    for (let since = performance.now(); ; await sleep(Math.random() * lockPause)) {
      const outcome = await this.#servers.at(slot, async (link, mayHaveApplied): Promise<boolean | HeldLock> => {
        // After a reconnect the server may lack records that the previous one had.
        const checked = withDoubtfulCheck(batch, this.#servers.interruptions);
        const args = [token, "", thread ?? "", ...operationsOf(checked, layout.shards)];
        const answer = await applyScript.run(link, keys, args);
        if (Array.isArray(answer)) return answer as unknown as HeldLock;
        if (answer === 1) {
          await this.#durable(link);
          return true;
        }
        if (token !== "" || !mayHaveApplied || !(await this.#wasApplied(link, keys[0] as string, batch))) return false;
        // Replicas are waited for by connection: a write on this one comes behind the commit.
        await link.send(["SET", `{${layout.tag(shard)}}:w`, "1"]);
        await this.#durable(link);
        return true;
      });
      if (typeof outcome === "boolean") return outcome;
      await this.#waitFor(layout, thread as string, outcome, since);
    }
  }

  /** Commits a batch whose directory entry is in another slot than its lineage: see {@link Locks}. */
  async #commitApart(layout: Layout, batch: Batch, lineage: number, thread: string): Promise<boolean> {
    const [entry, rest] = partedBatch(batch, thread);
    const shard = layout.shardOfLineage(lineage);
    const token = newToken();
    let locked: string | undefined | HeldLock;
    try {
      for (let since = performance.now(); ; await sleep(Math.random() * lockPause)) {
        locked = await this.locks.lock(layout, thread, token, shard, entry);
        if (!Array.isArray(locked)) break;
        await this.#waitFor(layout, thread, locked as HeldLock, since);
      }
    } catch (error) {
      // A lock alone changes nothing.
      throw error instanceof Failure ? new Failure(error.cause, false, false, error.state) : error;
    }
    if (locked === undefined) return false;
    const keys = [...keysOf(layout, shard, lineage), layout.key(shard, "x")];
    const applied = await this.#servers.at(slotOf(layout.tag(shard)), async (link) => {
      const checked = withDoubtfulCheck(rest, this.#servers.interruptions);
      const args = [token, locked as string, thread, ...operationsOf(checked, layout.shards)];
      const isApplied = (await applyScript.run(link, keys, args)) === 1;
      if (isApplied) await this.#durable(link);
      return isApplied;
    });
    try {
      await this.locks.finish(layout, thread, token, applied);
      if (applied)
        await this.#servers.at(slotOf(layout.tag(shard)), (link) => link.send(["HDEL", layout.key(shard, "x"), token]));
    } catch (error) {
      // The batch is decided. The next one who meets the lock finishes it.
      if (!(error instanceof Failure)) throw error;
    }
    return applied;
  }

  /** Waits for a lock in the way, or removes it. */
  async #waitFor(layout: Layout, thread: string, lock: HeldLock, since: number): Promise<void> {
    if (await this.locks.resolve(layout, thread, lock)) return;
    if (performance.now() - since < this.#servers.patience) return;
    throw new Failure(new Error(`the directory entry of ${JSON.stringify(thread)} stays locked`), false, false, "BUSY");
  }

  /** Waits until enough replicas have what was written. */
  async #durable(link: Link): Promise<void> {
    if (this.#replicas === 0) return;
    const count = await link.replicated(this.#replicas, replicaMilliseconds);
    if (count >= this.#replicas) return;
    const fault = `${count} of ${this.#replicas} replicas have the commit`;
    throw new Failure(new Error(fault), true, false, "REPLICAS");
  }

  /** Finds out whether a batch that was refused is the one that was applied before. */
  async #wasApplied(link: Link, lineage: string, { inserts = [] }: Batch): Promise<boolean> {
    const found: (Value | undefined)[] = [];
    for (const { key } of inserts) {
      const bytes = bytesOfKey(key);
      const bounds = [
        Buffer.concat([Buffer.from("["), bytes]),
        Buffer.concat([Buffer.from("("), bytes, behind]),
      ] as const;
      const [member] = (await link.send(["ZRANGEBYLEX", lineage, ...bounds])) as readonly Buffer[];
      found.push(member && valueOf(member, bytes.length));
    }
    if (inserts.every(({ value }, index) => isSameValue(found[index], value))) return true;
    if (found[0] !== undefined && !isSameValue(found[0], inserts[0]?.value)) return false;
    throw new Failure(
      new Error("the answer to a commit was lost, and a record of it is gone or another's"),
      true,
      false,
    );
  }
}

function keysOf(layout: Layout, shard: number, lineage: number | undefined): string[] {
  const own = lineage === undefined ? `{${layout.tag(shard)}}:l:0` : layout.lineageKey(lineage);
  return [own, layout.key(shard, "e"), layout.key(shard, "g"), layout.key(shard, "t")];
}

/** Returns whether a batch is recognised by its records: it checks and inserts some, and nothing else. */
function isRecognisable({ deletes = [], inserts = [], puts = [], entries, log }: Batch): boolean {
  if (deletes.length + puts.length > 0 || entries !== undefined || log !== undefined) return false;
  return inserts.every(({ key }) => key.table !== "meta" && key.table !== "directory");
}

function newToken(): string {
  return cryptography().randomBytes(9).toString("base64url");
}

import { setTimeout as sleep } from "node:timers/promises";
import type { Batch, Value } from "../../../backend.ts";
import { cryptography } from "../../../platform/node-builtins.ts";
import { withDoubtfulCheck } from "../../shared/doubtful-batches.ts";
import { ServerFailure } from "../../shared/failure.ts";
import { isSameValue } from "../../shared/same-value.ts";
import type { Argument } from "../connection/connection.ts";
import type { Link, Servers } from "../connection/servers.ts";
import { behind, type KeyLayout, textOfKey, valueOf } from "../layout.ts";
import { beyond, from } from "../reading/shard-reads.ts";
import { applyScript } from "./apply-script.ts";
import { type HeldLock, Locks, partedBatch } from "./locks.ts";
import { operationsOf, type Scope } from "./operations.ts";
import { addStep, callsOf, lineageOf, type ServerCall, stepsScript } from "./steps.ts";

/** The longest that a commit waits for its replicas, in milliseconds: less than until a silent server counts as gone. */
const replicaMilliseconds = 5_000;
const lockPause = 10;

/**
 * Commits batches by calls of scripts: steps of one server together, any other batch by itself.
 *
 * Lost answers. A call whose connection broke may have been applied. It is repeated, and the outcome is found so:
 * - most batches carry a token, which the first attempt has left in the shard, if it was applied;
 * - a step, which checks and inserts records and does nothing else, carries none. If the repeated one is refused and its records hold the
 *   values of this batch, they are this batch's own: a checkpoint's row names the store that put it. If the first of them
 *   holds another value, the batch was refused. If there is none, the outcome is unknown.
 */
export class BatchWriter {
  readonly locks: Locks;
  readonly #servers: Servers;
  readonly #replicas: number;

  constructor(servers: Servers, replicas: number) {
    this.#servers = servers;
    this.#replicas = replicas;
    this.locks = new Locks(servers, (link) => this.#durable(link));
  }

  /** Commits the batches. Rejects with a {@link ServerFailure} that tells whether anything may have been applied. */
  async commit(layout: KeyLayout, batches: readonly Batch[]): Promise<readonly boolean[]> {
    const calls = callsOf(batches, (lineage) => (this.#servers.isCluster ? layout.shardOfLineage(lineage) : 0));
    const run = async ({ scope, batches: own }: ServerCall): Promise<readonly boolean[]> =>
      scope === undefined ? this.#commitSteps(layout, own) : [await this.#commit(layout, own[0] as Batch, scope)];
    const [only] = calls;
    if (only !== undefined && calls.length === 1) return run(only);
    const outcomes = await Promise.allSettled(calls.map(run));
    const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
    const applied = batches.map(() => false);
    for (const [at, { places }] of calls.entries()) {
      const outcome = outcomes[at] as PromiseSettledResult<readonly boolean[]>;
      if (outcome.status === "rejected") continue;
      for (const [index, place] of places.entries()) applied[place] = outcome.value[index] as boolean;
    }
    const [first] = failures;
    if (first === undefined) return applied;
    const mayHaveApplied =
      applied.includes(true) || failures.some((one) => !(one instanceof ServerFailure) || one.mayHaveApplied);
    const { cause, state } = first instanceof ServerFailure ? first : new ServerFailure(first, true, false);
    throw new ServerFailure(cause, mayHaveApplied, false, state);
  }

  /** Commits steps of lineages that are on one server, in one call. */
  #commitSteps(layout: KeyLayout, steps: readonly Batch[]): Promise<readonly boolean[]> {
    const keys = steps.map((step) => layout.lineageKey(lineageOf(step)));
    const shard = layout.shardOfLineage(lineageOf(steps[0] as Batch));
    return this.#servers.at(layout.slotOf(shard), async (link, mayHaveApplied) => {
      const args: Argument[] = [];
      // After a reconnect the server may lack records that the previous one had.
      for (const step of steps) addStep(args, withDoubtfulCheck(step, this.#servers.interruptions));
      const applied = ((await stepsScript.run(link, keys, args)) as readonly number[]).map((answer) => answer === 1);
      if (mayHaveApplied && applied.includes(false)) await this.#recognise(link, layout, steps, keys, applied);
      if (applied.includes(true)) await this.#durable(link);
      return applied;
    });
  }

  /** Finds out which of the steps that were refused are those that an earlier attempt applied. */
  async #recognise(
    link: Link,
    layout: KeyLayout,
    steps: readonly Batch[],
    keys: readonly string[],
    applied: boolean[],
  ): Promise<void> {
    let found = false;
    for (const [index, step] of steps.entries()) {
      if (applied[index] || !(await this.#wasApplied(link, keys[index] as string, step))) continue;
      applied[index] = true;
      found = true;
    }
    // Replicas are waited for by connection: a write on this one comes behind the commit.
    const shard = layout.shardOfLineage(lineageOf(steps[0] as Batch));
    if (found) await link.send(["SET", `{${layout.tag(shard)}}:w`, "1"]);
  }

  #commit(layout: KeyLayout, batch: Batch, scope: Scope): Promise<boolean> {
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
  async #commitAtOnce(layout: KeyLayout, batch: Batch, { lineage, thread }: Scope): Promise<boolean> {
    const shard = lineage === undefined ? layout.shardOfThread(thread as string) : layout.shardOfLineage(lineage);
    const keys = keysOf(layout, shard, lineage);
    if (thread !== undefined) {
      const beside = layout.shardOfThread(thread);
      keys.push(layout.key(beside, "d"), layout.key(beside, "k"));
    }
    const token = newToken();
    const slot = layout.slotOf(shard);
    for (let since = performance.now(); ; await sleep(Math.random() * lockPause)) {
      const outcome = await this.#servers.at(slot, async (link): Promise<boolean | HeldLock> => {
        const checked = withDoubtfulCheck(batch, this.#servers.interruptions);
        const args = [token, "", thread ?? "", ...operationsOf(checked, layout.shards)];
        const answer = await applyScript.run(link, keys, args);
        if (Array.isArray(answer)) return answer as unknown as HeldLock;
        if (answer === 1) await this.#durable(link);
        return answer === 1;
      });
      if (typeof outcome === "boolean") return outcome;
      await this.#waitFor(layout, thread as string, outcome, since);
    }
  }

  /** Commits a batch whose directory entry is in another slot than its lineage: see {@link Locks}. */
  async #commitApart(layout: KeyLayout, batch: Batch, lineage: number, thread: string): Promise<boolean> {
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
      throw error instanceof ServerFailure ? new ServerFailure(error.cause, false, false, error.state) : error;
    }
    if (locked === undefined) return false;
    const keys = [...keysOf(layout, shard, lineage), layout.key(shard, "x")];
    const applied = await this.#servers.at(layout.slotOf(shard), async (link) => {
      const checked = withDoubtfulCheck(rest, this.#servers.interruptions);
      const args = [token, locked as string, thread, ...operationsOf(checked, layout.shards)];
      const isApplied = (await applyScript.run(link, keys, args)) === 1;
      if (isApplied) await this.#durable(link);
      return isApplied;
    });
    try {
      await this.locks.finish(layout, thread, token, applied);
      if (applied)
        await this.#servers.at(layout.slotOf(shard), (link) => link.send(["HDEL", layout.key(shard, "x"), token]));
    } catch (error) {
      // The batch is decided. The next one who meets the lock finishes it.
      if (!(error instanceof ServerFailure)) throw error;
    }
    return applied;
  }

  /** Waits for a lock in the way, or removes it. */
  async #waitFor(layout: KeyLayout, thread: string, lock: HeldLock, since: number): Promise<void> {
    if (await this.locks.resolve(layout, thread, lock)) return;
    if (performance.now() - since < this.#servers.patience) return;
    throw new ServerFailure(
      new Error(`the directory entry of ${JSON.stringify(thread)} stays locked`),
      false,
      false,
      "BUSY",
    );
  }

  /** Waits until enough replicas have what was written. */
  async #durable(link: Link): Promise<void> {
    if (this.#replicas === 0) return;
    const count = await link.replicated(this.#replicas, replicaMilliseconds);
    if (count >= this.#replicas) return;
    const fault = `${count} of ${this.#replicas} replicas have the commit`;
    throw new ServerFailure(new Error(fault), true, false, "REPLICAS");
  }

  /** Finds out whether a batch that was refused is the one that was applied before. */
  async #wasApplied(link: Link, lineage: string, { inserts = [] }: Batch): Promise<boolean> {
    const found: (Value | undefined)[] = [];
    for (const { key } of inserts) {
      const text = textOfKey(key);
      const bounds = [from(text), beyond(text + behind)] as const;
      const [member] = (await link.send(["ZRANGEBYLEX", lineage, ...bounds])) as readonly Buffer[];
      found.push(member && valueOf(member, Buffer.byteLength(text)));
    }
    if (inserts.every(({ value }, index) => isSameValue(found[index], value))) return true;
    if (found[0] !== undefined && !isSameValue(found[0], inserts[0]?.value)) return false;
    throw new ServerFailure(
      new Error("the answer to a commit was lost, and a record of it is gone or another's"),
      true,
      false,
    );
  }
}

function keysOf(layout: KeyLayout, shard: number, lineage: number | undefined): string[] {
  const own = lineage === undefined ? `{${layout.tag(shard)}}:l:0` : layout.lineageKey(lineage);
  return [own, layout.key(shard, "e"), layout.key(shard, "g"), layout.key(shard, "t")];
}

function newToken(): string {
  return cryptography().randomBytes(9).toString("base64url");
}

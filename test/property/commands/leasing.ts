import assert from "node:assert/strict";
import fc from "fast-check";
import type { LeaseToken } from "../../../src/model/arguments.ts";
import { checkLease } from "../naive/lease.ts";
import { lineOf } from "../naive/thread.ts";
import { putWrites } from "../naive/writes.ts";
import { failsAlike, type Model, outcomeOf, pickNamespace, pickThread, type System, settle } from "../system.ts";
import { putBoth } from "./put.ts";

type Act = "acquire" | "renew" | "release" | "put" | "write";

/** Takes a lease, or does something under one: the last that was given, or one that was lost. */
class Leasing implements fc.AsyncCommand<Model, System> {
  readonly #thread: number;
  readonly #namespace: number;
  readonly #act: Act;
  readonly #back: number;
  readonly #ttl: number;

  constructor(thread: number, namespace: number, act: Act, back: number, ttl: number) {
    this.#thread = thread;
    this.#namespace = namespace;
    this.#act = act;
    this.#back = back;
    this.#ttl = ttl;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: System): Promise<void> {
    const thread = pickThread(model, this.#thread);
    const held = model.leases.get(thread.id);
    const handle = real.store.thread(thread.id);
    const { now } = model;
    if (this.#act === "acquire") {
      const outcome = await outcomeOf(() => handle.acquire({ holder: "h", ttl: this.#ttl }));
      if ("failed" in outcome) return failsAlike(outcome.failed, () => checkLease(held, undefined, now));
      checkLease(held, undefined, now);
      const { epoch } = outcome.value;
      real.leases.set(thread.id, [...(real.leases.get(thread.id) ?? []), outcome.value]);
      assert.ok(epoch > (held?.epoch ?? 0), "an epoch is used once");
      model.leases.set(thread.id, { epoch, expires: now + this.#ttl });
      settle(model, thread);
      return;
    }
    if (held === undefined) return;
    const token: LeaseToken = { thread: thread.id, holder: "h", epoch: held.epoch - this.#back };
    if (this.#act === "put") {
      const namespace = pickNamespace(this.#namespace);
      return putBoth(model, real, thread, namespace, { state: { leased: true } }, { lease: token });
    }
    if (this.#act === "write") {
      const namespace = pickNamespace(this.#namespace);
      const input = { task: "leased", writes: [{ channel: "c", value: 1 }] };
      const line = lineOf(thread, namespace);
      const nested = real.store.thread(thread.id, { namespace });
      const outcome = await outcomeOf(() => nested.putWrites("waiting0", input, { lease: token }));
      if ("failed" in outcome) return failsAlike(outcome.failed, () => checkLease(held, token.epoch, now));
      checkLease(held, token.epoch, now);
      assert.deepEqual({ ...outcome.value }, putWrites(line, "waiting0", input, now));
      settle(model, thread);
      return;
    }
    const lease = real.leases.get(thread.id)?.at(-1 - this.#back);
    if (lease === undefined) return;
    const { epoch } = lease;
    if (this.#act === "renew") {
      const outcome = await outcomeOf(() => lease.renew(this.#ttl));
      if ("failed" in outcome) return failsAlike(outcome.failed, () => checkLease(held, epoch, now));
      checkLease(held, epoch, now);
      model.leases.set(thread.id, { epoch, expires: now + this.#ttl });
      return;
    }
    await lease.release();
    if (epoch === held.epoch && !held.ended)
      model.leases.set(thread.id, { ...held, expires: Number.NEGATIVE_INFINITY, ended: true });
  }

  toString(): string {
    return `${this.#act}(${this.#thread}, ${this.#namespace}, ${this.#back}, ${this.#ttl})`;
  }
}

export const leasing: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc
  .tuple(
    fc.nat({ max: 20 }),
    fc.nat({ max: 5 }),
    fc.constantFrom(
      "acquire" as const,
      "acquire" as const,
      "renew" as const,
      "release" as const,
      "put" as const,
      "write" as const,
    ),
    fc.nat({ max: 3 }).map((n) => (n === 0 ? 1 : 0)),
    fc.constantFrom(15, 35),
  )
  .map(([...choice]) => new Leasing(...choice));

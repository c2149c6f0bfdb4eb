import assert from "node:assert/strict";
import fc from "fast-check";
import type { LeaseToken } from "../../../src/model/interface/options.ts";
import { checkLease } from "../naive/lease.ts";
import { putWrites } from "../naive/writes.ts";
import { SCALE } from "../scale.ts";
import { failsAlike, outcomeOf, settle } from "../system.ts";
import { type Commands, chosenLine, commands, lineChoice } from "./command.ts";
import { putBoth } from "./put.ts";

const choices = fc.record({
  ...lineChoice,
  act: fc.constantFrom(
    "acquire" as const,
    "acquire" as const,
    "renew" as const,
    "release" as const,
    "put" as const,
    "write" as const,
  ),
  /** How many leases ago the lease was given. */
  back: fc.nat({ max: 3 }).map((n) => (n === 0 ? 1 : 0)),
  ttl: fc.constantFrom(15 * SCALE, 35 * SCALE),
});

/** Takes a lease, or does something under the last lease that was given, or under a lost one. */
export const leasing: Commands = commands("lease", choices, async ({ act, back, ttl, ...choice }, model, real) => {
  const { thread, namespace, line, handle } = chosenLine(choice, model, real);
  const held = model.leases.get(thread.id);
  const { now } = model;
  if (act === "acquire") {
    const outcome = await outcomeOf(() => real.store.thread(thread.id).acquire({ holder: "h", ttl: ttl }));
    if ("failed" in outcome) return failsAlike(outcome.failed, () => checkLease(held, undefined, now));
    checkLease(held, undefined, now);
    const { epoch } = outcome.value;
    real.leases.set(thread.id, [...(real.leases.get(thread.id) ?? []), outcome.value]);
    assert.ok(epoch > (held?.epoch ?? 0), "an epoch is used once");
    model.leases.set(thread.id, { epoch, expires: now + ttl });
    settle(model, thread);
    return;
  }
  if (held === undefined) return;
  const token: LeaseToken = { thread: thread.id, holder: "h", epoch: held.epoch - back };
  if (act === "put") return putBoth(model, real, thread, namespace, { state: { leased: true } }, { lease: token });
  if (act === "write") {
    const input = { task: "leased", writes: [{ channel: "c", value: 1 }] };
    const outcome = await outcomeOf(() => handle.putWrites("waiting0", input, { lease: token }));
    if ("failed" in outcome) return failsAlike(outcome.failed, () => checkLease(held, token.epoch, now));
    checkLease(held, token.epoch, now);
    assert.deepEqual({ ...outcome.value }, putWrites(line, "waiting0", input, now));
    settle(model, thread);
    return;
  }
  const lease = real.leases.get(thread.id)?.at(-1 - back);
  if (lease === undefined) return;
  const { epoch } = lease;
  if (act === "renew") {
    const outcome = await outcomeOf(() => lease.renew(ttl));
    if ("failed" in outcome) return failsAlike(outcome.failed, () => checkLease(held, epoch, now));
    checkLease(held, epoch, now);
    model.leases.set(thread.id, { epoch, expires: now + ttl });
    return;
  }
  await lease.release();
  if (epoch === held.epoch && !held.ended)
    model.leases.set(thread.id, { ...held, expires: Number.NEGATIVE_INFINITY, ended: true });
});

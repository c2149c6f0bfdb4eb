import { ThreadmarkError } from "../../errors.ts";
import type { BreakOptions, LeaseToken } from "../../model/interface/options.ts";
import type { BrokenLease, LeaseInfo } from "../../model/interface/results.ts";
import type { Draft } from "../commits/draft/draft.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import type { EngineContext } from "../memory/context.ts";
import { randomName } from "../memory/new-tape.ts";
import type { LeaseRecord } from "../records/meta.ts";
import { remainingOf } from "./lease-sightings.ts";

/**
 * Refuses a stale lease (`FENCED`, by its epoch, whatever the clock says) and a put without one while another's is live
 * (`BUSY`). The commit checks the meta record the decision was made on, so it cannot be overtaken.
 */
export function checkLease(draft: Draft, lease: LeaseToken | undefined): void {
  const held = draft.meta?.lease;
  if (lease) {
    if (isHeld(held, lease) && lease.thread === draft.thread) return;
    throw new ThreadmarkError(
      "FENCED",
      `Thread ${JSON.stringify(draft.thread)}: the lease of ${JSON.stringify(lease.holder)} (epoch ${lease.epoch}) was lost` +
        `${held ? ` to ${JSON.stringify(held.holder)} (epoch ${held.epoch})` : ""}. Stop, and acquire a new one.`,
      { thread: draft.thread, ...(held && { holder: held.holder }) },
    );
  }
  const remaining = held ? remainingOf(draft.context, draft.thread, held) : 0;
  if (held && remaining > 0) throw busy(draft.thread, held, remaining);
}

/** Returns whether a lease is the one held. A lease without a token, as others may have written it down, goes by its epoch. */
function isHeld(held: LeaseRecord | undefined, { epoch, token = held?.token }: LeaseToken): boolean {
  return held !== undefined && held.epoch === epoch && held.token === token;
}

function busy(thread: string, held: LeaseRecord, remaining: number): ThreadmarkError {
  return new ThreadmarkError(
    "BUSY",
    `Thread ${JSON.stringify(thread)} is leased to ${JSON.stringify(held.holder)} for ${remaining} ms more. Wait, or pass its lease.`,
    { thread, holder: held.holder, remaining },
  );
}

export function acquireChange(options: { readonly holder: string; readonly ttl: number }): ThreadChange<LeaseRecord> {
  return {
    plan: async (draft) => {
      checkLease(draft, undefined);
      await draft.tape();
      const epoch = (draft.meta?.epoch ?? 0) + 1;
      const { holder, ttl } = options;
      const lease = { holder, epoch, token: randomName(), expires: draft.context.clock() + ttl, ttl };
      draft.change({ epoch, lease });
      return lease;
    },
  };
}

export function renewChange(lease: LeaseToken, ttl: number): ThreadChange<LeaseRecord> {
  return {
    plan: async (draft) => {
      checkLease(draft, lease);
      const held = draft.meta?.lease as LeaseRecord;
      const renewed = { ...held, expires: draft.context.clock() + ttl, ttl, beat: (held.beat ?? 0) + 1 };
      draft.change({ lease: renewed });
      return renewed;
    },
  };
}

/** Gives a lease up. A lease that was lost meanwhile is gone already: then nothing is planned. */
export function releaseChange(lease: LeaseToken): ThreadChange<void> {
  return {
    plan: async (draft) => {
      if (isHeld(draft.meta?.lease, lease)) draft.change({ lease: undefined });
    },
  };
}

/** The meta record, which every commit checks, keeps this many broken leases. */
const MOST_BROKEN = 10;

/**
 * Ends a lease whatever the clock says, and notes that in the thread. Its holder is fenced: the epoch is never used again.
 * Plans nothing where there is no lease.
 */
export function breakChange({
  by = null,
  reason = null,
}: { [K in keyof BreakOptions]: string | null }): ThreadChange<BrokenLease | undefined> {
  return {
    plan: async (draft) => {
      const held = draft.meta?.lease;
      if (!held) return undefined;
      const { holder, epoch, expires: expiresAt } = held;
      const broken: BrokenLease = { holder, epoch, expiresAt, at: draft.context.clock(), by, reason };
      const earlier = draft.meta?.broken ?? [];
      draft.change({ lease: undefined, broken: [broken, ...earlier].slice(0, MOST_BROKEN) });
      return broken;
    },
  };
}

/** Returns who holds the lease of a thread, and which of its leases were broken. */
export async function leaseInfo(context: EngineContext, thread: string): Promise<LeaseInfo> {
  const { lease, broken = [], epoch: last = 0, born = 0 } = (await context.thread(thread))?.meta ?? {};
  const taken = last > born;
  if (!lease) return { held: null, taken, broken };
  const { holder, epoch, expires: expiresAt } = lease;
  return { held: { holder, epoch, expiresAt, remaining: Math.max(0, expiresAt - context.clock()) }, taken, broken };
}

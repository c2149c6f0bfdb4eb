import { RecentMap } from "../../platform/recent-map.ts";
import type { EngineContext } from "../memory/context.ts";
import type { LeaseRecord } from "../records/meta.ts";

/*
 * A lease says when it ends by the clock of its holder. Where that clock was ahead, or the clock of others was set back since,
 * its end is far off although its holder is dead. So an observer also goes by its own watch: a holder that lives renews its
 * lease, and one that was seen unchanged for the time it was taken for has ended.
 */

interface Sighting {
  readonly state: string;
  readonly since: number;
}

/** Sightings of leases that were in the way, by thread; the oldest ones are forgotten. */
const MOST = 10_000;
const sightings = new WeakMap<EngineContext, RecentMap<string, Sighting>>();

/** Returns how many milliseconds a lease still has, by the clock or by what was seen of it, whichever is less. */
export function remainingOf(context: EngineContext, thread: string, lease: LeaseRecord): number {
  const byClock = lease.expires - context.clock();
  if (byClock <= 0 || lease.ttl === undefined) return byClock;
  const seen = sightings.get(context) ?? new RecentMap<string, Sighting>(MOST);
  sightings.set(context, seen);
  const state = `${lease.epoch}:${lease.beat ?? 0}:${lease.expires}`;
  const now = performance.now();
  let sighting = seen.get(thread);
  if (sighting?.state !== state) {
    sighting = { state, since: now };
    seen.set(thread, sighting);
  }
  return Math.min(byClock, Math.ceil(lease.ttl - (now - sighting.since)));
}

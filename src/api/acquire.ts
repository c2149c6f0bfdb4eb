import { acquireChange } from "../engine/changes/lease.ts";
import type { Engine } from "../engine/engine.ts";
import { closedError } from "../engine/faults/closed.ts";
import { ThreadmarkError } from "../errors.ts";
import type { AcquireOptions } from "../model/interface/options.ts";
import { processName } from "../platform/node-builtins.ts";
import { Lease } from "./lease.ts";

const TTL = 30_000;
/** A waiting caller looks again about this often: the holder may be done long before its time is up. */
const PATIENCE = 100;

/** Takes the lease of a thread, waiting for it if asked to. */
export async function acquire(engine: Engine, thread: string, options: AcquireOptions): Promise<Lease> {
  const { ttl = TTL, holder = newHolder(), wait = false, signal } = options;
  const deadline = performance.now() + (wait === true ? Number.POSITIVE_INFINITY : Number(wait));
  for (;;) {
    signal?.throwIfAborted();
    if (engine.context.calls.closed) throw closedError();
    try {
      const record = await engine.lane(thread).add(acquireChange({ holder, ttl }));
      return new Lease(engine, thread, record, ttl);
    } catch (error) {
      const left = deadline - performance.now();
      if (!(left > 0 && ThreadmarkError.is(error, "BUSY"))) throw error;
      const { remaining = PATIENCE } = error;
      await sleep(Math.min(remaining, left, PATIENCE * (0.5 + Math.random())), signal);
    }
  }
}

function newHolder(): string {
  return `${processName()}:${crypto.randomUUID().slice(0, 8)}`;
}

/** Waits, but not past an abort. */
function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done);
  });
}

import type { Lease } from "../../api/lease.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { AcquireOptions, LeaseToken } from "../../model/interface/options.ts";
import type { Cancellation } from "../control/cancellation.ts";

/** The lease that a run takes on its thread. */
export interface LeaseOptions {
  /** The holder's name, which others see. Default: host, process and a random part. */
  readonly holder?: string;
  /** Milliseconds until another may take over from a holder that died. Default 30,000. The lease is renewed meanwhile. */
  readonly ttl?: number;
}

interface Leasable {
  acquire(options: AcquireOptions): Promise<Lease>;
}

/** Holds a thread's lease for as long as a run takes. */
export class LeaseKeeper {
  readonly #lease: Lease;
  readonly #lost: AbortSignal;

  private constructor(lease: Lease) {
    this.#lease = lease;
    this.#lost = lease.keepAlive();
  }

  /** Takes the lease. `BUSY` when another holds it, unless `wait` is set. */
  static async take(
    thread: Leasable,
    { holder, ttl }: LeaseOptions,
    wait: boolean,
    cancellation: Cancellation,
  ): Promise<LeaseKeeper> {
    const own = { ...(holder !== undefined && { holder }), ...(ttl !== undefined && { ttl }) };
    try {
      return new LeaseKeeper(await thread.acquire({ ...own, wait, ...(wait && { signal: cancellation.signal }) }));
    } catch (error) {
      // A run that is aborted while it waits reports the holder of the thread.
      if (!cancellation.cancelled || error instanceof ThreadmarkError) throw error;
      return new LeaseKeeper(await thread.acquire(own));
    }
  }

  /** Returns a signal that aborts once the lease is known to be lost. */
  get lost(): AbortSignal {
    return this.#lost;
  }

  get token(): LeaseToken {
    return this.#lease;
  }

  /** Throws `FENCED` if another is known to have taken the lease. */
  check(): void {
    if (this.#lost.aborted) throw this.#lost.reason;
  }

  async release(): Promise<void> {
    try {
      await this.#lease.release();
    } catch {
      // The run's commits have succeeded or failed by now. A lease that cannot be released runs out by itself.
    }
  }
}

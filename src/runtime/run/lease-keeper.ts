import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { ThreadmarkError } from "../../errors.ts";
import type { LeaseToken } from "../../model/options.ts";
import { type Cancellation, LONGEST } from "./cancellation.ts";

/** The lease that a run takes on its thread. */
export interface LeaseOptions {
  /** The holder's name, which others see. Default: host, process and a random part. */
  readonly holder?: string;
  /** Milliseconds until another may take over from a holder that died. Default 30,000. The lease is renewed meanwhile. */
  readonly ttl?: number;
}

const TTL = 30_000;
/** The longest pause between two attempts of a waiting run: a holder may be done long before its lease runs out. */
const PATIENCE = 100;

interface HeldLease extends LeaseToken {
  renew(): Promise<unknown>;
  release(): Promise<unknown>;
}

interface Leasable {
  acquire(options: { readonly holder: string; readonly ttl: number }): Promise<HeldLease>;
}

/** Holds a thread's lease for as long as a run takes. */
export class LeaseKeeper {
  readonly #lease: HeldLease;
  readonly #timer: NodeJS.Timeout;
  #renewing: Promise<void> | undefined;
  #lost: unknown;

  private constructor(lease: HeldLease, ttl: number) {
    this.#lease = lease;
    this.#timer = setInterval(() => this.#renew(), Math.min(Math.max(1, Math.floor(ttl / 3)), LONGEST));
    this.#timer.unref();
  }

  /** Takes the lease. `BUSY` when another holds it, unless `wait` is set. */
  static async take(
    thread: Leasable,
    options: LeaseOptions,
    wait: boolean,
    cancellation: Cancellation,
  ): Promise<LeaseKeeper> {
    const ttl = options.ttl ?? TTL;
    const holder = options.holder ?? `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
    for (;;) {
      try {
        return new LeaseKeeper(await thread.acquire({ holder, ttl }), ttl);
      } catch (error) {
        if (!wait || !(error instanceof ThreadmarkError) || error.code !== "BUSY" || cancellation.cancelled)
          throw error;
        await cancellation.sleep(Math.min(error.remaining ?? PATIENCE, PATIENCE * (0.5 + Math.random())));
      }
    }
  }

  get token(): LeaseToken {
    return this.#lease;
  }

  /** Throws `FENCED` if another is known to have taken the lease. */
  check(): void {
    if (this.#lost !== undefined) throw this.#lost;
  }

  #renew(): void {
    this.#renewing ??= this.#lease.renew().then(
      () => {
        this.#renewing = undefined;
      },
      (error: unknown) => {
        this.#renewing = undefined;
        // Other faults may pass before the lease runs out; every commit checks the epoch in any case.
        if (error instanceof ThreadmarkError && error.code === "FENCED") this.#lost = error;
      },
    );
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
    try {
      await this.#lease.release();
    } catch {
      // The run's commits have succeeded or failed by now. A lease that cannot be released runs out by itself.
    }
  }
}

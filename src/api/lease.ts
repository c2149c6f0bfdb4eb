import { releaseChange, renewChange } from "../engine/changes/lease.ts";
import type { Engine } from "../engine/engine.ts";
import type { LeaseRecord } from "../engine/records/meta.ts";
import { ThreadmarkError } from "../errors.ts";
import type { LeaseToken } from "../model/interface/options.ts";
import { checkTtl } from "../model/validation/lease.ts";

/** The longest that a timer can be set for: beyond it, it would fire at once. */
const LONGEST = 2 ** 31 - 1;

/**
 * The right to advance a thread, until it runs out and another takes it. Pass it to `put` and `putWrites`.
 *
 * @example
 * await using lease = await thread.acquire({ holder: "worker-7", ttl: 30_000 });
 * await thread.put({ state }, { lease });
 */
export class Lease implements LeaseToken {
  readonly thread: string;
  readonly holder: string;
  /** Greater than that of any earlier lease of the thread. */
  readonly epoch: number;
  /** Random: no other lease has it. */
  readonly token?: string;
  readonly #engine: Engine;
  readonly #ttl: number;
  #expiresAt: number;
  #lost: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #renewing = false;

  /** @internal */
  constructor(engine: Engine, thread: string, record: LeaseRecord, ttl: number) {
    this.#engine = engine;
    this.thread = thread;
    this.holder = record.holder;
    this.epoch = record.epoch;
    if (record.token !== undefined) this.token = record.token;
    this.#expiresAt = record.expires;
    this.#ttl = ttl;
  }

  /** Returns when another may take the lease, in milliseconds since 1970. */
  get expiresAt(): number {
    return this.#expiresAt;
  }

  /**
   * Starts the time to live anew. `FENCED` when another has taken the lease.
   *
   * @param ttl Milliseconds. @default the ttl that the lease was acquired with
   * @example
   * await lease.renew();
   * console.log(lease.expiresAt);
   */
  async renew(ttl: number = this.#ttl): Promise<void> {
    checkTtl(ttl);
    const record = await this.#engine.context.calls.track(() =>
      this.#engine.lane(this.thread).add(renewChange(this, ttl)),
    );
    this.#expiresAt = record.expires;
  }

  /**
   * Renews the lease every third of its time to live, until it is released, lost or the store is closed. Returns a signal that
   * aborts with the error (`FENCED`) once the lease is known to be lost. Other faults may pass before the time is up, and
   * are tried again. The timer does not keep the process alive.
   *
   * @example
   * const lost = lease.keepAlive();
   * await fetch(url, { signal: lost });
   */
  keepAlive(): AbortSignal {
    if (!this.#lost) {
      this.#lost = new AbortController();
      const every = Math.min(Math.max(1, Math.floor(this.#ttl / 3)), LONGEST);
      this.#timer = setInterval(() => void this.#renewAgain(), every);
      // A timer of a browser is a number.
      if (typeof this.#timer === "object") this.#timer.unref();
    }
    return this.#lost.signal;
  }

  async #renewAgain(): Promise<void> {
    if (this.#renewing) return;
    this.#renewing = true;
    try {
      await this.renew();
    } catch (error) {
      // A released lease is not lost, though a renewal that was under way finds it gone.
      if (this.#timer !== undefined && ThreadmarkError.is(error, "FENCED", "CLOSED")) {
        this.#stop();
        this.#lost?.abort(error);
      }
    } finally {
      this.#renewing = false;
    }
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Gives the lease up, so that another need not wait. Ends {@link keepAlive}.
   *
   * @example
   * try { await thread.put({ state }, { lease }); }
   * finally { await lease.release(); }
   */
  release(): Promise<void> {
    this.#stop();
    return this.#engine.context.calls.track(() => this.#engine.lane(this.thread).add(releaseChange(this)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

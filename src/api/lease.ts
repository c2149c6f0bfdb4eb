import { releaseChange, renewChange } from "../engine/changes/lease.ts";
import type { Engine } from "../engine/engine.ts";
import type { LeaseRecord } from "../engine/records/meta.ts";
import type { LeaseToken } from "../model/arguments.ts";
import { checkTtl } from "../model/validation.ts";

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
  readonly #engine: Engine;
  readonly #ttl: number;
  #expiresAt: number;

  /** @internal */
  constructor(engine: Engine, thread: string, record: LeaseRecord, ttl: number) {
    this.#engine = engine;
    this.thread = thread;
    this.holder = record.holder;
    this.epoch = record.epoch;
    this.#expiresAt = record.expires;
    this.#ttl = ttl;
  }

  /** When another may take the lease, in milliseconds since 1970. */
  get expiresAt(): number {
    return this.#expiresAt;
  }

  /** Starts the time to live anew. `FENCED` when another has taken the lease. */
  async renew(ttl: number = this.#ttl): Promise<void> {
    checkTtl(ttl);
    const record = await this.#engine.context.calls.track(() =>
      this.#engine.lane(this.thread).add(renewChange(this, ttl)),
    );
    this.#expiresAt = record.expires;
  }

  /** Gives the lease up, so that another need not wait. */
  release(): Promise<void> {
    return this.#engine.context.calls.track(() => this.#engine.lane(this.thread).add(releaseChange(this)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

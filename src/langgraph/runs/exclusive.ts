import { hostname } from "node:os";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { Lease } from "../../api/lease.ts";
import type { Store } from "../../api/store.ts";
import { ThreadmarkError } from "../../errors.ts";
import { checkOptions } from "../../model/validation/checks.ts";
import { isNested, isRun, isUnheard } from "./run-config.ts";

/** The leases that a saver's runs take on their threads. */
export interface ExclusiveOptions {
  /** The holder's name, which others see. Default: the host and the process. */
  readonly holder?: string;
  /** Milliseconds until another may take over from a process that died. Default 30,000. */
  readonly ttl?: number;
  /** Milliseconds to wait for a run that is just ending. Default 300. */
  readonly wait?: number;
}

/** Milliseconds between two looks at whether a run has ended. */
const interval = 40;
/** The looks in a row at which a run must seem ended: between two steps it does for a moment. */
const confirmations = 2;

/** A run that holds the lease of its thread. */
interface Holding {
  readonly lease: Lease;
  readonly signal: WeakRef<AbortSignal> | undefined;
  timer: NodeJS.Timeout | undefined;
  /** The looks in a row at which the run seemed ended. */
  silent: number;
  /** The number of the run's calls under way. */
  busy: number;
  /** True if the run has failed by an error of the saver. Such a run leaves its listeners behind. */
  failed: boolean;
}

/**
 * Holds the leases of runs. A run takes the lease when LangGraph reads the latest checkpoint, which it does first, and is
 * refused with `BUSY` if another run holds it. LangGraph does not say when a run ends (finished, interrupted, failed or
 * aborted), but a run listens to its own abort signal while it is under way: that is looked at. Should this ever be wrong,
 * a run loses its lease early and its next put is refused with `FENCED`: two runs can never both advance a thread.
 */
export class Exclusive {
  readonly #store: Store<Record<string, unknown>>;
  readonly #holder: string;
  readonly #ttl: number;
  readonly #wait: number;
  readonly #holdings = new Map<string, Holding>();

  constructor(store: Store<Record<string, unknown>>, options: ExclusiveOptions) {
    checkOptions(options, ["holder", "ttl", "wait"], "exclusive");
    this.#store = store;
    this.#holder = options.holder ?? `${hostname()}:${process.pid}`;
    this.#ttl = options.ttl ?? 30_000;
    this.#wait = options.wait ?? 300;
  }

  /** Takes the lease of a thread for a run that begins. */
  async begin(thread: string, config: RunnableConfig): Promise<void> {
    await this.#endIfOver(thread);
    await this.beside(thread, async () => {
      const lease = await this.#store.thread(thread).acquire({ holder: this.#holder, ttl: this.#ttl });
      this.#hold(thread, lease, config.signal);
    });
  }

  /** Does an action that requires that no run is under way, and waits a little for a run that is just ending. */
  async beside<T>(thread: string, action: () => Promise<T>): Promise<T> {
    const deadline = Date.now() + this.#wait;
    for (;;) {
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof ThreadmarkError && error.code === "BUSY")) throw error;
        if (await this.#endIfOver(thread)) continue;
        if (Date.now() >= deadline) throw error;
        await sleep(interval / 2);
      }
    }
  }

  /** Does an action of a run, with the lease of its thread if there is one. An error thrown by the action is thrown on. */
  with<T>(thread: string, action: (lease: Lease | undefined) => Promise<T>): Promise<T> {
    const holding = this.#holdings.get(thread);
    if (holding === undefined) return action(undefined);
    holding.silent = 0;
    const done = action(holding.lease);
    holding.busy += 1;
    return done.finally(() => {
      holding.busy -= 1;
    });
  }

  /** Notes that the run on a thread fails by an error that the saver threw. */
  fail(thread: string): void {
    const holding = this.#holdings.get(thread);
    if (holding !== undefined) holding.failed = true;
  }

  /** Releases all leases. */
  async close(): Promise<void> {
    for (const [thread, holding] of [...this.#holdings]) await this.#end(thread, holding);
  }

  #hold(thread: string, lease: Lease, signal: AbortSignal | undefined): void {
    const holding: Holding = {
      lease,
      signal: signal && new WeakRef(signal),
      timer: undefined,
      silent: 0,
      busy: 0,
      failed: false,
    };
    this.#holdings.set(thread, holding);
    // If another has taken the lease, the run's next put is refused.
    lease.keepAlive().addEventListener("abort", () => this.#forget(thread, holding), { once: true });
    holding.timer = setInterval(() => void this.#look(thread, holding), interval);
    // The timer must not keep an otherwise finished process alive.
    holding.timer.unref();
  }

  async #look(thread: string, holding: Holding): Promise<void> {
    if (holding.signal !== undefined || holding.failed) {
      holding.silent = isOver(holding) ? holding.silent + 1 : 0;
      if (holding.silent >= confirmations) return this.#end(thread, holding);
    }
  }

  /** Releases the lease of a run of this process that has ended. */
  async #endIfOver(thread: string): Promise<boolean> {
    const holding = this.#holdings.get(thread);
    if (holding === undefined) return false;
    for (let look = 0; look <= confirmations; look++) {
      if (!isOver(holding)) return false;
      await immediate();
    }
    await this.#end(thread, holding);
    return true;
  }

  async #end(thread: string, holding: Holding): Promise<void> {
    this.#forget(thread, holding);
    // A lease that cannot be released runs out by itself.
    await holding.lease.release().catch(() => undefined);
  }

  #forget(thread: string, holding: Holding): void {
    clearInterval(holding.timer);
    if (this.#holdings.get(thread) === holding) this.#holdings.delete(thread);
  }
}

/** Tells whether nothing shows that a run is still under way. */
function isOver(holding: Holding): boolean {
  if (holding.busy > 0) return false;
  if (holding.failed) return true;
  if (holding.signal === undefined) return false;
  const signal = holding.signal.deref();
  return signal === undefined || isUnheard(signal);
}

/** Tells whether a read with this config begins a run, rather than only looks at a thread. */
export function beginsRun(config: RunnableConfig): boolean {
  return isRun(config) && !isNested(config);
}

import { hostname } from "node:os";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { Lease } from "../../api/lease.ts";
import type { Store } from "../../api/store.ts";
import { ThreadmarkError } from "../../errors.ts";
import { isNested, isRun, isUnheard } from "./run-config.ts";

/** How a saver keeps other runs off the threads it runs on. */
export interface ExclusiveOptions {
  /** Who holds the lease, as others are told. Default: the host and the process. */
  readonly holder?: string;
  /** Milliseconds until another may take over from a process that died. Default 30,000. */
  readonly ttl?: number;
  /** Milliseconds to wait for a run that is just ending. Default 300. */
  readonly wait?: number;
}

/** How often it is looked whether a run has ended, in milliseconds. */
const interval = 40;
/** How often in a row a run has to look ended: between two steps one does for a moment. */
const confirmations = 2;

/** A run that has the lease of its thread. */
interface Holding {
  readonly lease: Lease;
  readonly signal: WeakRef<AbortSignal> | undefined;
  timer: NodeJS.Timeout | undefined;
  renewed: number;
  /** How often in a row nothing was heard of the run. */
  silent: number;
  /** Calls of the run that are under way. */
  busy: number;
  /** Whether the run was told to fail. Then it leaves its listeners where they are. */
  failed: boolean;
}

/**
 * The leases of runs. LangGraph asks for the latest checkpoint before it does anything: there a run takes the lease, and is
 * refused with `BUSY` if another has it. It does not say when a run ends, whether by finishing, an interrupt, an error or
 * being aborted. But as long as a run is under way it listens to its own abort signal, so that is what is looked at. If
 * that should ever say too little, a run loses its lease early, and its next put is refused with `FENCED`: no two runs can
 * ever both advance a thread.
 */
export class Exclusive {
  readonly #store: Store<Record<string, unknown>>;
  readonly #holder: string;
  readonly #ttl: number;
  readonly #wait: number;
  readonly #holdings = new Map<string, Holding>();

  constructor(store: Store<Record<string, unknown>>, options: ExclusiveOptions) {
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

  /** Does something that no run may be under way for, and waits a little for one that is just ending. */
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

  /** Does something for a run, with the lease of its thread if it has one. Throws at once what the action throws at once. */
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

  /** Notes that the run on a thread fails, by what its saver threw. */
  fail(thread: string): void {
    const holding = this.#holdings.get(thread);
    if (holding !== undefined) holding.failed = true;
  }

  /** Gives all leases up. */
  async close(): Promise<void> {
    for (const [thread, holding] of [...this.#holdings]) await this.#end(thread, holding);
  }

  #hold(thread: string, lease: Lease, signal: AbortSignal | undefined): void {
    const holding: Holding = {
      lease,
      signal: signal && new WeakRef(signal),
      timer: undefined,
      renewed: Date.now(),
      silent: 0,
      busy: 0,
      failed: false,
    };
    this.#holdings.set(thread, holding);
    holding.timer = setInterval(() => void this.#look(thread, holding), interval);
    // A process with nothing else to do may end.
    holding.timer.unref();
  }

  async #look(thread: string, holding: Holding): Promise<void> {
    if (holding.signal !== undefined || holding.failed) {
      holding.silent = isOver(holding) ? holding.silent + 1 : 0;
      if (holding.silent >= confirmations) return this.#end(thread, holding);
    }
    if (Date.now() - holding.renewed < this.#ttl / 3) return;
    holding.renewed = Date.now();
    // Whoever took the lease over has it: the run finds out with its next put.
    await holding.lease.renew().catch(() => this.#forget(thread, holding));
  }

  /** Gives the lease up of a run of this process that has ended. */
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
    // A lease that cannot be given up runs out.
    await holding.lease.release().catch(() => undefined);
  }

  #forget(thread: string, holding: Holding): void {
    clearInterval(holding.timer);
    if (this.#holdings.get(thread) === holding) this.#holdings.delete(thread);
  }
}

/** Whether nothing shows that a run is still under way. */
function isOver(holding: Holding): boolean {
  if (holding.busy > 0) return false;
  if (holding.failed) return true;
  if (holding.signal === undefined) return false;
  const signal = holding.signal.deref();
  return signal === undefined || isUnheard(signal);
}

/** Whether a config is that of a run which begins, rather than of someone who looks at a thread. */
export function beginsRun(config: RunnableConfig): boolean {
  return isRun(config) && !isNested(config);
}

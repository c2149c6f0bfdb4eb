import type { Store } from "../../api/store.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { Taking, WalkOptions } from "../call/options.ts";
import { listen } from "../control/bell.ts";
import type { Timer } from "../control/clock.ts";
import { Slots } from "../control/slots.ts";
import { messageOf, warnOf } from "../errors.ts";
import type { FlowTypes } from "../graph/flow-types.ts";
import type { Values } from "../graph/reducers.ts";
import type { RunResult } from "../run/events.ts";
import { type Candidate, findCandidates, type Outlook } from "./find-runnable.ts";
import { type Recovered, takeUp } from "./recovery.ts";

export interface WorkerOptions<State = unknown, Names extends string = string, Types extends FlowTypes = FlowTypes>
  extends Omit<WalkOptions<State, Names, Types>, "concurrency" | "ifBusy"> {
  /** The number of runs that are at work at the same time. Default 4. */
  readonly concurrency?: number;
  /** Stops the worker, as `stop()` does. */
  readonly signal?: AbortSignal;
  /** Milliseconds between two looks at the store for runs that nothing has told of. Default 1,000. */
  readonly poll?: number;
  /** Milliseconds that runs get to end by themselves when the worker stops; then they are aborted, and stay runnable. Default 5,000. */
  readonly grace?: number;
  /** How often a run whose worker died is taken up at one checkpoint before it counts as failed. Default 5. */
  readonly maxRecoveries?: number;
  /** Called when a run has ended, stopped or failed. */
  onRun?(outcome: Recovered<State, Types>): void;
}

/** The flow that a worker works for. */
export interface WorkPlace<State> {
  readonly store: Store<Values>;
  readonly workflow: string;
  readonly now: () => number;
  readonly timer: Timer;
  readonly resume: (
    thread: string,
    options: WalkOptions<State>,
    taking: Taking,
  ) => Promise<RunResult<State> | undefined>;
}

/** A lease is tried so many milliseconds after its end. */
const AFTER_LEASE = 5;

/**
 * Takes runs that can go on: started ones, those whose worker died, and those that were answered, signalled or are due. Made by
 * `flow.worker`.
 *
 * @example
 * await using worker = flow.worker({ concurrency: 8 });
 * process.once("SIGTERM", () => worker.stop());
 */
export class Worker<State = unknown> {
  readonly #place: WorkPlace<State>;
  readonly #options: WorkerOptions<State>;
  readonly #slots: Slots;
  readonly #running = new Map<string, Promise<void>>();
  /** When a held thread is tried again, by the time of `performance`. */
  readonly #retryAt = new Map<string, number>();
  readonly #aborting = new AbortController();
  #stopping = false;
  #news = false;
  #wake: () => void = () => {};

  /** Resolves when the worker has stopped; rejects if its store was closed under it. */
  readonly done: Promise<void>;

  /** @internal */
  constructor(place: WorkPlace<State>, options: WorkerOptions<State>) {
    const { concurrency = 4, signal } = options;
    this.#place = place;
    this.#options = options;
    this.#slots = new Slots(concurrency);
    const unlisten = listen(place.store, () => this.#tell());
    const stop = (): void => void this.stop();
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) this.#stopping = true;
    this.done = this.#work().finally(() => {
      unlisten();
      signal?.removeEventListener("abort", stop);
    });
    // Nobody has to wait for it.
    this.done.catch(() => {});
  }

  /** Returns the threads whose runs are at work now. */
  get threads(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Takes no more runs, lets those at work end or aborts them after the grace, and resolves when all have. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#tell();
    await this.done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #work(): Promise<void> {
    try {
      while (!this.#stopping) {
        const outlook = await this.#round();
        if (!this.#stopping) await this.#rest(outlook);
      }
    } finally {
      await this.#drain();
    }
  }

  /** Takes every run that can be taken now. */
  async #round(): Promise<Outlook> {
    const { store, workflow, now } = this.#place;
    const outlook: Outlook = { due: Number.POSITIVE_INFINITY };
    this.#news = false;
    try {
      for await (const candidate of findCandidates(store, workflow, { failed: false, now: now() }, outlook)) {
        if (this.#stopping) break;
        if (!this.#isWorthTrying(candidate)) continue;
        await this.#slots.enter();
        if (this.#stopping) {
          this.#slots.leave();
          break;
        }
        this.#begin(candidate.thread);
      }
    } catch (error) {
      if (ThreadmarkError.is(error, "CLOSED")) throw error;
      warnOf(`A worker of "${workflow}" could not look for runs: ${messageOf(error)}`);
    }
    return outlook;
  }

  #isWorthTrying({ thread, held }: Candidate): boolean {
    if (this.#running.has(thread)) return false;
    if (!held) this.#retryAt.delete(thread);
    return (this.#retryAt.get(thread) ?? 0) <= performance.now();
  }

  #begin(thread: string): void {
    const run = this.#take(thread).then((went) => {
      this.#running.delete(thread);
      this.#slots.leave();
      // A run that went on may be due again soon, and others may have waited for the slot.
      if (went) this.#tell();
    });
    this.#running.set(thread, run);
  }

  /** Takes the run of a thread if it can go on. Resolves to whether it did. */
  async #take(id: string): Promise<boolean> {
    const { store, now, resume } = this.#place;
    const { concurrency: _, poll: __, grace: ___, signal: ____, maxRecoveries = 5, onRun, ...walking } = this.#options;
    const options = { ...walking, signal: this.#aborting.signal } as WalkOptions<State>;
    const tell = (outcome: Recovered<State>): void => {
      try {
        onRun?.(outcome);
      } catch (error) {
        warnOf(`A listener of a worker failed: ${messageOf(error)}`);
      }
    };
    try {
      const result = await takeUp<State>(store.thread(id), { failed: false, now }, (judge) =>
        resume(id, options, { judge, maxRecoveries }),
      );
      if (result !== undefined) tell({ thread: id, result });
      return result !== undefined;
    } catch (error) {
      if (ThreadmarkError.is(error, "BUSY")) {
        this.#retryAt.set(id, performance.now() + (error.remaining ?? 0) + AFTER_LEASE);
      } else tell({ thread: id, error });
      return false;
    }
  }

  /** Waits for news, the next time that something is due, the end of another's lease, or the next look. */
  async #rest({ due }: Outlook): Promise<void> {
    if (this.#news) return;
    const { now, timer } = this.#place;
    const leases = [...this.#retryAt.values()].map((at) => at - performance.now()).filter((wait) => wait > 0);
    const wait = Math.max(0, Math.min(this.#options.poll ?? 1_000, due - now(), ...leases));
    await new Promise<void>((resolve) => {
      const clear = timer(wait, resolve);
      this.#wake = () => {
        clear();
        resolve();
      };
    });
  }

  #tell(): void {
    this.#news = true;
    this.#wake();
  }

  /** Waits for the runs at work, and aborts them when the grace is over. */
  async #drain(): Promise<void> {
    const all = Promise.all(this.#running.values());
    const clear = this.#place.timer(this.#options.grace ?? 5_000, () => {
      this.#aborting.abort(new Error("The worker stops."));
    });
    await all;
    clear();
  }
}

/** Refuses options that cannot be meant. */
export function checkWorkerOptions({ concurrency, poll, grace, maxRecoveries }: WorkerOptions): void {
  const least = { concurrency: 1, poll: 1, grace: 0, maxRecoveries: 0 };
  for (const [name, value] of Object.entries({ concurrency, poll, grace, maxRecoveries })) {
    const from = least[name as keyof typeof least];
    if (value !== undefined && !(value >= from)) {
      throw new TypeError(`${name} of a worker must be a number of at least ${from}, not ${String(value)}.`);
    }
  }
}

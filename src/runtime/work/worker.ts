import type { Store } from "../../api/store.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { Taking, WalkOptions } from "../call/options.ts";
import type { Timer } from "../control/clock.ts";
import { Slots } from "../control/slots.ts";
import { messageOf, warnOf } from "../errors.ts";
import type { FlowTypes } from "../graph/flow-types.ts";
import type { Values } from "../graph/reducers.ts";
import type { RunResult } from "../run/events.ts";
import { findCandidates, type Outlook } from "./find-runnable.ts";
import { type Recovered, takeUp } from "./recovery.ts";
import { WorkNews } from "./work-news.ts";

/** Options of `flow.worker`. */
export interface WorkerOptions<State = unknown, Names extends string = string, Types extends FlowTypes = FlowTypes>
  extends Omit<WalkOptions<State, Names, Types>, "concurrency" | "ifBusy"> {
  /** The number of runs that are at work at the same time. Default 4. */
  readonly concurrency?: number;
  /** Stops the worker, as `stop()` does. Default: none. */
  readonly signal?: AbortSignal;
  /** The most milliseconds between two looks at the index of due threads; news are looked at at once. Default 1,000. */
  readonly poll?: number;
  /** Milliseconds that runs get to end by themselves when the worker stops; then they are aborted, and stay runnable. Default 5,000. */
  readonly grace?: number;
  /** How often a run whose worker died is taken up at one checkpoint before it counts as failed. Default 5. */
  readonly maxRecoveries?: number;
  /** Called when a run has ended, stopped or failed. Default: none. */
  onRun?(outcome: Recovered<State, Types>): void;
}

/** The flow that a worker works for. */
export interface WorkPlace<State> {
  readonly store: Store<Values>;
  readonly workflow: string;
  readonly now: () => number;
  /** Returns the time that leases go by. */
  readonly storeNow: () => number;
  readonly timer: Timer;
  readonly resume: (
    thread: string,
    options: WalkOptions<State>,
    taking: Taking,
  ) => Promise<RunResult<State> | undefined>;
}

/** The default of `poll`. */
const POLL = 1_000;

/** A lease is tried so many milliseconds after its end. */
const AFTER_LEASE = 5;

/** News of checkpoints are looked at together, so many milliseconds after the first. */
const SOON = 15;

/** How often all unfinished threads are looked at, for those that no index and no news tells of. */
const SCAN = 30_000;

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
  /** Threads to look at in the next round, whatever the index says. */
  readonly #heard = new Set<string>();
  /** When a thread is tried again that was taken by another in between, by the time of `performance`. */
  readonly #retryAt = new Map<string, number>();
  /** Due threads whose runs could not go on, with the due time seen: they are tried again when they have news. */
  readonly #passed = new Map<string, number>();
  /** Due threads that were being looked at when the index was: it is looked at again after that. */
  readonly #skipped = new Set<string>();
  readonly #aborting = new AbortController();
  #scanAt = 0;
  #stopping = false;
  #news = false;
  #soon: ReturnType<typeof setTimeout> | undefined;
  #wake: () => void = () => {};

  /** Resolves when the worker has stopped; rejects if its store was closed under it. */
  readonly done: Promise<void>;

  /** @internal */
  constructor(place: WorkPlace<State>, options: WorkerOptions<State>) {
    const { concurrency = 4, signal } = options;
    this.#place = place;
    this.#options = options;
    this.#slots = new Slots(concurrency);
    const news = new WorkNews(place.store, place.workflow, {
      heard: (thread, at) => this.#hear(thread, at),
      missed: () => {
        this.#scanAt = 0;
        this.#tell();
      },
    });
    const stop = (): void => void this.stop();
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) this.#stopping = true;
    this.done = this.#work().finally(() => {
      news.stop();
      clearTimeout(this.#soon);
      signal?.removeEventListener("abort", stop);
    });
    // Callers may leave `done` alone: without a handler, its rejection would end the process.
    this.done.catch(() => {});
  }

  /** Returns the threads whose runs are at work now. */
  get threads(): readonly string[] {
    return [...this.#running.keys()];
  }

  /**
   * Takes no more runs, lets those at work end or aborts them after the grace, and resolves when all have.
   *
   * @example
   * process.once("SIGTERM", () => worker.stop());
   */
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
        const wait = await this.#round();
        if (!this.#stopping) await this.#rest(wait);
      }
    } finally {
      await this.#drain();
    }
  }

  /** Takes every run that can be taken now. Returns the milliseconds until something is due, or a lease ends. */
  async #round(): Promise<number> {
    const { workflow } = this.#place;
    this.#news = false;
    try {
      for (const [thread, at] of this.#retryAt) if (at <= performance.now()) this.#heard.add(thread);
      const heard = [...this.#heard];
      this.#heard.clear();
      for (const thread of heard) await this.#offer(thread);
      const scanned = await this.#scan();
      return Math.min(scanned, await this.#takeDue());
    } catch (error) {
      if (ThreadmarkError.is(error, "CLOSED")) throw error;
      warnOf(`A worker of "${workflow}" could not look for runs: ${messageOf(error)}`);
      return Number.POSITIVE_INFINITY;
    }
  }

  /** Takes the threads that the index has as due. */
  async #takeDue(): Promise<number> {
    const { store, workflow, now, storeNow } = this.#place;
    const { poll = POLL } = this.#options;
    let wait = Number.POSITIVE_INFINITY;
    for await (const { thread, due, leasedUntil } of store.due({ workflow, before: now() + poll, leased: true })) {
      if (this.#stopping) break;
      if (due > now()) wait = Math.min(wait, due - now());
      else if (this.#running.has(thread)) this.#skipped.add(thread);
      else if (leasedUntil !== undefined) wait = Math.min(wait, leasedUntil - storeNow() + AFTER_LEASE);
      else if (this.#passed.get(thread) !== due) await this.#offer(thread, due);
    }
    return wait;
  }

  /** Looks at all unfinished threads now and then. */
  async #scan(): Promise<number> {
    if (this.#scanAt > performance.now()) return Number.POSITIVE_INFINITY;
    this.#scanAt = performance.now() + SCAN;
    const { store, workflow, now } = this.#place;
    const outlook: Outlook = { due: Number.POSITIVE_INFINITY };
    for await (const { thread } of findCandidates(store, workflow, { failed: false, now: now() }, outlook)) {
      if (this.#stopping) break;
      await this.#offer(thread);
    }
    return outlook.due - now();
  }

  /** Takes the run of a thread as soon as there is a slot for it, if it can go on. */
  async #offer(thread: string, due?: number): Promise<void> {
    // The index says of a due thread that nobody has leased it.
    const isHeld = due === undefined && (this.#retryAt.get(thread) ?? 0) > performance.now();
    if (this.#running.has(thread) || isHeld) return;
    await this.#slots.enter();
    if (this.#stopping || this.#running.has(thread)) {
      this.#slots.leave();
      return;
    }
    this.#retryAt.delete(thread);
    this.#passed.delete(thread);
    const run = this.#take(thread).then((outcome) => {
      this.#running.delete(thread);
      this.#slots.leave();
      // A message may have come at the end of the run.
      if (outcome === "went") this.#hear(thread, "once");
      if (outcome === "cannot" && due !== undefined) this.#passed.set(thread, due);
      if (this.#skipped.delete(thread)) this.#tell();
    });
    this.#running.set(thread, run);
  }

  /** Takes the run of a thread if it can go on. */
  async #take(id: string): Promise<"went" | "cannot" | "failed"> {
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
      return result === undefined ? "cannot" : "went";
    } catch (error) {
      const isBusy = ThreadmarkError.is(error, "BUSY");
      const wait = isBusy ? (error.remaining ?? 0) + AFTER_LEASE : (this.#options.poll ?? POLL);
      this.#retryAt.set(id, performance.now() + wait);
      if (!isBusy) tell({ thread: id, error });
      return "failed";
    }
  }

  /** Waits for news, the next time that something is due, the end of another's lease, or the next look. */
  async #rest(wait: number): Promise<void> {
    if (this.#news) return;
    const { timer } = this.#place;
    const leases = [...this.#retryAt.values()].map((at) => at - performance.now());
    const rest = Math.max(0, Math.min(this.#options.poll ?? POLL, wait, ...leases));
    await new Promise<void>((resolve) => {
      const clear = timer(rest, resolve);
      this.#wake = () => {
        clear();
        resolve();
      };
    });
  }

  /** Notes that a thread has news. */
  #hear(thread: string, at: "once" | "soon"): void {
    // A run at work here sees its messages itself, and is looked at again when it ends.
    if (this.#running.has(thread)) return;
    this.#passed.delete(thread);
    if (at === "soon") {
      this.#soon ??= setTimeout(() => {
        this.#soon = undefined;
        this.#tell();
      }, SOON);
      return;
    }
    this.#retryAt.delete(thread);
    this.#heard.add(thread);
    this.#tell();
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

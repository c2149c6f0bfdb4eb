import type { Batch } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { Attempts, Contention, PATIENCE } from "../../platform/attempts.ts";
import { atEndOfTurn, soon } from "../../platform/turns.ts";
import { wasOvertaken } from "../faults/overtaken.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { inThread } from "../records/size-limits.ts";
import { ALONE, Draft } from "./draft.ts";
import type { Committer } from "./group-commit.ts";

/** A change of one thread: planned against the tape as it is known, and planned again when that proved stale. */
export interface Change<T> {
  /** Adds to the draft what has to be written, and returns what to tell the caller once it is. When it throws, nothing is added. */
  plan(draft: Draft): T | Promise<T>;
  /** The change looks at all there is, so it has to know what others have appended: the tape is read just before. */
  readonly fresh?: boolean;
  /**
   * Waits for the end of the turn, unless another change of the thread comes that does not: what a task wrote is mostly
   * followed by the checkpoint of its step, and shares its commit.
   */
  readonly patient?: boolean;
  /** Called once, when the change has been committed or has failed. */
  settled?(): void;
}

interface Queued {
  readonly change: Change<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const GROUP = 256;

/** A change that was planned already, or is being planned. */
interface Begun {
  readonly tape: Tape;
  readonly draft: Draft;
  readonly planned: unknown;
}

/**
 * The changes of one thread, in the order they were asked for. Those that wait together are committed together. When
 * the commit is refused, somebody else was first: the tape is read again and the changes are planned again.
 *
 * What nearly every put is, one change planned on what is remembered, takes no promises but the caller's and the
 * backend's. Everything else goes the long way round, {@link Lane.#run}.
 */
export class Lane {
  readonly #context: Context;
  readonly #committer: Committer;
  readonly #thread: string;
  readonly #contention = new Contention();
  #queue: Queued[] = [];
  #running = false;
  /** Nothing is begun yet: all that is asked for so far is patient. */
  #waiting = false;
  readonly #startAtLast = (): void => {
    if (this.#waiting) this.#start();
  };
  readonly #start = (): void => {
    this.#waiting = false;
    const [only] = this.#queue;
    const tape = this.#context.rememberedThread(this.#thread);
    if (this.#contention.isHigh) return void this.#contention.pause().then(() => this.#run());
    if (!only || this.#queue.length > 1 || only.change.fresh || !tape || tape.meta.dead) return void this.#run();
    this.#queue = [];
    this.#commitOne(only, tape);
  };

  constructor(context: Context, committer: Committer, thread: string) {
    this.#context = context;
    this.#committer = committer;
    this.#thread = thread;
  }

  get idle(): boolean {
    return !this.#running;
  }

  add<T>(change: Change<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ change, resolve: resolve as (result: unknown) => void, reject });
      if (this.#running) {
        if (this.#waiting && !change.patient) this.#schedule();
        return;
      }
      this.#running = true;
      this.#context.calls.enter();
      this.#schedule();
    });
  }

  #schedule(): void {
    this.#waiting = this.#queue.every(({ change }) => change.patient);
    if (this.#waiting) atEndOfTurn(this.#startAtLast);
    else soon(this.#start);
  }

  /** A remembered tape may be stale. That is found out by the commit, at the price of planning again. */
  #commitOne(entry: Queued, tape: Tape): void {
    const draft = new Draft(this.#context, this.#thread, tape, false);
    let planned: unknown;
    let batch: Batch | undefined;
    try {
      planned = entry.change.plan(draft);
      if (!(planned instanceof Promise)) {
        const made = draft.batch();
        if (!(made instanceof Promise)) batch = made;
      }
    } catch (error) {
      planned = Promise.reject(error);
    }
    if (batch === undefined) return void this.#run([entry], { tape, draft, planned });
    const outcome = (applied: boolean, failure?: unknown): void => {
      if (!applied) return void this.#retry(entry, draft, planned, failure);
      draft.absorb();
      this.#contention.succeeded();
      entry.resolve(planned);
      entry.change.settled?.();
      this.#next();
    };
    this.#committer.submit(batch, outcome, this.#context.calls.active === 1);
  }

  #next(): void {
    if (this.#queue.length > 0) {
      this.#schedule();
      return;
    }
    this.#running = false;
    this.#context.calls.leave();
  }

  async #retry(entry: Queued, draft: Draft, planned: unknown, failure: unknown): Promise<void> {
    if (failure === undefined) {
      this.#contention.overtaken();
      return this.#run([entry], undefined, true);
    }
    try {
      await this.#recover(draft, failure, false);
      entry.resolve(planned);
    } catch (error) {
      entry.reject(error);
    }
    entry.change.settled?.();
    this.#next();
  }

  async #run(group: Queued[] = this.#queue.splice(0, GROUP), begun?: Begun, overtaken = false): Promise<void> {
    try {
      await this.#commit(group, begun, overtaken);
    } catch (error) {
      for (const entry of group) entry.reject(inThread(error, this.#thread));
    }
    for (const entry of group) entry.change.settled?.();
    this.#next();
  }

  /** `overtaken`: an attempt of the group was refused already. */
  async #commit(group: Queued[], begun: Begun | undefined, overtaken: boolean): Promise<void> {
    const attempts = new Attempts(this.#contention);
    // Where others write too, a remembered tape is probably out of date.
    const isRead = overtaken || this.#contention.isHigh;
    let tape = begun?.tape ?? (isRead ? undefined : this.#context.rememberedThread(this.#thread));
    if (!tape || tape.meta.dead || group[0]?.change.fresh) tape = await this.#context.thread(this.#thread);
    for (let again = overtaken; ; again = true) {
      const first = again ? undefined : begun;
      const fresh = again || tape === undefined;
      let draft = first?.draft ?? new Draft(this.#context, this.#thread, tape, fresh, again);
      const results: (() => void)[] = [];
      let stale = false;
      // Whether there is an answer. If nothing is to be written, no commit proves that the tape was so all the while.
      let decided = false;
      for (const [index, entry] of group.entries()) {
        if (draft.closed || draft.heavy || (entry.change.fresh && index > 0)) {
          this.#queue.unshift(...group.splice(index));
          break;
        }
        const undo = draft.mark();
        try {
          // What was begun is one change alone in its draft.
          const planned = first ? first.planned : entry.change.plan(draft);
          const result = planned instanceof Promise ? await planned : planned;
          decided = true;
          results.push(() => entry.resolve(result));
        } catch (error) {
          const { overtaken } = draft;
          if (first) draft = new Draft(this.#context, this.#thread, tape, fresh, again);
          else undo();
          if (error === ALONE) {
            this.#queue.unshift(...group.splice(index));
            break;
          }
          const isStale = async (): Promise<boolean> => tape !== undefined && (await this.#isStale(tape));
          // Only what was decided on a fresh tape is an answer.
          if (overtaken || (await wasOvertaken(error, isStale)) || (!draft.fresh && (await isStale()))) {
            stale = true;
            break;
          }
          results.push(() => entry.reject(inThread(error, this.#thread)));
        }
      }
      if (!stale && !draft.overtaken) {
        const made = draft.batch();
        const batch = made instanceof Promise ? await made : made;
        if (batch === undefined) stale = decided && tape !== undefined && (await this.#isStale(tape));
        if (batch === undefined ? !stale : await this.#apply(batch, draft, again)) {
          this.#contention.succeeded();
          for (const settle of results) settle();
          return;
        }
      }
      if (!(await attempts.again())) throw this.#busy();
      tape = await this.#context.thread(this.#thread);
    }
  }

  #busy(): ThreadmarkError {
    return new ThreadmarkError(
      "BUSY",
      `Thread ${JSON.stringify(this.#thread)} was changed by others again and again for ${PATIENCE / 1000} seconds. Try again, or use a lease.`,
      { thread: this.#thread, committed: false },
    );
  }

  async #apply(batch: Batch, draft: Draft, again: boolean): Promise<boolean> {
    try {
      const applied = await this.#committer.commit(batch);
      if (applied) draft.absorb();
      return applied;
    } catch (failure) {
      await this.#recover(draft, failure, again);
      return true;
    }
  }

  /** After a failure: throws it, unless only the answer was lost and the draft was committed after all. */
  async #recover(draft: Draft, failure: unknown, again: boolean): Promise<void> {
    if (!again && failure instanceof ThreadmarkError && failure.committed === "unknown") {
      // The draft's own records are its token: if they are there, it was committed.
      if (await draft.wasCommitted()) return;
    }
    this.#context.forget(this.#thread);
    throw failure;
  }

  /** Another object may be the same tape, read again: where memory is short, planning itself drives it out. */
  async #isStale(tape: Tape): Promise<boolean> {
    const { name, metaValue, lastSeq } = tape;
    const now = await this.#context.thread(this.#thread);
    return now?.name !== name || now.metaValue !== metaValue || now.lastSeq !== lastSeq;
  }
}

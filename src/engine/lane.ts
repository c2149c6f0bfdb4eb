import type { Batch } from "../backend.ts";
import { ThreadmarkError } from "../errors.ts";
import { Draft } from "./draft.ts";
import type { Engine } from "./engine.ts";
import type { Tape } from "./tape.ts";

/** A change of one thread: planned against the tape as it is known, and planned again when that proved stale. */
export interface Change<T> {
  /** Adds to the draft what has to be written, and returns what to tell the caller once it is. When it throws, nothing is added. */
  plan(draft: Draft): T | Promise<T>;
  /** The change looks at all there is, so it has to know what others have appended: the tape is read just before. */
  readonly fresh?: boolean;
  /** Called once, when the change has been committed or has failed. */
  settled?(): void;
}

/** Thrown by a plan that cannot share a draft with what was planned before it. */
export const ALONE: unique symbol = Symbol("alone");

interface Queued {
  readonly change: Change<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const GROUP = 256;
const ATTEMPTS = 100;

/**
 * The changes of one thread, in the order they were asked for. Those that wait together are committed together. When
 * the commit is refused, somebody else was first: the tape is read again and the changes are planned again.
 */
export class Lane {
  readonly #engine: Engine;
  readonly #thread: string;
  readonly #idle: () => void;
  #queue: Queued[] = [];
  #running = false;

  constructor(engine: Engine, thread: string, idle: () => void) {
    this.#engine = engine;
    this.#thread = thread;
    this.#idle = idle;
  }

  add<T>(change: Change<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ change, resolve: resolve as (result: unknown) => void, reject });
      if (!this.#running) {
        this.#running = true;
        queueMicrotask(() => void this.#run());
      }
    });
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, GROUP);
      try {
        await this.#commit(group);
      } catch (error) {
        for (const entry of group) entry.reject(error);
      }
      for (const entry of group) entry.change.settled?.();
    }
    this.#running = false;
    this.#idle();
  }

  async #commit(group: Queued[]): Promise<void> {
    let tape: Tape | undefined = this.#engine.rememberedThread(this.#thread);
    // A remembered tape may be stale. That is found out by the commit, at the price of planning again.
    if (!tape || tape.meta.dead || group[0]?.change.fresh) tape = await this.#engine.thread(this.#thread);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const fresh = attempt > 0 || tape === undefined;
      const draft = new Draft(this.#engine, this.#thread, tape, fresh);
      const results: (() => void)[] = [];
      let stale = false;
      for (const [index, entry] of group.entries()) {
        if (draft.closed || (entry.change.fresh && index > 0)) {
          this.#queue.unshift(...group.splice(index));
          break;
        }
        const undo = draft.mark();
        try {
          const planned = entry.change.plan(draft);
          const result = planned instanceof Promise ? await planned : planned;
          results.push(() => entry.resolve(result));
        } catch (error) {
          undo();
          if (error === ALONE) {
            this.#queue.unshift(...group.splice(index));
            break;
          }
          // Only what was decided on a fresh tape is an answer.
          if (!draft.fresh && (await this.#isStale(tape as Tape))) {
            stale = true;
            break;
          }
          results.push(() => entry.reject(error));
        }
      }
      if (!stale && !draft.overtaken) {
        const batch = await draft.batch();
        if (batch === undefined || (await this.#apply(batch, draft, attempt))) {
          for (const settle of results) settle();
          return;
        }
      }
      tape = await this.#engine.thread(this.#thread);
      if (attempt > 10) await new Promise((resolve) => setTimeout(resolve, Math.random() * attempt));
    }
    throw new ThreadmarkError(
      "BACKEND",
      `Thread ${JSON.stringify(this.#thread)} was changed by others ${ATTEMPTS} times in a row. Try again, or use a lease.`,
      { thread: this.#thread, committed: false },
    );
  }

  async #apply(batch: Batch, draft: Draft, attempt: number): Promise<boolean> {
    try {
      const applied = await this.#engine.committer.commit(batch);
      if (applied) draft.absorb();
      return applied;
    } catch (error) {
      if (attempt === 0 && error instanceof ThreadmarkError && error.committed === "unknown") {
        // The answer was lost. The ids of the draft's checkpoints are its token: if they are there, it was committed.
        if (await draft.wasCommitted()) return true;
      }
      this.#engine.forget(this.#thread);
      throw error;
    }
  }

  async #isStale(tape: Tape): Promise<boolean> {
    const before = { meta: tape.metaValue, last: tape.lastSeq };
    const now = await this.#engine.thread(this.#thread);
    return now !== tape || now.metaValue !== before.meta || now.lastSeq !== before.last;
  }
}

import { ThreadmarkError } from "../../errors.ts";

/** Milliseconds for which a process goes on committing while others want the lock. */
const sliceMilliseconds = 10;
/** The least milliseconds for which it then stands back (at most twice as long), so that another process gets in. */
const standBackMilliseconds = 4;
/** Milliseconds for which others count as waiting after the lock was last found taken. */
const contentionMilliseconds = 1000;
/** Milliseconds between two commits that end a slice by themselves: others had their chance. */
const pauseMilliseconds = 2;

interface Waiting {
  readonly since: number;
  /** Tries once. Returns false if the lock was taken, else settles the caller's promise. */
  attempt(): boolean;
  giveUp(waited: number): void;
}

/**
 * Shares SQLite's one write lock among processes. SQLite's own busy handler sleeps longer the longer it waits, so that
 * a busy writer starves the others for seconds. Here writers work in slices, step aside when others are waiting, and
 * poll more often the longer they wait: every process gets its share, at a small cost in throughput.
 *
 * The slices also let the event loop run, which a loop of synchronous commits would never do.
 */
export class LockSharing {
  readonly #isBusy: (error: unknown) => boolean;
  readonly #patience: number;
  readonly #queue: Waiting[] = [];
  #scheduled = false;
  #sliceStart = 0;
  #lastEnd = Number.NEGATIVE_INFINITY;
  #contendedUntil = Number.NEGATIVE_INFINITY;

  /** Takes the number of milliseconds, `patience`, that an action waits for the lock before it fails with BUSY. */
  constructor(isBusy: (error: unknown) => boolean, patience: number) {
    this.#isBusy = isBusy;
    this.#patience = patience;
  }

  /**
   * Runs an action that takes the write lock: at once if the slice allows it and the lock is free, else in order of
   * arrival. The action gets the time of its start.
   */
  write<Result>(action: (now: number) => Result): Promise<Result> {
    const now = performance.now();
    if (this.#queue.length > 0 || this.#sliceIsOver(now)) return this.#wait(action);
    try {
      return Promise.resolve(this.#run(action, now));
    } catch (error) {
      if (!this.#isBusy(error)) return Promise.reject(error);
      this.#sawOthers();
      return this.#wait(action);
    }
  }

  /** Runs an action that only reads: it does not queue, and waits only while a file is being recovered or closed. */
  read<Result>(action: () => Result): Promise<Result> {
    try {
      return Promise.resolve(action());
    } catch (error) {
      return this.#isBusy(error) ? this.#readAgain(action, error) : Promise.reject(error);
    }
  }

  async #readAgain<Result>(action: () => Result, first: unknown): Promise<Result> {
    const since = performance.now();
    let busy = first;
    for (;;) {
      const waited = performance.now() - since;
      if (waited > this.#patience) throw tooBusy(waited, busy);
      await new Promise((resolve) => setTimeout(resolve, pollDelay(waited)));
      try {
        return action();
      } catch (error) {
        if (!this.#isBusy(error)) throw error;
        busy = error;
      }
    }
  }

  #run<Result>(action: (now: number) => Result, start: number): Result {
    const result = action(start);
    if (start - this.#lastEnd > pauseMilliseconds) this.#sliceStart = start;
    this.#lastEnd = performance.now();
    return result;
  }

  #sliceIsOver(now: number): boolean {
    return now - this.#sliceStart > sliceMilliseconds && now - this.#lastEnd <= pauseMilliseconds;
  }

  #sawOthers(): void {
    this.#contendedUntil = performance.now() + contentionMilliseconds;
  }

  #wait<Result>(action: (now: number) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      let busy: unknown;
      this.#queue.push({
        since: performance.now(),
        attempt: () => {
          try {
            resolve(this.#run(action, performance.now()));
          } catch (error) {
            if (this.#isBusy(error)) {
              busy = error;
              return false;
            }
            reject(error);
          }
          return true;
        },
        giveUp: (waited) => reject(tooBusy(waited, busy)),
      });
      this.#schedule();
    });
  }

  #schedule(): void {
    const [first] = this.#queue;
    if (first === undefined || this.#scheduled) return;
    this.#scheduled = true;
    const now = performance.now();
    const resume = (): void => {
      this.#scheduled = false;
      this.#work();
    };
    if (!this.#sliceIsOver(now)) setTimeout(resume, pollDelay(now - first.since));
    else if (now < this.#contendedUntil) setTimeout(resume, standBackMilliseconds * (1 + Math.random()));
    else setImmediate(resume);
  }

  /** Serves the queue until it is empty, the slice is over, or the lock is taken. */
  #work(): void {
    // A queued action starts a new slice: the pause that ended the old one may have been as short as a turn of the
    // event loop.
    this.#sliceStart = performance.now();
    for (let first = this.#queue[0]; first !== undefined; first = this.#queue[0]) {
      if (this.#sliceIsOver(performance.now())) break;
      if (first.attempt()) {
        this.#queue.shift();
        continue;
      }
      this.#sawOthers();
      const waited = performance.now() - first.since;
      if (waited <= this.#patience) break;
      this.#queue.shift();
      first.giveUp(waited);
    }
    this.#schedule();
  }
}

/**
 * Returns the milliseconds to the next attempt, jittered, and fewer with age, so that the longest wait is likely to end
 * next. Twice as many attempts were no fairer, and slow down the process that holds the lock.
 */
function pollDelay(waited: number): number {
  const base = waited < 50 ? 6 : waited < 100 ? 3 : 1;
  return base * (0.5 + Math.random());
}

function tooBusy(waited: number, cause: unknown): ThreadmarkError {
  const seconds = (waited / 1000).toFixed(1);
  const message = `SQLite: other processes kept the database locked for ${seconds} s. Nothing was written; try again.`;
  return new ThreadmarkError("BUSY", message, { cause });
}

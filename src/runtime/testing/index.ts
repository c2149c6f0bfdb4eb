import type { Clock } from "../control/clock.ts";

/**
 * A clock that stands still until a test moves it. Give it to the store and to the flow: sleeps, time limits, retries and
 * leases then go by it, and nothing has to be waited for.
 *
 * @example
 * const clock = new FakeClock();
 * const store = await open("memory:", { clock: clock.now });
 * const flow = graph("order").node("nap", (_, ctx) => ctx.sleep(60_000)).compile({ store, clock });
 * await clock.advance(60_000);
 */
export class FakeClock implements Clock {
  #time: number;
  /** Counts the looks at the clock: while there are any, something is at work. */
  #looks = 0;
  #timers: { readonly at: number; readonly call: () => void }[] = [];

  /** @param time The time to begin at, in milliseconds since 1970. @default 2030-01-01 */
  constructor(time: number = Date.UTC(2030, 0, 1)) {
    this.#time = time;
  }

  /** Returns the time. It can be passed on without its clock, as to `open(url, { clock: clock.now })`. */
  readonly now: () => number = () => {
    this.#looks += 1;
    return this.#time;
  };

  readonly after: Clock["after"] = (milliseconds, call) => {
    this.#looks += 1;
    const timer = { at: this.#time + milliseconds, call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  /**
   * Moves the time on, and calls what is due on the way, in its order. Work that looks at the clock goes on in between until it rests;
   * what takes long without that (a real request, a module that is loaded) a test has to wait for by itself.
   *
   * @example
   * await clock.advance(60_000);
   */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#time + milliseconds;
    for (;;) {
      await this.#quiet();
      const [next] = this.#timers.filter(({ at }) => at <= end).sort((left, right) => left.at - right.at);
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#time = Math.max(this.#time, next.at);
      next.call();
    }
    this.#time = end;
    await this.#quiet();
  }

  /** Lets the event loop turn until nothing has looked at the clock for some turns. */
  async #quiet(): Promise<void> {
    let looks = this.#looks;
    for (let turns = 0, quiet = 0; turns < 2_000 && quiet < 20; turns += 1) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      quiet = looks === this.#looks ? quiet + 1 : 0;
      looks = this.#looks;
    }
  }
}

/**
 * Makes a function fail as a script says: each entry is the error of one call, or undefined for a call that goes through. Calls
 * after the script go through.
 *
 * @example
 * const charge = scripted([new Error("down"), undefined], () => "receipt");
 */
export function scripted<Args extends readonly unknown[], Value>(
  script: readonly unknown[],
  run: (...args: Args) => Value,
): (...args: Args) => Value {
  let calls = 0;
  return (...args) => {
    const failure = script[calls];
    calls += 1;
    if (failure !== undefined) throw failure;
    return run(...args);
  };
}

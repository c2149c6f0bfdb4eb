import { timers } from "./node-builtins.ts";

const settled = Promise.resolve();

/** Runs a function in a later microtask. Cheaper than `queueMicrotask`, which makes an async resource for each call. */
export function soon(run: () => void): void {
  void settled.then(run);
}

// Captured now: a test may replace the global timers by a clock that stands still while something is awaited.
const { setImmediate: afterTurn, setTimeout: after } = timers;

let waiting: (() => void)[] = [];

function runAll(): void {
  const all = waiting;
  waiting = [];
  for (const run of all) run();
}

/**
 * Runs a function at the end of the event loop's turn, together with all others of that turn, so that their commits are
 * grouped.
 */
export function atEndOfTurn(run: () => void): void {
  if (waiting.push(run) === 1) afterTurn(runAll);
}

/**
 * Lets the event loop run. Work on a whole store needs it: with a backend that answers synchronously, timers, requests
 * and Ctrl-C would otherwise wait for the end of the work.
 */
export function nextTurn(): Promise<void> {
  return new Promise(atEndOfTurn);
}

/** Waits for some milliseconds, at least until the next turn of the event loop. Keeps the process alive. */
export function rest(milliseconds: number): Promise<void> {
  return milliseconds < 1 ? nextTurn() : new Promise((resolve) => void after(resolve, milliseconds));
}

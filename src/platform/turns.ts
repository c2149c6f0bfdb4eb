import { timers } from "./node-builtins.ts";

const settled = Promise.resolve();

/** Runs a function a turn of the promises later. Cheaper than `queueMicrotask`, which makes an async resource for each call. */
export function soon(run: () => void): void {
  void settled.then(run);
}

// As it is now: tests may put clocks of their own in its place, on which nothing that is awaited would ever come.
const { setImmediate: afterTurn } = timers;

let waiting: (() => void)[] = [];

function runAll(): void {
  const all = waiting;
  waiting = [];
  for (const run of all) run();
}

/** Runs a function when the turn of the event loop is over; all of one turn in one go, so that their commits meet. */
export function atEndOfTurn(run: () => void): void {
  if (waiting.push(run) === 1) afterTurn(runAll);
}

/**
 * Lets everybody else have a turn. For work that goes through a whole store: a backend that answers at once never would,
 * and timers, requests and Ctrl-C would wait for the end of it.
 */
export function nextTurn(): Promise<void> {
  return new Promise(atEndOfTurn);
}

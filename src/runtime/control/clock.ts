/** The time that a flow goes by. A test gives its own; see `threadmark/runtime/testing`. */
export interface Clock {
  /** Returns the time in milliseconds since 1970. */
  now(): number;
  /** Calls a function after some milliseconds. Returns a function that takes that back. */
  after(milliseconds: number, call: () => void): () => void;
}

/** Calls a function after some milliseconds. Returns a function that takes that back. */
export type Timer = Clock["after"];

/** The longest delay of a timer in milliseconds; a longer one would fire at once. */
export const LONGEST: number = 2 ** 31 - 1;

/** Sets a timer of the system. */
export const systemTimer: Timer = (milliseconds, call) => {
  const timer = setTimeout(call, Math.min(milliseconds, LONGEST));
  return () => clearTimeout(timer);
};

import type { Store } from "../api/store.ts";
import type { Capabilities } from "../backend.ts";
import type { OpenOptions } from "../model/arguments.ts";

/** A state of any shape: a case decides what it puts. */
// biome-ignore lint/suspicious/noExplicitAny: the cases put states of every shape and look into them freely.
export type Free = Record<string, any>;

/** A clock that stands still until a case moves it. Every store a context opens reads this one. */
export interface ManualClock {
  now(): number;
  advance(milliseconds: number): void;
}

/** What a case gets: a fresh place of its own, and a clock. */
export interface Context {
  readonly capabilities: Capabilities;
  readonly clock: ManualClock;
  /**
   * Opens the case's location: the first time it is empty, after that it is the same one again, also while an earlier
   * store is still open. Where `processes` is not among the capabilities, only one of the open stores writes. Stores still
   * open when the case ends are closed for it.
   */
  open<State = Free>(options?: OpenOptions): Promise<Store<State>>;
}

/** One behaviour that a backend must show. It passes by resolving and fails by rejecting with an AssertionError. */
export interface Case {
  /** `operation: what must hold`. Unique. */
  readonly name: string;
  /** The case is skipped, and said to be, on a backend that lacks one of these. */
  readonly requires?: readonly (keyof Capabilities)[];
  run(context: Context): Promise<void>;
}

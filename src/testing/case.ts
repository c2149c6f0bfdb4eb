import type { Store } from "../api/store.ts";
import type { Capabilities } from "../backend.ts";
import type { OpenOptions } from "../model/interface/store-options.ts";

/** A state of any shape: a case decides what it puts. */
// biome-ignore lint/suspicious/noExplicitAny: the cases put states of every shape and look into them freely.
export type Free = Record<string, any>;

/** A clock that stands still until a case moves it. Every store of a context reads this clock. */
export interface ManualClock {
  now(): number;
  advance(milliseconds: number): void;
}

/** The parameters of a case: a fresh location of its own, and a clock. */
export interface CaseContext {
  readonly capabilities: Capabilities;
  readonly clock: ManualClock;
  /**
   * Opens the case's location: empty the first time, and the same location after that, even while an earlier store is
   * still open. Without the capability `processes`, only one of the open stores may write. Stores still open at the end
   * of the case are closed.
   */
  open<State = Free>(options?: OpenOptions): Promise<Store<State>>;
}

/** A behaviour that every backend must show. It passes by resolving and fails by rejecting with an AssertionError. */
export interface Case {
  /** `operation: what must hold`. Unique. */
  readonly name: string;
  /** Capabilities without which the case is skipped, with them as the reason. */
  readonly requires?: readonly (keyof Capabilities)[];
  run(context: CaseContext): Promise<void>;
}

import type { IndexEntry } from "../../../backend.ts";
import type { SweepResult } from "../../../model/retention/sweep.ts";

/** Notes about the sweeps of a store: see `Sweeper`. */
export interface SweeperRecord {
  readonly last?: Omit<SweepResult, "damaged"> & { readonly damaged?: number; readonly at: number };
  /** When the next sweep is due. */
  readonly next?: number;
  /** A pass for each set of rules, the latest first. */
  readonly passes: readonly Pass[];
}

/** How far the threads of a store were looked at under some rules. */
export interface Pass {
  /** The rules as text. */
  readonly rules: string;
  /** Threads that were last active before this moment were looked at. */
  readonly upTo: number;
  /** When all threads were last looked at, whatever their activity. */
  readonly all: number;
  /** The pass that was begun and not ended. */
  readonly begun?: {
    readonly at: number;
    readonly isAll: boolean;
    /** The place that it has come to: a range of the index, and the last entry in it. */
    readonly range: number;
    readonly after?: IndexEntry;
  };
}

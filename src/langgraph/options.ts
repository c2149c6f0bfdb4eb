import type { ExclusiveOptions } from "./runs/exclusive.ts";

/** Options of a saver. */
export interface SaverOptions {
  /**
   * Allows only a single run at a time on a thread, in all processes: a second run is refused with `BUSY` before it does any
   * work. Default false: runs on a thread go side by side, each on a branch of its own.
   */
  readonly exclusive?: boolean | ExclusiveOptions;
  /**
   * Looks at every step for messages that a node has changed in place, which costs about 100 ns for each message of the state.
   * False takes a message object that was stored once to be unchanged: a change that is made in place, instead of by a new
   * message, is then not stored. @default true
   */
  readonly changesInPlace?: boolean;
  /**
   * Names of metadata that become attributes of the thread, copied from the config of every run: `list` with a filter on one
   * of them then looks at the threads that have the value, instead of all. For values that a thread keeps: a thread is found by
   * its latest value, and only once it was saved under this option. @default []
   */
  readonly attributes?: readonly string[];
}

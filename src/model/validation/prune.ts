import type { PruneSettings } from "../interface/options.ts";
import { checkBoolean, checkInteger, checkNumber, checkOneOf, checkOptions, checkSignal, optional } from "./checks.ts";

const pruneKeys: readonly (keyof PruneSettings)[] = [
  "keepLast",
  "olderThan",
  "keepLabelled",
  "ancestors",
  "dryRun",
  "signal",
];

/** Checks the options of prune. Without a rule the defaults would delete all checkpoints but one. */
export function checkPruneOptions(options: PruneSettings): void {
  const fields = checkOptions(options, pruneKeys, "prune");
  optional(fields, "keepLast", (value, what) => checkInteger(value, what, 0));
  optional(fields, "olderThan", checkNumber);
  optional(fields, "keepLabelled", checkBoolean);
  optional(fields, "ancestors", (value, what) => checkOneOf(value, ["truncate", "protect"], what));
  optional(fields, "dryRun", checkBoolean);
  optional(fields, "signal", checkSignal);
  if (fields["keepLast"] === undefined && fields["olderThan"] === undefined) {
    throw new TypeError("prune needs a rule: say what to keep with keepLast, olderThan or both.");
  }
}

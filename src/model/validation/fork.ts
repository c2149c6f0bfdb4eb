import { checkId } from "../address.ts";
import type { CopyOptions, ForkOptions } from "../interface/options.ts";
import { checkBoolean, checkOneOf, checkOptions, checkPlainObject, checkText, optional } from "./checks.ts";
import { checkRef } from "./refs.ts";

const forkKeys: readonly (keyof ForkOptions<unknown>)[] = ["at", "into", "edits", "history", "label", "detached"];

export function checkForkOptions(options: ForkOptions<unknown>): void {
  const fields = checkOptions(options, forkKeys, "fork");
  optional(fields, "at", checkRef);
  optional(fields, "into", checkId);
  optional(fields, "edits", checkPlainObject);
  optional(fields, "history", (value, what) => checkOneOf(value, ["ancestors", "none"], what));
  optional(fields, "label", checkText);
  optional(fields, "detached", checkBoolean);
}

export function checkCopyOptions(options: CopyOptions): void {
  optional(checkOptions(options, ["detached"], "copy"), "detached", checkBoolean);
}

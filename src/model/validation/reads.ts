import { checkId } from "../address.ts";
import { sources } from "../checkpoint.ts";
import type { HistoryOptions, LatestOptions, ThreadOptions, ThreadsOptions } from "../options.ts";
import { statuses } from "../status.ts";
import {
  checkBoolean,
  checkInteger,
  checkLimit,
  checkObject,
  checkOneOf,
  checkOptions,
  checkSignal,
  checkText,
  optional,
} from "./checks.ts";
import { checkRef } from "./refs.ts";

const threadKeys: readonly (keyof ThreadOptions)[] = ["namespace"];

export function checkThreadOptions(options: ThreadOptions): void {
  checkOptions(options, threadKeys, "thread");
}

const latestKeys: readonly (keyof LatestOptions)[] = ["by"];

export function checkLatestOptions(options: LatestOptions): void {
  const fields = checkOptions(options, latestKeys, "latest");
  optional(fields, "by", (value, what) => checkOneOf(value, ["commit", "step"], what));
}

/** Checks the checkpoint that `tuple` is asked for: a reference, `{ by }`, or nothing. */
export function checkTupleOf(at: unknown): void {
  if (at === undefined) return;
  if (at === null || typeof at !== "object" || !("by" in at)) checkRef(at, "A checkpoint id");
  else checkOneOf(checkOptions(at, ["by"], "tuple")["by"], ["commit", "id"], "by");
}

const historyKeys: readonly (keyof HistoryOptions)[] = ["limit", "before", "run", "source", "states", "signal"];

export function checkHistoryOptions(options: HistoryOptions): void {
  const fields = checkOptions(options, historyKeys, "history");
  optional(fields, "limit", checkLimit);
  optional(fields, "before", (value, what) =>
    typeof value === "number" ? checkInteger(value, what) : checkRef(value, what),
  );
  optional(fields, "run", checkId);
  optional(fields, "source", (value, what) => checkOneOf(value, sources, what));
  optional(fields, "states", checkBoolean);
  optional(fields, "signal", checkSignal);
}

const threadsKeys: readonly (keyof ThreadsOptions)[] = [
  "workflow",
  "prefix",
  "status",
  "order",
  "limit",
  "after",
  "signal",
];

export function checkThreadsOptions(options: ThreadsOptions): void {
  const fields = checkOptions(options, threadsKeys, "threads");
  optional(fields, "workflow", checkId);
  optional(fields, "prefix", checkText);
  optional(fields, "status", (value, what) => checkOneOf(value, statuses, what));
  optional(fields, "order", (value, what) => checkOneOf(value, ["id", "updated"], what));
  optional(fields, "limit", checkLimit);
  optional(fields, "after", checkId);
  optional(fields, "signal", checkSignal);
}

/** Checks checkpoints as `history` yields them, or anything else that has an id and a seq. */
export function checkNamed(checkpoints: readonly { readonly id: string; readonly seq: number }[]): void {
  if (!Array.isArray(checkpoints)) throw new TypeError("The checkpoints must be an array.");
  for (const checkpoint of checkpoints) {
    const { id, seq } = checkObject(checkpoint, "A checkpoint");
    checkId(id, "A checkpoint id");
    checkInteger(seq, "The seq of a checkpoint", 0);
  }
}

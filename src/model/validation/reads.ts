import { checkId } from "../address.ts";
import { sources } from "../checkpoint.ts";
import type { HistoryOptions, LatestOptions, ThreadOptions } from "../interface/options.ts";
import type { DueOptions, InterruptsOptions, ThreadsOptions, WatchOptions } from "../interface/store-options.ts";
import { changeKinds } from "../interface/watched-changes.ts";
import { statuses } from "../status.ts";
import { checkWhere } from "./attributes.ts";
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
  "run",
  "prefix",
  "status",
  "where",
  "updatedAfter",
  "updatedBefore",
  "order",
  "limit",
  "after",
  "signal",
];

export function checkThreadsOptions(options: ThreadsOptions): void {
  const fields = checkOptions(options, threadsKeys, "threads");
  optional(fields, "workflow", checkId);
  optional(fields, "run", checkId);
  optional(fields, "prefix", checkText);
  optional(fields, "status", checkStatus);
  optional(fields, "where", checkWhere);
  optional(fields, "updatedAfter", checkTime);
  optional(fields, "updatedBefore", checkTime);
  optional(fields, "order", (value, what) => checkOneOf(value, ["id", "updated"], what));
  optional(fields, "limit", checkLimit);
  optional(fields, "after", checkId);
  optional(fields, "signal", checkSignal);
}

const watchKeys: readonly (keyof WatchOptions)[] = ["thread", "workflow", "kinds", "after", "signal"];

export function checkWatchOptions(options: WatchOptions): void {
  const fields = checkOptions(options, watchKeys, "watch");
  optional(fields, "thread", checkId);
  optional(fields, "workflow", checkId);
  optional(fields, "kinds", checkKinds);
  optional(fields, "after", checkText);
  optional(fields, "signal", checkSignal);
}

function checkStatus(value: unknown, what: string): void {
  if (!Array.isArray(value)) checkOneOf(value, statuses, what);
  else for (const [index, one] of value.entries()) checkOneOf(one, statuses, `${what}[${index}]`);
}

function checkTime(value: unknown, what: string): void {
  if (!Number.isFinite(value)) throw new TypeError(`${what} must be a finite number.`);
}

const interruptsKeys: readonly (keyof InterruptsOptions)[] = ["workflow", "where", "limit", "after", "signal"];

export function checkInterruptsOptions(options: InterruptsOptions): void {
  const fields = checkOptions(options, interruptsKeys, "interrupts");
  optional(fields, "workflow", checkId);
  optional(fields, "where", checkWhere);
  optional(fields, "limit", checkLimit);
  optional(fields, "after", checkText);
  optional(fields, "signal", checkSignal);
}

function checkKinds(value: unknown, what: string): void {
  if (!Array.isArray(value) || value.length === 0)
    throw new TypeError(`${what} must be an array of at least one kind.`);
  for (const [index, kind] of value.entries()) checkOneOf(kind, changeKinds, `${what}[${index}]`);
}

const dueKeys: readonly (keyof DueOptions)[] = ["workflow", "before", "leased", "limit", "signal"];

export function checkDueOptions(options: DueOptions): void {
  const fields = checkOptions(options, dueKeys, "due");
  if (fields["workflow"] !== null) checkId(fields["workflow"], "workflow");
  optional(fields, "before", checkTime);
  optional(fields, "leased", checkBoolean);
  optional(fields, "limit", checkLimit);
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

import { checkId } from "./address.ts";
import type {
  AcquireOptions,
  BreakOptions,
  ForkOptions,
  HistoryOptions,
  PruneOptions,
  PutFields,
  PutOptions,
  ThreadsOptions,
  WorkOptions,
  WritesInput,
} from "./arguments.ts";
import { sources, statuses } from "./checkpoint.ts";

/** Checks of arguments, made before any I/O. Misuse is a TypeError that says what was expected. */

type Fields = { readonly [key: string]: unknown };

export function checkObject(value: unknown, what: string): Fields {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new TypeError(`${what} must be an object.`);
  return value as Fields;
}

function checkPlainObject(value: unknown, what: string): Fields {
  const fields = checkObject(value, what);
  const prototype: unknown = Object.getPrototypeOf(fields);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError(`${what} must be a plain object.`);
  return fields;
}

function checkInteger(value: unknown, what: string, least = Number.MIN_SAFE_INTEGER): void {
  if (!Number.isSafeInteger(value) || (value as number) < least) {
    const range = least === Number.MIN_SAFE_INTEGER ? "a safe integer" : `an integer of at least ${least}`;
    throw new TypeError(`${what} must be ${range}.`);
  }
}

function checkNumber(value: unknown, what: string, least: number): void {
  if (typeof value !== "number" || Number.isNaN(value) || value < least)
    throw new TypeError(`${what} must be a number of at least ${least}.`);
}

function checkOneOf(value: unknown, allowed: readonly unknown[], what: string): void {
  if (!allowed.includes(value))
    throw new TypeError(`${what} must be one of ${allowed.map((entry) => JSON.stringify(entry)).join(", ")}.`);
}

function checkText(value: unknown, what: string): void {
  if (typeof value !== "string" || !value.isWellFormed()) throw new TypeError(`${what} must be a well-formed string.`);
}

function checkStrings(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array of strings.`);
  for (const [index, entry] of value.entries()) checkText(entry, `${what}[${index}]`);
}

function checkBoolean(value: unknown, what: string): void {
  if (typeof value !== "boolean") throw new TypeError(`${what} must be true or false.`);
}

function optional(fields: Fields, name: string, check: (value: unknown, what: string) => unknown): void {
  if (fields[name] !== undefined) check(fields[name], name);
}

const nullable =
  (check: (value: unknown, what: string) => unknown) =>
  (value: unknown, what: string): void => {
    if (value !== null) check(value, what);
  };

/** Checks the input of a put. Written out: it runs at every step, and most fields are absent. */
export function checkPutInput(input: unknown): void {
  const fields = checkObject(input, "What is put") as Input;
  const { update } = fields;
  const state = "state" in fields && (fields.state !== undefined || update === undefined);
  if (state === (update !== undefined)) throw new TypeError("put takes exactly one of state and update.");
  checkMetadataFields(fields);
  checkParts(fields);
  if (update !== undefined) checkUpdate(update);
}

type Input = { readonly [Name in keyof PutFields | "state" | "update"]?: unknown };

/** Checks the fields that a checkpoint's metadata is made of, whether they were put or come from a bundle. */
export function checkMetadataFields(fields: Input): void {
  const { id, step, source, node, run, workflow, label, createdAt, stateVersion, metadata } = fields;
  if (id !== undefined) checkId(id, "id");
  if (step !== undefined) checkInteger(step, "step");
  if (source !== undefined) checkOneOf(source, sources, "source");
  if (node !== undefined && node !== null) checkText(node, "node");
  if (run !== undefined && run !== null) checkId(run, "run");
  if (workflow !== undefined && workflow !== null) checkId(workflow, "workflow");
  if (label !== undefined) checkText(label, "label");
  if (createdAt !== undefined && !Number.isFinite(createdAt)) throw new TypeError("createdAt must be a finite number.");
  if (stateVersion !== undefined) checkInteger(stateVersion, "stateVersion");
  if (metadata !== undefined) checkPlainObject(metadata, "metadata");
}

/** Checks the parts of a checkpoint's body besides the state, whether they were put or come from storage. */
export function checkParts({ path, next, completed, interrupts, barriers }: Input): void {
  if (path !== undefined) checkStrings(path, "path");
  if (next !== undefined) checkNext(next, "next");
  if (completed !== undefined) checkStrings(completed, "completed");
  if (interrupts !== undefined) checkInterrupts(interrupts, "interrupts");
  if (barriers !== undefined) checkBarriers(barriers, "barriers");
}

function checkNext(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array of node names and activations.`);
  for (const [index, entry] of value.entries()) {
    if (typeof entry === "string") {
      if (!entry.isWellFormed()) checkText(entry, `${what}[${index}]`);
      continue;
    }
    const activation = checkObject(entry, `${what}[${index}]`);
    checkText(activation["node"], `${what}[${index}].node`);
    if (activation["task"] !== undefined) checkText(activation["task"], `${what}[${index}].task`);
    checkKeys(activation, ["node", "task", "arg"], `${what}[${index}]`);
  }
}

function checkInterrupts(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array.`);
  for (const [index, entry] of value.entries()) {
    const interrupt = checkObject(entry, `${what}[${index}]`);
    checkText(interrupt["id"], `${what}[${index}].id`);
    checkText(interrupt["node"], `${what}[${index}].node`);
  }
}

function checkBarriers(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array.`);
  for (const [index, entry] of value.entries()) {
    const barrier = checkObject(entry, `${what}[${index}]`);
    checkText(barrier["node"], `${what}[${index}].node`);
    checkStrings(barrier["arrived"], `${what}[${index}].arrived`);
  }
}

function checkKeys(fields: Fields, known: readonly string[], what: string): void {
  for (const key of Object.keys(fields)) {
    if (!known.includes(key))
      throw new TypeError(`${what} has an unknown key ${JSON.stringify(key)}; known are ${known.join(", ")}.`);
  }
}

const updateKeys = ["append", "set", "unset"];

function checkUpdate(value: unknown): void {
  const update = checkObject(value, "update");
  checkKeys(update, updateKeys, "update");
  const append = update["append"] === undefined ? {} : checkPlainObject(update["append"], "update.append");
  const set = update["set"] === undefined ? {} : checkPlainObject(update["set"], "update.set");
  const unset = update["unset"] as readonly string[] | undefined;
  // Any string may be a key.
  if (unset !== undefined && !(Array.isArray(unset) && unset.every((key) => typeof key === "string")))
    throw new TypeError("update.unset must be an array of strings.");
  for (const key of Object.keys(append)) {
    const added = append[key];
    if (added !== undefined && !Array.isArray(added) && typeof added !== "string") {
      throw new TypeError(`update.append: ${JSON.stringify(key)} must be an array of elements or a string.`);
    }
    if (Object.hasOwn(set, key)) throw twice(key);
  }
  for (const key of unset ?? []) if (Object.hasOwn(append, key) || Object.hasOwn(set, key)) throw twice(key);
}

function twice(key: string): TypeError {
  return new TypeError(`update: ${JSON.stringify(key)} is in more than one of append, set and unset.`);
}

export function checkPutOptions(options: PutOptions): void {
  const { parent, expect, lease } = checkObject(options, "The options of put") as PutOptions;
  if (parent !== undefined && parent !== null) checkId(parent, "parent");
  if (expect !== undefined && expect !== null) checkId(expect, "expect");
  if (lease !== undefined) checkLeaseToken(lease, "lease");
}

export function checkLeaseToken(value: unknown, what: string): void {
  const lease = checkObject(value, what);
  if (
    typeof lease["thread"] !== "string" ||
    typeof lease["holder"] !== "string" ||
    !Number.isSafeInteger(lease["epoch"])
  ) {
    throw new TypeError(`${what} must be what acquire() gave.`);
  }
}

export function checkHistoryOptions(options: HistoryOptions): void {
  const fields = checkObject(options, "The options of history");
  optional(fields, "limit", (value, what) => value === Number.POSITIVE_INFINITY || checkInteger(value, what, 0));
  optional(fields, "before", (value, what) =>
    typeof value === "number" ? checkInteger(value, what) : checkId(value, what),
  );
  optional(fields, "run", checkId);
  optional(fields, "source", (value, what) => checkOneOf(value, sources, what));
  optional(fields, "states", checkBoolean);
}

export function checkWritesInput(input: WritesInput): void {
  const fields = checkObject(input, "What is written");
  checkId(fields["task"], "task");
  optional(fields, "node", nullable(checkText));
  if (!Array.isArray(fields["writes"])) throw new TypeError("writes must be an array.");
  for (const [index, entry] of (fields["writes"] as unknown[]).entries()) checkWrite(entry, `writes[${index}]`);
}

function checkWrite(entry: unknown, what: string): void {
  const write = checkObject(entry, what);
  checkText(write["channel"], `${what}.channel`);
  if (write["index"] !== undefined) checkInteger(write["index"], `${what}.index`);
}

export function checkForkOptions(options: ForkOptions<unknown>): void {
  const fields = checkObject(options, "The options of fork");
  optional(fields, "at", (value, what) => {
    if (typeof value === "string") checkId(value, what);
    else checkInteger(checkObject(value, what)["step"], "at.step");
  });
  optional(fields, "into", checkId);
  optional(fields, "edits", checkPlainObject);
  optional(fields, "history", (value, what) => checkOneOf(value, ["ancestors", "none"], what));
  optional(fields, "label", checkText);
}

const rules: readonly string[] = ["keepLast", "olderThan", "keepLabelled", "ancestors", "dryRun"];

export function checkPruneOptions(options: PruneOptions): void {
  const fields = checkObject(options, "The options of prune");
  // A misspelt rule would leave the default in force, and that keeps one checkpoint.
  for (const name of Object.keys(fields)) checkOneOf(name, rules, "A rule of prune");
  optional(fields, "keepLast", (value, what) => checkInteger(value, what, 0));
  optional(fields, "olderThan", (value, what) => checkNumber(value, what, 0));
  optional(fields, "keepLabelled", checkBoolean);
  optional(fields, "ancestors", (value, what) => checkOneOf(value, ["truncate", "protect"], what));
  optional(fields, "dryRun", checkBoolean);
}

export function checkAcquireOptions(options: AcquireOptions): void {
  const fields = checkObject(options, "The options of acquire");
  checkId(fields["holder"], "holder");
  checkTtl(fields["ttl"]);
}

export function checkBreakOptions(options: BreakOptions): void {
  const fields = checkObject(options, "The options of breakLease");
  optional(fields, "by", checkId);
  optional(fields, "reason", checkId);
}

export function checkTtl(value: unknown): void {
  if (typeof value !== "number" || !Number.isFinite(value) || value <= 0)
    throw new TypeError("ttl must be a positive number of milliseconds.");
}

/** The checkpoints that something is asked of: as `history` yields them, or anything else that tells ids and seqs. */
export function checkNamed(checkpoints: readonly { readonly id: string; readonly seq: number }[]): void {
  if (!Array.isArray(checkpoints)) throw new TypeError("The checkpoints must be an array.");
  for (const checkpoint of checkpoints) {
    const { id, seq } = checkObject(checkpoint, "A checkpoint");
    checkId(id, "A checkpoint id");
    checkInteger(seq, "The seq of a checkpoint", 0);
  }
}

export function checkExportOptions(options: { readonly threads?: readonly string[] }): void {
  const { threads } = checkObject(options, "The options of export");
  if (threads === undefined) return;
  if (!Array.isArray(threads)) throw new TypeError("threads must be an array of thread ids.");
  for (const id of threads) checkId(id, "A thread id");
}

export function checkWorkOptions(options: WorkOptions): WorkOptions {
  const { progress } = checkObject(options, "The options");
  if (progress !== undefined && typeof progress !== "function") throw new TypeError("progress must be a function.");
  return options;
}

export function checkThreadsOptions(options: ThreadsOptions): void {
  const fields = checkObject(options, "The options of threads");
  optional(fields, "workflow", checkId);
  optional(fields, "prefix", checkText);
  optional(fields, "status", (value, what) => checkOneOf(value, statuses, what));
  optional(fields, "order", (value, what) => checkOneOf(value, ["id", "updated"], what));
  optional(fields, "limit", (value, what) => value === Number.POSITIVE_INFINITY || checkInteger(value, what, 0));
  optional(fields, "after", checkId);
}

export function checkLabel(label: unknown): void {
  checkText(label, "label");
}

export function checkIds(ids: unknown): void {
  if (!Array.isArray(ids)) throw new TypeError("ids must be an array of checkpoint ids.");
  for (const id of ids) checkId(id, "A checkpoint id");
}

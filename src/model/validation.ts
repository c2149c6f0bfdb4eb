import { checkId } from "./address.ts";
import type {
  AcquireOptions,
  ForkOptions,
  HistoryOptions,
  PruneOptions,
  PutOptions,
  ThreadsOptions,
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

function checkPlainObject(value: unknown, what: string): void {
  const prototype: unknown = Object.getPrototypeOf(checkObject(value, what));
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError(`${what} must be a plain object.`);
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

export function checkPutInput(input: unknown): void {
  const fields = checkObject(input, "What is put");
  const state = "state" in fields && fields["state"] !== undefined;
  const hasState = state || ("state" in fields && fields["update"] === undefined);
  if (hasState === (fields["update"] !== undefined)) throw new TypeError("put takes exactly one of state and update.");
  optional(fields, "id", checkId);
  optional(fields, "step", (value, what) => checkInteger(value, what));
  optional(fields, "source", (value, what) => checkOneOf(value, sources, what));
  optional(fields, "node", nullable(checkText));
  optional(fields, "path", checkStrings);
  optional(fields, "next", checkNext);
  optional(fields, "completed", checkStrings);
  optional(fields, "interrupts", checkInterrupts);
  optional(fields, "barriers", checkBarriers);
  optional(fields, "run", nullable(checkId));
  optional(fields, "workflow", nullable(checkId));
  optional(fields, "label", checkText);
  optional(fields, "createdAt", (value, what) => checkNumber(value, what, Number.NEGATIVE_INFINITY));
  if (fields["createdAt"] !== undefined && !Number.isFinite(fields["createdAt"]))
    throw new TypeError("createdAt must be finite.");
  optional(fields, "stateVersion", (value, what) => checkInteger(value, what));
  optional(fields, "metadata", checkPlainObject);
  if (fields["update"] !== undefined) checkUpdate(fields["update"]);
}

function checkNext(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array of node names and activations.`);
  for (const [index, entry] of value.entries()) {
    if (typeof entry === "string") {
      checkText(entry, `${what}[${index}]`);
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

function checkUpdate(value: unknown): void {
  const update = checkObject(value, "update");
  checkKeys(update, ["append", "set", "unset"], "update");
  const append = update["append"] === undefined ? {} : checkObject(update["append"], "update.append");
  const set = update["set"] === undefined ? {} : checkObject(update["set"], "update.set");
  const unset = update["unset"] ?? [];
  checkStrings(unset, "update.unset");
  for (const [key, added] of Object.entries(append)) {
    if (added !== undefined && !Array.isArray(added) && typeof added !== "string") {
      throw new TypeError(`update.append: ${JSON.stringify(key)} must be an array of elements or a string.`);
    }
  }
  const keys = [...Object.keys(append), ...Object.keys(set), ...new Set(unset as string[])];
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined)
    throw new TypeError(`update: ${JSON.stringify(twice)} is in more than one of append, set and unset.`);
}

export function checkPutOptions(options: PutOptions): void {
  const fields = checkObject(options, "The options of put");
  optional(fields, "parent", nullable(checkId));
  optional(fields, "expect", nullable(checkId));
  optional(fields, "lease", checkLeaseToken);
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
  for (const [index, entry] of (fields["writes"] as unknown[]).entries()) {
    const write = checkObject(entry, `writes[${index}]`);
    checkText(write["channel"], `writes[${index}].channel`);
    if (write["index"] !== undefined) checkInteger(write["index"], `writes[${index}].index`);
  }
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

export function checkPruneOptions(options: PruneOptions): void {
  const fields = checkObject(options, "The options of prune");
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

export function checkTtl(value: unknown): void {
  if (typeof value !== "number" || !Number.isFinite(value) || value <= 0)
    throw new TypeError("ttl must be a positive number of milliseconds.");
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

import { checkId } from "../address.ts";
import { nearest } from "../nearest.ts";

/*
 * Checks of single arguments, made before any I/O. Misuse is a TypeError that says what was expected.
 */

export type Fields = { readonly [key: string]: unknown };
export type Check = (value: unknown, what: string) => unknown;

export function checkObject(value: unknown, what: string): Fields {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new TypeError(`${what} must be an object.`);
  return value as Fields;
}

export function checkPlainObject(value: unknown, what: string): Fields {
  const fields = checkObject(value, what);
  const prototype: unknown = Object.getPrototypeOf(fields);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError(`${what} must be a plain object.`);
  return fields;
}

/** Refuses keys that are not in `known`, and names the nearest one that is. */
export function checkKeys(fields: Fields, known: readonly string[], what: string): void {
  for (const key of Object.keys(fields)) {
    if (known.includes(key)) continue;
    const meant = nearest(key, known);
    const hint = meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`;
    const all = known.length === 0 ? "It takes none." : `Known are ${known.join(", ")}.`;
    throw new TypeError(`${what} has an unknown key ${JSON.stringify(key)}${hint || "."} ${all}`);
  }
}

/** Checks the options of a call: an object with known keys only. Returns it as its fields. */
export function checkOptions(options: unknown, known: readonly string[], call: string): Fields {
  const fields = checkObject(options, `The options of ${call}`);
  checkKeys(fields, known, `The options object of ${call}`);
  return fields;
}

export function checkInteger(value: unknown, what: string, least: number = Number.MIN_SAFE_INTEGER): void {
  if (!Number.isSafeInteger(value) || (value as number) < least) {
    const range = least === Number.MIN_SAFE_INTEGER ? "a safe integer" : `an integer of at least ${least}`;
    throw new TypeError(`${what} must be ${range}.`);
  }
}

/** Checks the most that is to be yielded: a whole number, or Infinity. */
export function checkLimit(value: unknown, what: string): void {
  if (value !== Number.POSITIVE_INFINITY) checkInteger(value, what, 0);
}

export function checkNumber(value: unknown, what: string): void {
  if (typeof value !== "number" || Number.isNaN(value) || value < 0)
    throw new TypeError(`${what} must be a number of at least 0.`);
}

export function checkOneOf(value: unknown, allowed: readonly unknown[], what: string): void {
  if (!allowed.includes(value))
    throw new TypeError(`${what} must be one of ${allowed.map((entry) => JSON.stringify(entry)).join(", ")}.`);
}

export function checkText(value: unknown, what: string): void {
  if (typeof value !== "string" || !value.isWellFormed()) throw new TypeError(`${what} must be a well-formed string.`);
}

export function checkStrings(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array of strings.`);
  for (const [index, entry] of value.entries()) checkText(entry, `${what}[${index}]`);
}

export function checkIds(ids: unknown, what: string, each: string): void {
  if (!Array.isArray(ids)) throw new TypeError(`${what} must be an array of ids.`);
  for (const id of ids) checkId(id, each);
}

export function checkBoolean(value: unknown, what: string): void {
  if (typeof value !== "boolean") throw new TypeError(`${what} must be true or false.`);
}

export function checkFunction(value: unknown, what: string): void {
  if (typeof value !== "function") throw new TypeError(`${what} must be a function.`);
}

/** Checks an AbortSignal by its shape: one of another realm will do. */
export function checkSignal(value: unknown, what: string): void {
  const signal = value as Partial<AbortSignal> | null;
  if (typeof signal !== "object" || typeof signal?.aborted !== "boolean" || typeof signal.throwIfAborted !== "function")
    throw new TypeError(`${what} must be an AbortSignal.`);
}

/** Checks a field if it is given. */
export function optional(fields: Fields, name: string, check: Check): void {
  if (fields[name] !== undefined) check(fields[name], name);
}

/** Returns a check that lets null through. */
export function nullable(check: Check): Check {
  return (value, what) => value !== null && check(value, what);
}

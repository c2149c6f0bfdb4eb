import type { Update } from "../../model/options.ts";
import { define, freeze, isPlainObject } from "../thread/capture.ts";

/** Combines an update of a key with the value before it. Not called for an absent key, which takes the update itself. */
export type Reducer<Value> = (current: Value, update: Value) => Value;

/** Reducers by key of the state. A key without a reducer is replaced. */
export type Reducers<State> = { readonly [K in keyof State]?: Reducer<Exclude<State[K], undefined>> };

/** A state, or a part of one, without its type. */
export type Values = Readonly<Record<string, unknown>>;
export type AnyReducer = (current: unknown, update: unknown) => unknown;

/**
 * Appends to a list or a text.
 *
 * @example
 * graph<State>("chat").reduce({ messages: append })
 */
export function append<Value extends readonly unknown[] | string>(current: Value, update: Value): Value {
  if (typeof current === "string" && typeof update === "string") return `${current}${update}` as Value;
  if (Array.isArray(current) && Array.isArray(update)) return [...current, ...update] as unknown as Value;
  throw new TypeError(`append needs two lists or two texts, not ${kindOf(current)} and ${kindOf(update)}.`);
}

/**
 * Merges the entries of an object, Map or Set into the entries before.
 *
 * @example
 * graph<State>("judge").reduce({ scores: merge })
 */
export function merge<Value extends object>(current: Value, update: Value): Value {
  if (current instanceof Map && update instanceof Map) return new Map([...current, ...update]) as unknown as Value;
  if (current instanceof Set && update instanceof Set) return new Set([...current, ...update]) as unknown as Value;
  if (!isPlainObject(current) || !isPlainObject(update)) {
    throw new TypeError(`merge needs two objects, Maps or Sets, not ${kindOf(current)} and ${kindOf(update)}.`);
  }
  const result: Record<string, unknown> = {};
  for (const source of [current, update]) for (const [key, value] of Object.entries(source)) define(result, key, value);
  return result as Value;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? (value.constructor?.name ?? "an object") : `a ${typeof value}`;
}

export interface Reduced {
  readonly state: Values;
  /** The difference as an update of the store, where it is cheap to state; undefined: the store compares the states. */
  readonly change: Update<Record<string, unknown>> | undefined;
}

/** Returns the state with the updates applied in their order. The updates must have been captured. */
export function reduce(
  reducers: ReadonlyMap<string, AnyReducer>,
  state: Values,
  updates: readonly (Values | undefined)[],
): Reduced {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(state)) define(result, key, value);
  const touched = new Map<string, Touch>();
  for (const update of updates) {
    for (const [key, value] of Object.entries(update ?? {})) {
      const reducer = reducers.get(key);
      const current = Object.hasOwn(result, key) ? result[key] : undefined;
      if (reducer !== undefined && value === undefined) continue;
      const reduced = reducer === undefined || current === undefined ? value : call(key, reducer, current, value);
      define(result, key, reduced);
      touch(touched, key, reducer === append && current !== undefined ? value : undefined);
    }
  }
  return { state: Object.freeze(result), change: updateOf(touched, state, result) };
}

function call(key: string, reducer: AnyReducer, current: unknown, update: unknown): unknown {
  try {
    return freeze(reducer(current, update));
  } catch (cause) {
    throw new TypeError(`The reducer of "${key}" failed: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** The changes of a key: the appended parts, or undefined if it was changed in any other way. */
interface Touch {
  appended: unknown[] | undefined;
}

function touch(touched: Map<string, Touch>, key: string, part: unknown): void {
  const known = touched.get(key);
  if (known === undefined) touched.set(key, { appended: part === undefined ? undefined : [part] });
  else if (part === undefined) known.appended = undefined;
  else known.appended?.push(part);
}

function updateOf(
  touched: ReadonlyMap<string, Touch>,
  before: Values,
  after: Values,
): Update<Record<string, unknown>> | undefined {
  const added: Record<string, unknown> = {};
  const set: Record<string, unknown> = {};
  for (const [key, { appended }] of touched) {
    if (key === "__proto__") return undefined;
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (appended !== undefined && old !== undefined) {
      added[key] = typeof old === "string" ? appended.join("") : appended.flat(1);
    } else if (isSmall(old) || isSmall(after[key])) {
      set[key] = after[key];
    } else {
      return undefined;
    }
  }
  return { append: added as never, set };
}

/** Tells whether a value is so small that comparing it could save next to nothing. */
function isSmall(value: unknown): boolean {
  if (typeof value === "string") return value.length <= 64;
  if (typeof value !== "object" || value === null) return true;
  const parts: readonly unknown[] = Array.isArray(value) ? value : isPlainObject(value) ? Object.values(value) : [];
  if (parts.length === 0) return Array.isArray(value) || isPlainObject(value);
  return parts.length <= 4 && parts.every((part) => typeof part !== "object" && isSmall(part));
}

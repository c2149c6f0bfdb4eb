import type { Update } from "../../model/interface/options.ts";
import { assign, isPlainObject } from "../../platform/plain-objects.ts";
import { messageOf } from "../errors.ts";
import { freeze } from "../values/capture.ts";
import { append } from "./built-in-reducers.ts";
import { type AnyReducer, type Fold, newFold } from "./fold.ts";
import { isOverwrite, OVERWRITE } from "./overwrite.ts";

/** Combines an update of a key with the value before it. Not called for an absent key, which takes the update itself. */
export type Reducer<Value> = (current: Value, update: Value) => Value;

/** Reducers by key of the state. A key without a reducer is replaced. */
export type Reducers<State> = { readonly [K in keyof State]?: Reducer<Exclude<State[K], undefined>> };

/** A state, or a part of one, without its type. */
export type Values = Readonly<Record<string, unknown>>;

/** The fault of a reducer, with the position of the update that it was given. */
export class ReducerFailure extends Error {
  readonly update: number;

  constructor(key: string, update: number, cause: unknown) {
    super(`The reducer of "${key}" failed: ${messageOf(cause)}`, { cause });
    this.update = update;
  }
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
  for (const [key, value] of Object.entries(state)) assign(result, key, value);
  const touched = new Map<string, Touch>();
  const folds = new Map<string, Fold>();
  for (const [index, update] of updates.entries()) {
    for (const [key, given] of Object.entries(update ?? {})) {
      const reducer = reducers.get(key);
      if (reducer !== undefined && given === undefined) continue;
      const replaces = isOverwrite(given);
      const value = replaces ? given[OVERWRITE] : given;
      const fold = folds.get(key) ?? newFold(reducer, Object.hasOwn(result, key) ? result[key] : undefined);
      folds.set(key, fold);
      const appends = reducer === append && !replaces && fold.value !== undefined;
      try {
        fold.add(value, replaces);
      } catch (cause) {
        throw new ReducerFailure(key, index, cause);
      }
      touch(touched, key, appends ? value : undefined);
    }
  }
  for (const [key, fold] of folds) assign(result, key, freeze(fold.end()));
  return { state: Object.freeze(result), change: updateOf(touched, state, result) };
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

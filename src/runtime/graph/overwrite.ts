import { isPlainObject } from "../../platform/plain-objects.ts";
import type { Frozen } from "./frozen.ts";

/** The key of the object that stands for a value which replaces a key past its reducer. */
export const OVERWRITE = "~overwrite";

/** A value that replaces what a key holds, past its reducer. */
export interface Overwrite<Value> {
  readonly [OVERWRITE]: Value;
}

/** A partial state: the keys to change, each with an update for its reducer or with {@link overwrite}. */
export type StateUpdate<State> = { readonly [K in keyof State]?: Frozen<State[K]> | Overwrite<Frozen<State[K]>> };

/**
 * Replaces the value of a key, past its reducer.
 *
 * @example
 * return { messages: overwrite([summary]) }; // although `messages` is reduced by append
 */
export function overwrite<Value>(value: Value): Overwrite<Value> {
  return { [OVERWRITE]: value };
}

/** Tells whether a value was made by {@link overwrite}; it is a plain object, so that it can be stored. */
export function isOverwrite(value: unknown): value is Overwrite<unknown> {
  return isPlainObject(value) && OVERWRITE in value && Object.keys(value).length === 1;
}

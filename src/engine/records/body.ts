import type { Json } from "../../codec/json.ts";

/** A checkpoint's body as one tree, as the delta codec gets it. */
export interface Body {
  readonly [part: string]: Json;
  /** The state. */
  readonly s: Json;
  /** path, next, completed, interrupts, barriers. */
  readonly p: Json;
  readonly n: Json;
  readonly c: Json;
  readonly i: Json;
  readonly b: Json;
}

type Plain = { [key: string]: Json };

/** Overwriting a string longer than this may take something away from the tree. */
export const LONG_TEXT = 200;

export function isContainer(value: Json): boolean {
  return typeof value === "object" && value !== null;
}

/** Tells whether a value may be so large that a change of it is worth finding. */
export function isLong(value: Json): boolean {
  return typeof value === "string" ? value.length > LONG_TEXT : isContainer(value);
}

/** Tells whether the encoded state is a plain object with the state's own keys: neither tagged nor escaped. */
export function isPlainState(state: Json | undefined): state is Plain {
  return state !== null && typeof state === "object" && !Array.isArray(state) && !Object.hasOwn(state, "$");
}

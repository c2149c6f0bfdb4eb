import { assign, type Delta, diff } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import type { ValueCodec } from "../../../codec/values/value.ts";
import { isContainer, isPlainState, LONG_TEXT } from "../../records/body.ts";
import type { CapturedUpdate } from "./capture.ts";

/** Returns the delta that an update makes of a state. Nothing is compared: the caller knows what changed. */
export function updateDelta(codec: ValueCodec, state: Json, update: CapturedUpdate): { delta: Delta; tagged: boolean } {
  if (!isPlainState(state) || Object.hasOwn(update.set, "$")) return rewrittenState(codec, state, update);
  const delta: Delta = {};
  if (update.unset.length > 0) delta.u = [...update.unset];
  if (Object.keys(update.set).length > 0) delta.s = update.set;
  if (update.append.length > 0) {
    const changes: { [key: string]: Delta } = {};
    for (const [key, value] of update.append) {
      checkAppend(key, Object.hasOwn(state, key) ? state[key] : undefined, value);
      assign(changes, key, typeof value === "string" ? { a: value } : { p: value });
    }
    delta.d = changes;
  }
  return { delta, tagged: false };
}

/** Returns true if an update sets an object or a list where the state has one: only their difference need be written. */
export function replacesContainer(state: Json, update: CapturedUpdate): boolean {
  if (!isPlainState(state)) return false;
  for (const key of Object.keys(update.set)) {
    if (isContainer(update.set[key] as Json) && Object.hasOwn(state, key) && isContainer(state[key] as Json))
      return true;
  }
  return false;
}

/** Returns about how many bytes of an update's frame overwrite values; undefined when the update may remove more than that. */
export function overwrittenBy(state: Json, { set, unset }: CapturedUpdate): number | undefined {
  if (unset.length > 0 || !isPlainState(state)) return undefined;
  let bytes = 0;
  for (const key of Object.keys(set)) {
    const value = set[key] as Json;
    const before = Object.hasOwn(state, key) ? state[key] : undefined;
    const long = typeof before === "string" ? before.length > LONG_TEXT : before !== undefined && isContainer(before);
    if (long || isContainer(value)) return undefined;
    bytes += key.length + (typeof value === "string" ? value.length : LONG_NUMBER);
  }
  return bytes;
}

const LONG_NUMBER = 24;

function checkAppend(key: string, before: unknown, value: unknown): void {
  const name = JSON.stringify(key);
  if (before === undefined) throw new TypeError(`update.append: the state has no ${name}. Use set to create it.`);
  if (typeof before === "string" && typeof value === "string") return;
  if (Array.isArray(before) && Array.isArray(value)) return;
  const kind = Array.isArray(before)
    ? "an array"
    : typeof before === "string"
      ? "a string"
      : "neither an array nor a string";
  throw new TypeError(
    `update.append: ${name} is ${kind}, so ${Array.isArray(value) ? "elements" : "text"} cannot be appended.`,
  );
}

/** Updates one of the rare states whose encoding is not their own shape (a key named `$`): as live values, then compared. */
function rewrittenState(codec: ValueCodec, state: Json, update: CapturedUpdate): { delta: Delta; tagged: boolean } {
  const live = codec.decode(state);
  const prototype: unknown = live !== null && typeof live === "object" ? Object.getPrototypeOf(live) : undefined;
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError("update: the parent's state is no plain object. Put a whole state instead.");
  }
  const after = live as Record<string, unknown>;
  for (const key of update.unset) delete after[key];
  for (const [key, value] of Object.entries(update.set)) assign(after, key, codec.decode(value));
  for (const [key, value] of update.append) {
    const before = Object.hasOwn(after, key) ? after[key] : undefined;
    checkAppend(key, before, value);
    const added = codec.decode(value);
    assign(
      after,
      key,
      typeof before === "string" ? before + (added as string) : [...(before as unknown[]), ...(added as unknown[])],
    );
  }
  const encoded = codec.encode(after, "state", state);
  return { delta: diff(state, encoded.tree) ?? {}, tagged: true };
}

import { type Delta, diff, Growth, growthOf, isReplacement, replacement } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import type { ValueCodec } from "../../../codec/values/value.ts";
import { assign } from "../../../platform/plain-objects.ts";
import { isLong, isPlainState } from "../../records/body.ts";
import type { CapturedUpdate } from "./capture.ts";
import type { CapturedGrownList } from "./grown-list.ts";
import { changeOf, NEEDS_LIVE, patchDelta } from "./patch.ts";
import { patchLive } from "./patch-live.ts";

type State = { [key: string]: Json };

/** A change that an update makes of a state. */
export interface StateChange {
  readonly delta: Delta;
  /** True if the change may hold tags that the captured values do not have. */
  readonly tagged: boolean;
  /** About how many bytes the state grows by; undefined where that is not known. */
  readonly grown: number | undefined;
  /** About how many characters of JSON its values take; undefined where that is not known. */
  readonly written?: number | undefined;
}

/** The way an update is planned. */
export interface UpdatePlanning {
  /** True if the state is only an outline. */
  readonly outlined?: boolean;
  /** The size from which values have records of their own. */
  readonly largeFrom?: number;
}

/** Levels of a body above the values of the state's keys. */
const ABOVE = 2;

/**
 * Returns the change that an update makes of a state, or of its outline. Each field is planned by itself, and a field that
 * the update does not name is not looked at. An object, a list or a long text that is set over another is compared with it:
 * that costs no more than the new value and the parts of the old one that go.
 */
export function updateDelta(
  codec: ValueCodec,
  state: Json,
  update: CapturedUpdate,
  options: UpdatePlanning = {},
): StateChange {
  const { outlined = false, largeFrom } = options;
  if (!isPlainState(state) || setsTag(update)) return rewrittenState(codec, state, update);
  let delta: Delta;
  try {
    delta = fieldByField(state, update, outlined);
  } catch (error) {
    if (error !== NEEDS_LIVE) throw error;
    return rewrittenState(codec, state, update);
  }
  if (outlined && takesUnknown(state, update)) return { delta, tagged: false, grown: undefined };
  const { total, written } = new Growth(delta, state, largeFrom);
  return { delta, tagged: false, grown: total, written };
}

/** Returns true if an update sets a key `$`, by which the encoding of the state gets another shape. */
export function setsTag({ set, grown }: CapturedUpdate): boolean {
  return Object.hasOwn(set, "$") || grown.some(([key]) => key === "$");
}

function fieldByField(state: State, update: CapturedUpdate, outlined: boolean): Delta {
  const changes: { [key: string]: Delta } = {};
  let set = outlined ? update.set : setOver(state, update.set, changes);
  let removed: readonly string[] = update.unset;
  for (const [key, list] of update.grown) {
    const change = growing(state, key, list);
    if (change === undefined) continue;
    if (!isReplacement(change)) assign(changes, key, change);
    else if (set === update.set) set = { ...set, [key]: list.whole() };
    else assign(set, key, list.whole());
  }
  for (const [key, value] of update.append) {
    checkAppend(key, Object.hasOwn(state, key) ? state[key] : undefined, value);
    assign(changes, key, typeof value === "string" ? { a: value } : { p: value });
  }
  if (update.patch.length > 0) {
    const { u = [], s = {}, d = {} } = patchDelta(state, update.patch);
    removed = [...removed, ...u];
    set = { ...set, ...s };
    for (const key of Object.keys(d)) assign(changes, key, d[key] as Delta);
  }
  const delta: Delta = {};
  if (removed.length > 0) delta.u = [...removed];
  if (Object.keys(set).length > 0) delta.s = set;
  if (Object.keys(changes).length > 0) delta.d = changes;
  return delta;
}

/** Returns the change that setting a list makes of a field; undefined if there is none. */
function growing(state: State, key: string, list: CapturedGrownList): Delta | undefined {
  const old = Object.hasOwn(state, key) ? state[key] : undefined;
  if (!Array.isArray(old)) return replacement(list.whole());
  const added = list.behind(old);
  if (added === undefined) return changeOf(old, list.whole(), ABOVE);
  return added.length === 0 ? undefined : { p: added };
}

/** Returns the fields that are set as a whole. The differences of the others are added to `changes`. */
function setOver(state: State, set: State, changes: { [key: string]: Delta }): State {
  const rest: State = {};
  for (const key of Object.keys(set)) {
    const value = set[key] as Json;
    const isNew = typeof value === "number" || !Object.hasOwn(state, key);
    const change = isNew ? replacement(value) : changeOf(state[key] as Json, value, ABOVE);
    if (change === undefined) continue;
    if (isReplacement(change)) assign(rest, key, value);
    else assign(changes, key, change);
  }
  return rest;
}

/** Returns true if an update takes away a value of which an outline does not tell the size. */
function takesUnknown(state: State, { set, unset }: CapturedUpdate): boolean {
  const isUnknown = (key: string): boolean => Object.hasOwn(state, key) && isLong(state[key] as Json);
  return unset.some(isUnknown) || Object.keys(set).some(isUnknown);
}

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
function rewrittenState(codec: ValueCodec, state: Json, update: CapturedUpdate): StateChange {
  const live = codec.decode(state);
  const prototype: unknown = live !== null && typeof live === "object" ? Object.getPrototypeOf(live) : undefined;
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError("update: the parent's state is no plain object. Put a whole state instead.");
  }
  const after = live as Record<string, unknown>;
  for (const key of update.unset) delete after[key];
  for (const [key, value] of Object.entries(update.set)) assign(after, key, codec.decode(value));
  for (const [key, list] of update.grown) assign(after, key, codec.decode(list.whole()));
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
  for (const { path, value } of update.patch) {
    patchLive(after, path, value === undefined ? {} : { value: codec.decode(value) });
  }
  const encoded = codec.encode(after, "state", state);
  const delta = diff(state, encoded.tree, ABOVE - 1) ?? {};
  return { delta, tagged: true, grown: growthOf(delta, state) };
}

import { apply, type Delta, diff, sizeOf } from "../../../codec/delta/index.ts";
import { isObject, isTagged, type Json } from "../../../codec/json.ts";
import type { PathStep } from "../../../model/patch.ts";
import { assign } from "../../../platform/plain-objects.ts";
import { isLong } from "../../records/body.ts";
import { missingAt, notAContainer, refuseStep, removesElement } from "./patch-faults.ts";

/** A patch, encoded; without a value it removes what is at the path. */
export interface CapturedPatch {
  readonly path: readonly PathStep[];
  readonly value: Json | undefined;
}

/** Values with fewer characters of JSON are written whole: finding a difference takes longer than writing them. */
const SMALL = 100;

/** Levels of a body above the state. */
const ABOVE = 1;

/** Thrown where a path goes through a value whose encoding is not its own shape, or makes one by a key `$`. */
export const NEEDS_LIVE: unique symbol = Symbol("needs live values");

/**
 * Returns the change that patches make of a state, in order, each on top of those before it. It costs what is patched: a list
 * that a path leads through is neither copied nor walked. Throws {@link NEEDS_LIVE} for values that only decoding tells apart.
 */
export function patchDelta(state: { [key: string]: Json }, patches: readonly CapturedPatch[]): Delta {
  const root = new Entered(state, false, 0);
  for (const { path, value } of patches) {
    let node = root;
    for (let at = 0; at < path.length - 1; at += 1) node = node.enter(path, at);
    if (value === undefined) node.remove(path);
    else node.set(path, value);
  }
  return root.delta();
}

/** A list or an object that patches have changed something in. */
class Entered {
  readonly #before: Json[] | { [key: string]: Json };
  /** True if the value itself was set by an earlier patch: it is written as a whole. */
  readonly #isNew: boolean;
  readonly #depth: number;
  /** New values, and entered old ones, by key or index. Elements after the old ones are appended. */
  readonly #changed = new Map<PathStep, Json | Entered>();
  #removed: Set<string> | undefined;

  constructor(before: Json[] | { [key: string]: Json }, isNew: boolean, depth: number) {
    this.#before = before;
    this.#isNew = isNew;
    this.#depth = depth;
  }

  /** Returns the container that `path[at]` leads to. */
  enter(path: readonly PathStep[], at: number): Entered {
    const step = path[at] as PathStep;
    this.#check(path, at, false);
    const found = this.#changed.get(step);
    if (found instanceof Entered) return found;
    const value = found ?? this.#old(step);
    if (value === undefined) throw missingAt(path, at);
    if (!Array.isArray(value) && !isObject(value)) throw notAContainer(path, at, value);
    if (isObject(value) && isTagged(value)) throw NEEDS_LIVE;
    const isNew = this.#isNew || found !== undefined;
    const entered = new Entered(value, isNew, this.#depth + 1);
    this.#changed.set(step, entered);
    return entered;
  }

  /** Sets what the last step of a path names: an index after the last appends. */
  set(path: readonly PathStep[], value: Json): void {
    this.#check(path, path.length - 1, true);
    this.#changed.set(path.at(-1) as PathStep, value);
  }

  remove(path: readonly PathStep[]): void {
    const key = path.at(-1) as PathStep;
    this.#check(path, path.length - 1, false);
    if (typeof key === "number") throw removesElement(path);
    // The key goes, and comes back at the end if it is set again.
    this.#changed.delete(key);
    if (!Object.hasOwn(this.#before, key)) return;
    this.#removed ??= new Set();
    this.#removed.add(key);
  }

  delta(): Delta {
    return Array.isArray(this.#before) ? this.#listDelta(this.#before) : this.#objectDelta(this.#before);
  }

  #listDelta(before: readonly Json[]): Delta {
    const edits: [number, Delta][] = [];
    const pushed: Json[] = [];
    const steps = [...this.#changed.keys()] as number[];
    for (const index of steps.sort((left, right) => left - right)) {
      const old = before[index];
      if (old === undefined) pushed.push(this.#valueOf(index));
      else {
        const change = this.#changeOf(index, old);
        if (change !== undefined) edits.push([index, change]);
      }
    }
    const delta: Delta = edits.length > 0 ? { l: before.length, e: edits } : {};
    if (pushed.length > 0) delta.p = pushed;
    return delta;
  }

  #objectDelta(before: { readonly [key: string]: Json }): Delta {
    const set: { [key: string]: Json } = {};
    const changes: { [key: string]: Delta } = {};
    for (const key of this.#changed.keys() as IterableIterator<string>) {
      const isOld = Object.hasOwn(before, key) && !this.#removed?.has(key);
      const change = isOld ? this.#changeOf(key, before[key] as Json) : { r: this.#valueOf(key) };
      if (change?.r !== undefined) assign(set, key, change.r);
      else if (change !== undefined) assign(changes, key, change);
    }
    const delta: Delta = this.#removed === undefined ? {} : { u: [...this.#removed] };
    if (Object.keys(set).length > 0) delta.s = set;
    if (Object.keys(changes).length > 0) delta.d = changes;
    return delta;
  }

  /** Returns the change of a value that was there before; undefined if there is none. */
  #changeOf(step: PathStep, old: Json): Delta | undefined {
    const now = this.#changed.get(step);
    if (!(now instanceof Entered) || now.#isNew) return changeOf(old, this.#valueOf(step), ABOVE + this.#depth + 1);
    const change = now.delta();
    return Object.keys(change).length === 0 ? undefined : change;
  }

  #valueOf(step: PathStep): Json {
    const now = this.#changed.get(step) as Json | Entered;
    return now instanceof Entered ? apply(now.#before, now.delta()) : now;
  }

  #old(step: PathStep): Json | undefined {
    if (Array.isArray(this.#before)) return this.#before[step as number];
    const key = step as string;
    return Object.hasOwn(this.#before, key) && !this.#removed?.has(key) ? this.#before[key] : undefined;
  }

  /** Refuses a step that does not fit the container. A last step that sets may name what is not there yet. */
  #check(path: readonly PathStep[], at: number, creates: boolean): void {
    const step = path[at];
    if (!Array.isArray(this.#before)) {
      if (typeof step !== "string") throw refuseStep(path, at, "an object, which has keys");
      if (step === "$") throw NEEDS_LIVE;
      return;
    }
    if (typeof step !== "number") throw refuseStep(path, at, "a list, which has indexes");
    let length = this.#before.length;
    while (this.#changed.has(length)) length += 1;
    if (step > length || (step === length && !creates)) throw missingAt(path, at, length);
  }
}

/**
 * Returns the change from one value to another, `depth` levels down the body: a replacement where nothing smaller is worth it,
 * undefined if they are equal.
 */
export function changeOf(old: Json, value: Json, depth: number): Delta | undefined {
  const isWorthIt = isLong(value) && isLong(old) && sizeOf(value, SMALL) >= SMALL;
  return isWorthIt ? diff(old, value, depth) : { r: value };
}

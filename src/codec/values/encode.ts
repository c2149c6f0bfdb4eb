import { isObject, isTagged, type Json, type JsonObject, sameParts } from "../json.ts";
import { align } from "./align-lists.ts";
import { captureSpecial, type RegisteredClass } from "./classes-and-kinds.ts";
import { Comparison, type Fields } from "./comparison.ts";
import { passFlat } from "./flat-list.ts";
import type { Encoding } from "./kinds/kind.ts";
import {
  encodePrimitive,
  isJsonNumber,
  isJsonPrimitive,
  isPrimitiveNode,
  type TaggedPrimitive,
} from "./kinds/primitive.ts";
import { inside, type Step } from "./path.ts";
import { hasOnlyElements, isAccessor, ordinaryNames, strayKey, unordinaryKey } from "./properties.ts";
import { refusalOf } from "./refusal.ts";
import { Trail } from "./trail.ts";

/** Deeper than this, lists are compared index by index: aligning compares what differs once more at every level. */
const alignedDepth = 16;

/**
 * One capture of a value, walking it side by side with the tree of what was there before. A node of that tree whose
 * value did not change is reused, and costs a walk over the keys of both and one over the values: no allocation, and no
 * look at property descriptors, since that was done when it was new. The identity of the caller's objects means
 * nothing: they may have been changed in place.
 */
export class Encoder implements Encoding {
  /** Whether a node with a tag was made. */
  tagged = false;
  readonly trail: Trail = new Trail();
  readonly #classes: readonly RegisteredClass[];
  readonly #comparison: Comparison;

  constructor(classes: readonly RegisteredClass[]) {
    this.#classes = classes;
    this.#comparison = new Comparison(this);
  }

  /** Captures a whole value. `root` begins the path in errors. */
  encode(value: unknown, root: string, previous: Json | undefined): { readonly tree: Json; readonly tagged: boolean } {
    this.tagged = false;
    this.#comparison.raise(0);
    this.trail.root = root;
    return { tree: this.capture(value, previous, 0), tagged: this.tagged };
  }

  /** Lets go of everything it has seen. */
  release(): void {
    this.trail.holders.length = 0;
    this.#comparison.release();
  }

  /** The node of a value `depth` levels deep: `previous` itself if the value is the same. */
  capture(value: unknown, previous: Json | undefined, depth: number): Json {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return isJsonNumber(value) ? value : this.#primitive(value, previous);
      case "undefined":
      case "bigint":
        return this.#primitive(value, previous);
      case "object": {
        if (value === null) return null;
        const prototype: unknown = Object.getPrototypeOf(value);
        if (prototype === Object.prototype) {
          if (!Array.isArray(value)) return this.object(value, previous, depth);
        } else if (prototype === Array.prototype && Array.isArray(value)) return this.array(value, previous, depth);
      }
    }
    return captureSpecial(this, this.#classes, value, previous, depth);
  }

  child(value: unknown, previous: Json | undefined, depth: number, step: Step): Json {
    this.trail.steps[depth] = step;
    return this.capture(value, previous, depth + 1);
  }

  fields(value: object, previous: Json | undefined, depth: number): JsonObject {
    this.trail.steps[depth] = inside;
    // The object itself, met again one level below, is no cycle.
    if (this.trail.holders[depth] === value) this.trail.holders[depth] = undefined;
    const old = isObject(previous) ? previous : undefined;
    if (old !== undefined) {
      const end = this.#comparison.unfold(value as Fields, true);
      if (this.#comparison.sameNames(old, end)) return this.#update(value as Fields, old, end, depth + 1);
    }
    return this.#build(value as Fields, this.#names(value, depth + 1), old, depth + 1);
  }

  /** A plain object. One with a key "$", which would be taken for a tag, is escaped as `{"$":"object","v":{…}}`. */
  object(value: object, previous: Json | undefined, depth: number): Json {
    const old = isObject(previous) ? previous : undefined;
    if (old !== undefined) {
      const end = this.#comparison.unfold(value as Fields, false);
      if (end >= 0 && this.#comparison.sameNames(old, end)) return this.#update(value as Fields, old, end, depth);
    }
    const names = this.#names(value, depth);
    if (Object.hasOwn(value, "$")) {
      this.trail.holders[depth] = value;
      const v = this.fields(value, old?.$ === "object" ? old.v : undefined, depth);
      return this.settle({ $: "object", v }, old);
    }
    if (isLasting(value, names)) return value as JsonObject;
    return this.#build(value as Fields, names, old === undefined || isTagged(old) ? undefined : old, depth);
  }

  array(value: readonly unknown[], previous: Json | undefined, depth: number): Json {
    if (!Array.isArray(previous)) {
      this.trail.enter(value, depth);
      this.#checkElements(value, depth);
      return this.#elements([], value, value.length, undefined, depth);
    }
    const comparison = this.#comparison;
    const start = comparison.sameStart(value, previous, depth);
    if (start === value.length && start === previous.length) return previous;
    this.#checkElements(value, depth);
    const result = previous.slice(0, start);
    passFlat(previous, result);
    if (depth > alignedDepth) return this.#elements(result, value, value.length, previous, depth);
    const { end, at, from, length } = align(value.length, previous.length, start, (index, oldIndex) =>
      comparison.sameElement(value, index, previous[oldIndex], depth),
    );
    this.#elements(result, value, at, previous, depth);
    for (let index = from; index < from + length; index++) result.push(previous[index]!);
    this.#elements(result, value, value.length - end, previous, depth);
    for (let index = previous.length - end; index < previous.length; index++) result.push(previous[index]!);
    return result;
  }

  /** The previous node if it is the same as a new one whose parts were captured with those of the previous one. */
  settle(node: JsonObject, previous: JsonObject | undefined): JsonObject {
    if (previous !== undefined && sameParts(node, previous)) return previous;
    this.tagged = true;
    return node;
  }

  only(value: object, depth: number, ...names: string[]): void {
    for (const key of Reflect.ownKeys(value)) {
      if (typeof key === "symbol" || !names.includes(key)) this.trail.refuseProperty(value, key, depth);
    }
  }

  refuse(depth: number, what: string, next: string): never {
    return this.trail.refuse(depth, { what, next });
  }

  refuseSize(depth: number, what: string, bytes: number): never {
    return this.trail.refuseSize(depth, what, bytes);
  }

  refuseProperty(value: object, key: PropertyKey, depth: number): never {
    return this.trail.refuseProperty(value, key, depth);
  }

  /** An object with the keys it had before: a copy of the previous node with what changed. */
  #update(value: Fields, previous: JsonObject, end: number, depth: number): JsonObject {
    const comparison = this.#comparison;
    const base = comparison.raise(end);
    this.trail.holders[depth] = value;
    let result = previous;
    for (let index = base; index < end; index++) {
      const key = comparison.nameAt(index);
      const field = comparison.fieldAt(index);
      const old = previous[key]!;
      if (Object.is(field, old)) continue;
      this.trail.steps[depth] = key;
      const node = this.capture(field, old, depth + 1);
      if (Object.is(node, old)) continue;
      if (result === previous) {
        this.#names(value, depth, end - base);
        result = { ...previous };
      }
      if (isAccessor(value, key)) this.trail.refuseProperty(value, key, depth);
      // Every key is an own property by now, "__proto__" too: this cannot reach a setter.
      result[key] = node;
    }
    comparison.raise(base);
    return result;
  }

  #build(value: Fields, names: readonly string[], previous: JsonObject | undefined, depth: number): JsonObject {
    this.trail.enter(value, depth);
    for (const name of names) if (isAccessor(value, name)) this.trail.refuseProperty(value, name, depth);
    // Copying first and then replacing what is not JSON is several times faster than adding key by key.
    const result: Fields = { ...value };
    for (const name of names) {
      const field = result[name];
      if (typeof field === "string") continue;
      const old = previous !== undefined && Object.hasOwn(previous, name) ? previous[name] : undefined;
      this.trail.steps[depth] = name;
      result[name] = this.capture(field, old, depth + 1);
    }
    return result as JsonObject;
  }

  /** Adds to `result` the elements from the first it does not have up to `stop`. */
  #elements(
    result: Json[],
    value: readonly unknown[],
    stop: number,
    previous: readonly Json[] | undefined,
    depth: number,
  ): Json[] {
    for (let index = result.length; index < stop; index++) {
      if (isAccessor(value, index)) this.trail.refuseProperty(value, index, depth);
      const element = value[index];
      this.trail.steps[depth] = index;
      result.push(typeof element === "string" ? element : this.capture(element, previous?.[index], depth + 1));
    }
    return result;
  }

  #primitive(value: TaggedPrimitive, previous: Json | undefined): Json {
    if (previous !== undefined && isPrimitiveNode(value, previous)) return previous;
    this.tagged = true;
    return encodePrimitive(value);
  }

  #names(value: object, depth: number, enumerable?: number): string[] {
    const names = ordinaryNames(value, enumerable);
    if (names !== undefined) return names;
    const key = unordinaryKey(value);
    if (key === undefined) return this.trail.refuse(depth, refusalOf(value));
    return this.trail.refuseProperty(value, key, depth);
  }

  #checkElements(value: readonly unknown[], depth: number): void {
    if (hasOnlyElements(value)) return;
    const stray = strayKey(value);
    if (stray === undefined) this.trail.refuse(depth, refusalOf(value));
    else if (!stray.hole) this.trail.refuseProperty(value, stray.key, depth);
    else this.trail.refuse(depth, { what: "a hole in an array", next: "Put null there." }, Number(stray.key));
  }
}

/**
 * Whether a plain object is its own node, now and for ever: frozen with all that is in it, and of nothing but what JSON has.
 * Such an object is not copied, and when it is met again in the same place it is known by its identity, which says nothing
 * of any other.
 */
function isLasting(value: object, names: readonly string[]): boolean {
  if (!Object.isFrozen(value)) return false;
  lookedAt = 0;
  return areLasting(value, names);
}

/** Larger ones are copied: each object is asked once for every one above it, and may refer back to itself. */
const mostParts = 500;
let lookedAt = 0;

function areLasting(value: object, names: readonly string[]): boolean {
  return names.every((name) => !isAccessor(value, name) && isLastingPart((value as Fields)[name]));
}

function isLastingPart(part: unknown): boolean {
  lookedAt += 1;
  if (lookedAt > mostParts) return false;
  if (typeof part !== "object" || part === null) return isJsonPrimitive(part);
  if (!Object.isFrozen(part)) return false;
  const prototype: unknown = Object.getPrototypeOf(part);
  if (Array.isArray(part)) {
    if (prototype !== Array.prototype || !hasOnlyElements(part)) return false;
    return part.every((element, index) => !isAccessor(part, index) && isLastingPart(element));
  }
  if (prototype !== Object.prototype || Object.hasOwn(part, "$")) return false;
  const names = ordinaryNames(part);
  return names !== undefined && areLasting(part, names);
}

import { alignLists } from "../align-lists.ts";
import { isObject, isTagged, type Json, type JsonObject, sameParts } from "../json.ts";
import { captureClassOrKind, type RegisteredClass } from "./classes-and-kinds.ts";
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
import { inside, type ValueStep } from "./path.ts";
import { hasOnlyElements, isAccessor, ordinaryNames, strayKey, unordinaryKey } from "./properties.ts";
import { refusalOf } from "./refusal.ts";
import { Trail } from "./trail.ts";

/** Deeper lists are compared index by index: aligning compares differing parts once more at every level. */
const alignedDepth = 16;

/**
 * Captures a value by walking it side by side with the tree of the previous value. A node whose value did not change is
 * reused; that costs a walk over the keys of both and over the values, without an allocation or a property descriptor,
 * since those were checked when the node was new. The identity of the caller's objects proves nothing: they may have
 * been changed in place.
 */
export class Encoder implements Encoding {
  /** True once a node with a tag was made. */
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

  /** Drops all references to the caller's values. */
  release(): void {
    this.trail.holders.length = 0;
    this.#comparison.release();
  }

  /** Returns the node of a value `depth` levels deep: `previous` itself if the value is unchanged. */
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
    return captureClassOrKind(this, this.#classes, value, previous, depth);
  }

  child(value: unknown, previous: Json | undefined, depth: number, step: ValueStep): Json {
    this.trail.steps[depth] = step;
    return this.capture(value, previous, depth + 1);
  }

  fields(value: object, previous: Json | undefined, depth: number): JsonObject {
    this.trail.steps[depth] = inside;
    // The walk meets the same object again a level below, which is no cycle.
    if (this.trail.holders[depth] === value) this.trail.holders[depth] = undefined;
    const old = isObject(previous) ? previous : undefined;
    if (old !== undefined) {
      const end = this.#comparison.unfold(value as Fields, true);
      if (this.#comparison.sameNames(old, end)) return this.#update(value as Fields, old, end, depth + 1);
    }
    return this.#build(value as Fields, this.#names(value, depth + 1), old, depth + 1);
  }

  /**
   * Captures a plain object. A key "$" would be taken for a tag, so an object with that key is escaped as
   * `{"$":"object","v":{…}}`.
   */
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
    const { end, at, from, length } = alignLists(value.length, previous.length, start, (index, oldIndex) =>
      comparison.sameElement(value, index, previous[oldIndex], depth),
    );
    this.#elements(result, value, at, previous, depth);
    for (let index = from; index < from + length; index++) result.push(previous[index]!);
    this.#elements(result, value, value.length - end, previous, depth);
    for (let index = previous.length - end; index < previous.length; index++) result.push(previous[index]!);
    return result;
  }

  /** Returns `previous` if the new node has identical parts, else the new node. */
  settle(node: JsonObject, previous: JsonObject | undefined): JsonObject {
    if (previous !== undefined && sameParts(node, previous)) return previous;
    this.tagged = true;
    return node;
  }

  only(value: object, depth: number, ...names: PropertyKey[]): void {
    for (const key of Reflect.ownKeys(value)) {
      if (!names.includes(key)) this.trail.refuseProperty(value, key, depth);
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

  /** Captures an object that has the keys it had before: a copy of the previous node, with the changes. */
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
      // All keys are own properties by now, "__proto__" included, so this cannot reach a setter.
      result[key] = node;
    }
    comparison.raise(base);
    return result;
  }

  #build(value: Fields, names: readonly string[], previous: JsonObject | undefined, depth: number): JsonObject {
    this.trail.enter(value, depth);
    for (const name of names) if (isAccessor(value, name)) this.trail.refuseProperty(value, name, depth);
    // Copying the object and then replacing the fields that are not JSON is several times faster than adding key by
    // key.
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

  /** Adds to `result` the elements from the first it lacks up to `stop`. */
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
 * Tells whether a plain object can be its own node for good: it is deeply frozen and contains only JSON. Such an object
 * is not copied, and in the same position it is recognised by identity.
 */
function isLasting(value: object, names: readonly string[]): boolean {
  if (!Object.isFrozen(value)) return false;
  lookedAt = 0;
  return areLasting(value, names);
}

/**
 * Objects with more parts are copied: this test runs again for every object above them, and an object may refer back to
 * itself.
 */
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

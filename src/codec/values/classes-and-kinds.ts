import { ThreadmarkError } from "../../errors.ts";
import type { ClassCodec } from "../../model/interface/store-options.ts";
import { util } from "../../platform/node-builtins.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { kinds } from "./kinds/all.ts";
import type { Encoding, Kind } from "./kinds/kind.ts";
import { isNativePrototype } from "./kinds/native.ts";
import { inside } from "./path.ts";
import { refusalOf } from "./refusal.ts";
import type { Trail } from "./trail.ts";
import { UnregisteredInstance } from "./unregistered.ts";

const { types } = util;

/** A class of the user's: its name and its codec. */
export type RegisteredClass = readonly [name: string, codec: ClassCodec];

/** The part of the encoder that captures values that are neither primitive nor plain. */
export interface Capturing extends Encoding {
  readonly trail: Trail;
  array(value: readonly unknown[], previous: Json | undefined, depth: number): Json;
  object(value: object, previous: Json | undefined, depth: number): Json;
  settle(node: JsonObject, previous: JsonObject | undefined): JsonObject;
}

/**
 * Captures an instance of a registered class, of a kind, or a plain object of another realm, tried in this order, so
 * that a subclass of Map can be registered.
 */
export function captureClassOrKind(
  capturing: Capturing,
  classes: readonly RegisteredClass[],
  value: unknown,
  previous: Json | undefined,
  depth: number,
): Json {
  const { trail } = capturing;
  trail.enter(value, depth);
  const old = isObject(previous) ? previous : undefined;
  if (value instanceof UnregisteredInstance) return captureInstance(value.name, value.data, old, depth, capturing);
  for (const [name, codec] of classes) {
    if (!attempt(trail, depth, `The class ${name} failed to test it`, () => codec.test(value))) continue;
    const data = attempt(trail, depth, `The class ${name} failed to encode it`, () => codec.encode(value));
    return captureInstance(name, data, old, depth, capturing);
  }
  if (typeof value === "object" && value !== null && !types.isProxy(value)) {
    for (const kind of kinds) {
      if (!kind.test(value)) continue;
      const oldOfKind = old?.$ === kind.tag ? old : undefined;
      if (oldOfKind !== undefined && kind.same?.(value, oldOfKind)) return oldOfKind;
      return capturing.settle(captureKind(kind, value, oldOfKind, depth, capturing), old);
    }
    const prototype: object | null = Object.getPrototypeOf(value);
    if (Array.isArray(value)) {
      if (isNativePrototype(prototype, "Array")) return capturing.array(value, previous, depth);
    } else if (isNativePrototype(prototype, "Object")) return capturing.object(value, previous, depth);
  }
  return trail.refuse(depth, refusalOf(value));
}

/** Captures an instance of a class as its name and its data. */
function captureInstance(
  name: string,
  data: unknown,
  previous: JsonObject | undefined,
  depth: number,
  capturing: Capturing,
): JsonObject {
  const oldData = previous?.$ === "class" && previous.name === name ? previous.v : undefined;
  return capturing.settle({ $: "class", name, v: capturing.child(data, oldData, depth, inside) }, previous);
}

/**
 * Captures a built-in object. Reading it can fail: its memory was transferred away, or it has the prototype but not the
 * internal slots.
 */
function captureKind(
  kind: Kind,
  value: object,
  previous: JsonObject | undefined,
  depth: number,
  capturing: Capturing,
): JsonObject {
  try {
    return kind.encode(value, previous, depth, capturing);
  } catch (cause) {
    if (cause instanceof ThreadmarkError) throw cause;
    return unreadable(capturing.trail, depth, `This ${kind.tag} cannot be read`, cause);
  }
}

/** Runs code of the user's, and turns what it throws into a refusal. */
function attempt<T>(trail: Trail, depth: number, fault: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    return unreadable(trail, depth, fault, cause);
  }
}

function unreadable(trail: Trail, depth: number, fault: string, cause: unknown): never {
  return trail.fail(depth, `${fault}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
}

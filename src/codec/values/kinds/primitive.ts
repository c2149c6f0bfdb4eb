import type { Json, JsonObject } from "../../json.ts";
import type { Decoding } from "./kind.ts";

/**
 * The primitives that JSON cannot write: `{"$":"undefined"}`, `{"$":"number","v":"NaN"}`, `{"$":"bigint","v":"12"}`.
 */
export type TaggedPrimitive = undefined | number | bigint;

/** Tells whether a number survives JSON. */
export function isJsonNumber(value: number): boolean {
  return Number.isFinite(value) && (value !== 0 || !Object.is(value, -0));
}

/** Tells whether a value is its own encoding, with nothing to walk. */
export function isJsonPrimitive(value: unknown): value is string | number | boolean | null {
  return typeof value === "number"
    ? isJsonNumber(value)
    : typeof value === "string" || typeof value === "boolean" || value === null;
}

export function encodePrimitive(value: TaggedPrimitive): JsonObject {
  if (value === undefined) return { $: "undefined" };
  if (typeof value === "bigint") return { $: "bigint", v: String(value) };
  return { $: "number", v: Object.is(value, -0) ? "-0" : String(value) };
}

/** Tells whether a node is that of this primitive, without making a node to compare. */
export function isPrimitiveNode(value: TaggedPrimitive, node: Json | undefined): boolean {
  if (typeof node !== "object" || node === null || Array.isArray(node)) return false;
  if (value === undefined) return node.$ === "undefined";
  if (typeof value === "bigint") return node.$ === "bigint" && node.v === String(value);
  return node.$ === "number" && node.v === (Object.is(value, -0) ? "-0" : String(value));
}

/** Tells whether a value that is no object equals the node captured before. −0 is not 0. */
export function samePrimitive(value: unknown, previous: Json | undefined): boolean {
  if (value === previous) return value !== 0 || !(Object.is(value, -0) || Object.is(previous, -0));
  if (typeof value === "number") return !isJsonNumber(value) && isPrimitiveNode(value, previous);
  return (value === undefined || typeof value === "bigint") && isPrimitiveNode(value, previous);
}

const numbers = new Map<Json, number>([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["-0", -0],
]);

const integer = /^(?:0|-?[1-9][0-9]*)$/;

export function decodeUndefined(node: JsonObject, decoding: Decoding): undefined {
  decoding.parts(node, []);
  return undefined;
}

export function decodeNumber(node: JsonObject, decoding: Decoding): number {
  return numbers.get(decoding.parts(node, ["v"]).v) ?? decoding.corruptNode(node, "is none that JSON cannot write");
}

export function decodeBigint(node: JsonObject, decoding: Decoding): bigint {
  const { v } = decoding.parts(node, ["v"]);
  if (typeof v !== "string" || !integer.test(v)) return decoding.corruptNode(node, "is not a decimal integer");
  return BigInt(v);
}

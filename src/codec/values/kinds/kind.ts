import type { Json, JsonObject } from "../../json.ts";
import type { Step } from "../path.ts";

/**
 * A kind of object that JSON has no form for, stored as a node `{ "$": tag, … }`.
 *
 * To add one: a file here with the two directions side by side, a line in all.ts, a row in docs/types.md. Tags are part
 * of the stored format: one that was released keeps its meaning.
 */
export interface Kind<T extends object = object> {
  readonly tag: string;
  /** By brand and by exact prototype: an instance of a subclass is not of this kind. */
  test(value: object): value is T;
  /** The node of a value `depth` levels deep; `previous` is the node of this kind that was in its place before. */
  encode(value: T, previous: JsonObject | undefined, depth: number, encoding: Encoding): JsonObject;
  /** Whether a node is this value's, where that is faster to see than to encode. */
  same?(value: T, node: JsonObject): boolean;
  /** A fresh value from a node `depth` levels deep. Whatever `encode` could not have made is corrupt. */
  decode(node: JsonObject, depth: number, decoding: Decoding): T;
}

/** What a kind needs to capture what it holds. `depth` is that of the node the kind was asked for. */
export interface Encoding {
  /** Captures a value that is held one level below. */
  child(value: unknown, previous: Json | undefined, depth: number, step: Step): Json;
  /** Captures the properties of an object one level below; its keys are literal, "$" included. */
  fields(value: object, previous: Json | undefined, depth: number): JsonObject;
  /** Refuses own properties other than those named: they would be lost. */
  only(value: object, depth: number, ...names: string[]): void;
  /** Throws SERIALIZE for a property that is not an ordinary one. */
  refuseProperty(value: object, key: PropertyKey, depth: number): never;
  /** Throws SERIALIZE: "<path>: <what> cannot be stored. <next>". With `step`, the path is that of what is held there. */
  refuse(depth: number, what: string, next: string, step?: Step): never;
  /** Throws TOO_LARGE: no record can hold so many bytes. */
  refuseSize(depth: number, what: string, bytes: number): never;
}

/** What a kind needs to bring back what it holds. `depth` is that of the node given along with it. */
export interface Decoding {
  child(node: Json, depth: number): unknown;
  /** The inverse of {@link Encoding.fields}. */
  fields(node: Json, depth: number): Record<string, unknown>;
  /** Checks that a node has its tag, these parts, perhaps the optional ones, and nothing else. */
  parts<const Required extends string, const Optional extends string = never>(
    node: JsonObject,
    required: readonly Required[],
    optional?: readonly Optional[],
  ): { readonly [Name in Required]: Json } & { readonly [Name in Optional]?: Json };
  /** Throws CORRUPT: "A stored <tag> <fault>. …". */
  corrupt(node: JsonObject, fault: string, cause?: unknown): never;
  /** Throws UNSUPPORTED. */
  unsupported(message: string): never;
}

import type { Json, JsonObject } from "../../json.ts";
import type { ValueStep } from "../path.ts";

/**
 * A kind of object that JSON has no form for, stored as a node `{ "$": tag, … }`.
 *
 * To add a kind: a file here with both directions side by side, a line in all.ts, a row in docs/reference/types.md. Tags are part
 * of the stored format: a released tag keeps its meaning.
 */
export interface Kind<T extends object = object> {
  readonly tag: string;
  /** Tests the internal kind and the exact prototype: an instance of a subclass is not of this kind. */
  test(value: object): value is T;
  /** Returns the node of a value `depth` levels deep; `previous` is the node of this kind that it replaces. */
  encode(value: T, previous: JsonObject | undefined, depth: number, encoding: Encoding): JsonObject;
  /** Tells whether a node is that of this value, where that is faster than encoding. */
  same?(value: T, node: JsonObject): boolean;
  /**
   * Returns a fresh value from a node `depth` levels deep. Throws `CORRUPT` for a node that `encode` cannot have made.
   */
  decode(node: JsonObject, depth: number, decoding: Decoding): T;
}

/** Services of the encoder for a kind. `depth` is that of the node that the kind is encoding. */
export interface Encoding {
  /** Captures a value held one level below. */
  child(value: unknown, previous: Json | undefined, depth: number, step: ValueStep): Json;
  /** Captures the properties of an object one level below; its keys are literal, "$" included. */
  fields(value: object, previous: Json | undefined, depth: number): JsonObject;
  /** Refuses own properties other than `names`: they would be lost. */
  only(value: object, depth: number, ...names: PropertyKey[]): void;
  /** Throws SERIALIZE for a property that is not an ordinary one. */
  refuseProperty(value: object, key: PropertyKey, depth: number): never;
  /**
   * Throws SERIALIZE: "<path>: <what> cannot be stored. <next>". With `step`, the path leads on to the value held
   * there.
   */
  refuse(depth: number, what: string, next: string, step?: ValueStep): never;
  /** Throws TOO_LARGE: no record can hold that many bytes. */
  refuseSize(depth: number, what: string, bytes: number): never;
}

/** Services of the decoder for a kind. `depth` is that of the node passed with it. */
export interface Decoding {
  child(node: Json, depth: number): unknown;
  /** Reverses {@link Encoding.fields}. */
  fields(node: Json, depth: number): Record<string, unknown>;
  /** Checks that a node has its tag, the required parts, perhaps the optional ones, and nothing else. */
  parts<const Required extends string, const Optional extends string = never>(
    node: JsonObject,
    required: readonly Required[],
    optional?: readonly Optional[],
  ): { readonly [Name in Required]: Json } & { readonly [Name in Optional]?: Json };
  /** Throws CORRUPT: "A stored <tag> <fault>. …". */
  corruptNode(node: JsonObject, fault: string, cause?: unknown): never;
  /** Throws UNSUPPORTED. */
  unsupported(message: string): never;
}

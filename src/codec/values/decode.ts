import { ThreadmarkError } from "../../errors.ts";
import type { ClassCodec } from "../../model/interface/store-options.ts";
import { corruptTree } from "../corrupt.ts";
import { isObject, isTagged, type Json, type JsonObject, readableDepth } from "../json.ts";
import { kindByTag } from "./kinds/all.ts";
import type { Decoding } from "./kinds/kind.ts";
import { decodeBigint, decodeNumber, decodeUndefined } from "./kinds/primitive.ts";
import { UnregisteredInstance } from "./unregistered.ts";

/** Turns a tree into a value. With `owned`, untagged nodes become part of the value; else they are copied. */
export class Decoder implements Decoding {
  readonly #classes: ReadonlyMap<string, ClassCodec>;
  readonly #owned: boolean;
  readonly #keepUnregistered: boolean;

  constructor(classes: ReadonlyMap<string, ClassCodec>, owned: boolean, keepUnregistered = false) {
    this.#classes = classes;
    this.#owned = owned;
    this.#keepUnregistered = keepUnregistered;
  }

  child(node: Json, depth: number): unknown {
    if (typeof node !== "object" || node === null) return node;
    if (depth >= readableDepth) return corruptTree("A stored value is nested too deeply");
    if (Array.isArray(node)) return this.#elements(node, depth);
    return isTagged(node) ? this.#tagged(node, depth) : this.#fields(node, depth);
  }

  fields(node: Json, depth: number): Record<string, unknown> {
    return isObject(node) ? this.#fields(node, depth) : corruptTree("The properties of a stored object are missing");
  }

  parts<const Required extends string, const Optional extends string = never>(
    node: JsonObject,
    required: readonly Required[],
    optional: readonly Optional[] = [],
  ): { readonly [Name in Required]: Json } & { readonly [Name in Optional]?: Json } {
    const names: readonly string[] = [...required, ...optional];
    if (!required.every((name) => Object.hasOwn(node, name))) return this.corruptNode(node, "lacks a part");
    if (!Object.keys(node).every((name) => name === "$" || names.includes(name))) {
      return this.corruptNode(node, "has a part too many");
    }
    // Without a prototype, so that an inherited property is not taken for a part.
    const parts: unknown = Object.assign(Object.create(null), node);
    return parts as { readonly [Name in Required]: Json } & { readonly [Name in Optional]?: Json };
  }

  corruptNode(node: JsonObject, fault: string, cause?: unknown): never {
    return corruptTree(`A stored ${String(node.$)} ${fault}`, cause);
  }

  unsupported(message: string): never {
    throw new ThreadmarkError("UNSUPPORTED", message);
  }

  #elements(node: Json[], depth: number): unknown[] {
    const result: unknown[] = this.#owned ? node : node.slice();
    for (let index = 0; index < result.length; index++) {
      const element = result[index] as Json;
      if (typeof element === "object" && element !== null) result[index] = this.child(element, depth + 1);
    }
    return result;
  }

  #fields(node: JsonObject, depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = this.#owned ? node : { ...node };
    for (const key in result) {
      const field = result[key] as Json;
      // Setting an own property reaches no setter, "__proto__" included; inherited properties are skipped.
      if (typeof field === "object" && field !== null && Object.hasOwn(result, key)) {
        result[key] = this.child(field, depth + 1);
      }
    }
    return result;
  }

  #tagged(node: JsonObject, depth: number): unknown {
    const tag = node.$;
    if (typeof tag !== "string") return corruptTree("A stored value has a tag that is no string");
    const kind = kindByTag.get(tag);
    if (kind !== undefined) return kind.decode(node, depth, this);
    if (tag === "undefined") return decodeUndefined(node, this);
    if (tag === "number") return decodeNumber(node, this);
    if (tag === "bigint") return decodeBigint(node, this);
    if (tag === "object") return this.#escaped(node, depth);
    if (tag === "class") return this.#instance(node, depth);
    return this.unsupported(
      `A stored value has the tag ${JSON.stringify(tag)}, which this version of Threadmark does not know. ` +
        "Read it with the version that wrote it.",
    );
  }

  #escaped(node: JsonObject, depth: number): unknown {
    const { v } = this.parts(node, ["v"]);
    return isObject(v) && isTagged(v) ? this.fields(v, depth + 1) : this.corruptNode(node, "needed no escape");
  }

  #instance(node: JsonObject, depth: number): unknown {
    const { name, v } = this.parts(node, ["name", "v"]);
    if (typeof name !== "string") return this.corruptNode(node, "has no name");
    const codec = this.#classes.get(name);
    if (codec === undefined) {
      if (this.#keepUnregistered) return new UnregisteredInstance(name, this.child(v, depth + 1));
      return this.unsupported(
        `A stored value is an instance of the class ${name}, which is not registered. ` +
          `Register it: open(url, { classes: { ${name}: { test, encode, decode } } }).`,
      );
    }
    const data = this.child(v, depth + 1);
    try {
      return codec.decode(data);
    } catch (cause) {
      return this.corruptNode(node, `${name} was refused by its decode()`, cause);
    }
  }
}

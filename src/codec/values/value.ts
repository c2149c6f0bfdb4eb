import { ThreadmarkError } from "../../errors.ts";
import type { ClassCodec } from "../../model/interface/store-options.ts";
import { copyJson } from "../copy.ts";
import type { Json } from "../json.ts";
import type { RegisteredClass } from "./classes-and-kinds.ts";
import { Decoder } from "./decode.ts";
import { Encoder } from "./encode.ts";
import { isJsonPrimitive } from "./kinds/primitive.ts";
import { isAccessor, ordinaryNames } from "./properties.ts";

export interface Encoded {
  readonly tree: Json;
  /**
   * True if a node with a tag was made. If false, and the previous tree has no tag, neither has this tree; reused nodes
   * do not count.
   */
  readonly tagged: boolean;
}

export interface DecodeOptions {
  /** The tree was just parsed and belongs to this call alone: its untagged nodes may become part of the value. */
  readonly owned?: boolean;
  /** False promises that the tree has no tag. */
  readonly tagged?: boolean;
  /** How many levels are above the tree, where it is part of a larger one. */
  readonly depth?: number;
}

/** Converts values to plain JSON and back, exactly: a value without a form of its own in JSON gets a tag. */
export interface ValueCodec {
  /**
   * Captures a value as a tree of plain JSON. `root` begins the path in errors ("state"). Where a subtree equals the
   * subtree at the same position of `previous` (values, types and the order of keys), that very node is reused, so that
   * a later diff can skip it. The caller's objects never become part of the tree, except those that can never change.
   */
  encode(value: unknown, root: string, previous?: Json): Encoded;
  /** Returns the names of an object's fields. Throws `SERIALIZE` for any other property, which would be left out. */
  names(value: object, root: string): readonly string[];
  /**
   * Returns a fresh value. Throws `CORRUPT` for a tree that cannot have been encoded, `UNSUPPORTED` for an unknown
   * class.
   */
  decode(tree: Json, options?: DecodeOptions): unknown;
}

/**
 * Makes a codec. With `unregistered: "keep"`, instances of unregistered classes are read as {@link
 * UnregisteredInstance}.
 */
export function createValueCodec(
  classes: Readonly<Record<string, ClassCodec>> = {},
  unregistered: "refuse" | "keep" = "refuse",
): ValueCodec {
  const registered = Object.entries(classes).map(checked);
  const byName = new Map(registered);
  // Serves values without a previous version, such as the items of an append. Taken while in use, since a class may
  // encode while being encoded.
  let spare: Encoder | undefined = new Encoder(registered);
  return {
    encode(value, root, previous) {
      if (isJsonPrimitive(value)) return { tree: value, tagged: false };
      // A library that adds enumerable keys to Object.prototype makes them look like own keys in a comparison.
      if (previous !== undefined && !hasInheritedKeys()) return encode(new Encoder(registered), value, root, previous);
      const encoder = spare ?? new Encoder(registered);
      spare = undefined;
      try {
        return encode(encoder, value, root, undefined);
      } finally {
        encoder.release();
        spare = encoder;
      }
    },
    names(value, root) {
      const names = ordinaryNames(value);
      if (names?.every((name) => !isAccessor(value, name))) return names;
      // Encoding the object reports what is wrong with it.
      encode(new Encoder(registered), value, root, undefined);
      return Object.keys(value);
    },
    decode(tree, { owned = false, tagged = true, depth = 0 } = {}) {
      if (tagged) return new Decoder(byName, owned, unregistered === "keep").child(tree, depth);
      return owned ? tree : copyJson(tree);
    },
  };
}

function encode(encoder: Encoder, value: unknown, root: string, previous: Json | undefined): Encoded {
  try {
    return encoder.encode(value, root, previous);
  } catch (cause) {
    if (cause instanceof ThreadmarkError) throw cause;
    // Comparing reads no descriptors, so it may have run a getter that threw. Capturing without `previous` names the
    // getter's path.
    if (previous !== undefined) return encode(encoder, value, root, undefined);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ThreadmarkError("SERIALIZE", `${root}: The value cannot be read: ${why}. Store plain data.`, {
      path: root,
      cause,
    });
  }
}

function checked([name, codec]: [string, ClassCodec]): RegisteredClass {
  for (const method of ["test", "encode", "decode"] as const) {
    if (typeof codec?.[method] === "function") continue;
    throw new TypeError(`classes: ${name} has no ${method}(). A class is registered as { test, encode, decode }.`);
  }
  return [name, codec];
}

function hasInheritedKeys(): boolean {
  for (const _key in {}) return true;
  return false;
}

import { ThreadmarkError } from "../../errors.ts";
import type { ClassCodec } from "../../model/arguments.ts";
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
   * Whether a node with a tag was made. If not, and the previous tree has none, the tree has none: reused nodes do not
   * count, wherever in the tree they are now.
   */
  readonly tagged: boolean;
}

export interface DecodeOptions {
  /** The tree was just parsed and belongs to nobody else: its untagged nodes may be part of the value. */
  readonly owned?: boolean;
  /** False promises that there is no tag. */
  readonly tagged?: boolean;
  /** How many levels stand above the tree, where it is part of a larger one. */
  readonly depth?: number;
}

/** Live values ↔ plain JSON, exactly: what has no form of its own in JSON is tagged. */
export interface ValueCodec {
  /**
   * Captures a live value as a tree of plain JSON. `root` begins the path in errors ("state"). Where a subtree equals
   * the subtree in the same place of `previous`, in every value, type and the order of keys, that very node is reused:
   * a later diff can skip it. No object of the caller's becomes part of the tree but those that can never change.
   */
  encode(value: unknown, root: string, previous?: Json): Encoded;
  /** The names of an object's fields. `SERIALIZE` for any other property: it would be left out. */
  names(value: object, root: string): readonly string[];
  /** A fresh live value. A tree that could not have been encoded is `CORRUPT`, an unknown class `UNSUPPORTED`. */
  decode(tree: Json, options?: DecodeOptions): unknown;
}

/** With `unregistered: "keep"`, instances of classes that are not registered are read as {@link UnregisteredInstance}. */
export function createValueCodec(
  classes: Readonly<Record<string, ClassCodec>> = {},
  unregistered: "refuse" | "keep" = "refuse",
): ValueCodec {
  const registered = Object.entries(classes).map(checked);
  const byName = new Map(registered);
  // For values without a previous version: what a step appends. One at a time, since a class may encode within encoding.
  let spare: Encoder | undefined = new Encoder(registered);
  return {
    encode(value, root, previous) {
      if (isJsonPrimitive(value)) return { tree: value, tagged: false };
      // A library that adds enumerable keys to Object.prototype makes them look like everyone's own when comparing.
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
      // Encoding it tells what is wrong with it.
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
    // Comparing looks at no descriptors, so that it may have run a getter which threw. Without it, the getter has a path.
    if (previous !== undefined) return encode(encoder, value, root, undefined);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ThreadmarkError("SERIALIZE", `${root}: The value cannot be read: ${why}`, { path: root, cause });
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

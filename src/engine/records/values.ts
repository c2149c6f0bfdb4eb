import type { Key, Range, Value } from "../../backend.ts";
import { type Compression, unwrap, unwrapJson, type Version, wrap, wrapJson } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import { jsonText } from "../../codec/json-text.ts";
import { mayRefer, type NamedValue } from "../../codec/references.ts";
import { ThreadmarkError } from "../../errors.ts";
import { bytesOfBase64 } from "../../platform/bytes.ts";
import { cryptography } from "../../platform/node-builtins.ts";

/*
 * The records of large values. They belong to a lineage, not to a tape: `[name, value]`, or `[name, null, object]` where
 * the value is an object outside the store, with the key of the object where that is encrypted. The key has 64 bits of the name, the record all of them.
 */

/** A large value with the JSON that its name is made of. */
export interface LargeValue extends NamedValue {
  readonly json: string;
}

/** Names a value by its JSON; in an encrypted store by a function of the store. */
export function largeValue(json: string, nameFor: (json: string) => string = nameOf): LargeValue {
  return { name: nameFor(json), length: json.length, json };
}

export function nameOf(json: string): string {
  const digest = cryptography().hash("sha256", json, "binary");
  return btoa(digest).slice(0, NAME_LENGTH).replaceAll("+", "-").replaceAll("/", "_");
}

/** The length of a name: 256 bits in base64url. */
const NAME_LENGTH = 43;

export function valueKey(lineage: number, name: string): Key {
  const [item, part] = placeOf(name);
  return { table: "value", lineage, group: lineage, item, part };
}

/** The length of the part of a name that has its first 64 bits, in whole bytes. */
const PLACE_LENGTH = 12;

/** Returns the first 64 bits of a name as two integers. */
function placeOf(name: string): readonly [item: number, part: number] {
  const bytes = bytesOfBase64(name.slice(0, PLACE_LENGTH).replaceAll("-", "+").replaceAll("_", "/"));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return [view.getUint32(0), view.getUint32(4)];
}

/** Tells whether a value can have a record: the place of the collections' count is taken. */
export function hasPlace(name: string): boolean {
  const [item, part] = placeOf(name);
  return item !== 0 || part !== 0;
}

/** Returns the range of a lineage's large values, with the record that counts their collections. */
export function valueRange(lineage: number): Range {
  return { table: "value", lineage, group: lineage };
}

/** The format of a record that holds large values or refers to them: programs that know only format 1 refuse it. */
export const REFERRING = "2";

/** Wraps a value that may refer to large ones. */
export function wrapReferring(value: unknown): Value {
  const json = jsonText(value);
  return wrap(json, "none", versionOf(json));
}

/** Returns the version of the format that a reader of this JSON must know. */
export function versionOf(json: string): Version {
  return mayRefer(json) ? REFERRING : "1";
}

export function encodeValue({ name, json }: LargeValue, compression: Compression): Value {
  return wrap(`["${name}",${json}]`, compression, REFERRING);
}

/** Encodes the record of a value that is an object outside the store. */
export function encodeOutside(name: string, { object, key }: OutsideObject): Value {
  return wrapJson(key === undefined ? [name, null, object] : [name, null, object, key], "none", REFERRING);
}

/** An object outside the store, and the key that it is encrypted with. */
export interface OutsideObject {
  readonly object: string;
  readonly key?: string | undefined;
}

/**
 * Makes the name of a new object for a large value. It says where the record is that will name the object, so that an object
 * without one is found by itself, and is random beyond that: no name is used twice.
 */
export function newObjectName(lineage: number, name: string): string {
  const random = cryptography().randomBytes(16).toString("base64url");
  return `${lineage.toString(36)}-${name.slice(0, PLACE_LENGTH)}-${random}`;
}

const OBJECT_NAME = /^([0-9a-z]{1,8})-([\w-]{12})-[\w-]{22}$/;

/** Returns the key of the only record that can name an object, or undefined for a name that is no object's. */
export function recordOfObject(object: string): Key | undefined {
  const [, lineage, name] = OBJECT_NAME.exec(object) ?? [];
  if (lineage === undefined || name === undefined) return undefined;
  return valueKey(Number.parseInt(lineage, 36), name);
}

/** A record of a large value: the value as JSON text, or the name of an object that holds such a record. */
export interface ValueRecord {
  readonly name: string;
  readonly json: string | undefined;
  readonly object: string | undefined;
  /** The key of that object, where it is encrypted. */
  readonly key?: string;
}

const START = '["';
const VALUE = START.length + NAME_LENGTH + '",'.length;

export function decodeValue(value: Value): ValueRecord {
  const text = unwrap(value);
  const name = text.slice(START.length, START.length + NAME_LENGTH);
  const rest = text.slice(VALUE, -1);
  if (!text.startsWith(START) || text.slice(START.length + NAME_LENGTH, VALUE) !== '",') throw malformed();
  if (!rest.startsWith("null,")) return { name, json: rest, object: undefined };
  const [object, key] = JSON.parse(`[${rest.slice("null,".length)}]`) as readonly unknown[];
  if (typeof object !== "string" || (key !== undefined && typeof key !== "string")) throw malformed();
  return { name, json: undefined, object, ...(key !== undefined && { key }) };
}

/** Returns the value of a record. */
export function parseValue(json: string): Json {
  try {
    return JSON.parse(json) as Json;
  } catch {
    throw malformed();
  }
}

function malformed(): ThreadmarkError {
  return new ThreadmarkError("CORRUPT", "The record of a large value is malformed. Restore it from a backup.");
}

/*
 * A record of each lineage that has large values counts how often some were collected. A commit that refers to a value
 * which it does not insert checks the count: so the value is still there.
 */

export function collectionsKey(lineage: number): Key {
  return { table: "value", lineage, group: lineage, item: 0, part: 0 };
}

export const noCollections: Value = wrapJson({ collections: 0 }, "none", REFERRING);

/** Returns the count after one more collection. */
export function afterCollection(before: Value): Value {
  const { collections } = unwrapJson(before) as { readonly collections: number };
  return wrapJson({ collections: collections + 1 }, "none", REFERRING);
}

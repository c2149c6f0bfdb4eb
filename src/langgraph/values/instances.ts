import { assign } from "../../platform/plain-objects.ts";
import type { Constant, Field, KnownClass } from "./classes.ts";

/** Converts a part of a value, to or from its stored form. */
export type Convert = (part: unknown) => unknown;

/**
 * An instance of a known class in storage. Fields with their usual value (undefined, `{}`, `[]`) are left out. The
 * constructor's arguments, `lc_kwargs`, nearly always hold the very values of the fields: then `kw` lists these fields in
 * order, with a letter for each; else `kwargs` lists the keys, with a value where it differs from the field's.
 */
export interface StoredInstance {
  readonly lc: string;
  readonly kw?: string;
  readonly kwargs?: readonly (readonly [key: string, value?: unknown])[];
  /** Properties that instances of the class usually lack, or have with another value. */
  readonly own?: Readonly<Record<string, unknown>>;
  /** Properties that this instance lacks and others of the class have. */
  readonly absent?: readonly string[];
  readonly [field: string]: unknown;
}

type Fields = Record<string, unknown>;

/** Letters of keys. Invariant: a letter keeps its meaning, since it is part of the stored format. */
const letters: Readonly<Record<string, string>> = {
  content: "c",
  additional_kwargs: "a",
  response_metadata: "r",
  id: "i",
  name: "n",
  tool_calls: "t",
  invalid_tool_calls: "v",
  usage_metadata: "u",
  tool_call_chunks: "h",
  tool_call_id: "d",
  status: "s",
  artifact: "f",
  metadata: "m",
  role: "o",
  value: "l",
  messages: "g",
};
const keyOfLetter: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(letters).map(([key, letter]) => [letter, key]),
);

/** Returns the stored form of an instance. */
export function nodeOf(instance: Fields, known: KnownClass, convert: Convert): StoredInstance {
  if (!isUsual(instance, known)) return unusualNode(instance, known, convert);
  const node: Record<string, unknown> & { lc: string } = { lc: known.name };
  for (const { key, usual } of known.fields) {
    const value = instance[key];
    if (value === undefined ? usual !== undefined : !isEmpty(value, usual)) node[key] = convert(value);
  }
  if (known.kwargs) {
    const kwargs = instance["lc_kwargs"] as Fields;
    const kw = lettersOf(kwargs, instance);
    if (kw === undefined) node["kwargs"] = kwargsOf(kwargs, instance, convert);
    else node["kw"] = kw;
  }
  return node;
}

/** Tells whether an instance has exactly the properties and constants of its class. */
function isUsual(instance: Fields, known: KnownClass): boolean {
  const keys = Object.keys(instance);
  const { keys: usual, constants } = known;
  if (keys.length !== usual.length) return false;
  for (let index = 0; index < keys.length; index++) if (keys[index] !== usual[index]) return false;
  for (let index = 0; index < constants.length; index++) {
    const { key, value } = constants[index] as Constant;
    if (!isSameConstant(instance[key], value)) return false;
  }
  return !known.kwargs || isPlain(instance["lc_kwargs"]);
}

function isSameConstant(value: unknown, usual: unknown): boolean {
  if (value === usual || !Array.isArray(usual)) return value === usual;
  return Array.isArray(value) && value.length === usual.length && usual.every((part, index) => value[index] === part);
}

function isPlain(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Tells whether a value is the `{}` or `[]` that a field usually holds. */
export function isEmpty(value: unknown, usual: "object" | "array" | undefined): boolean {
  if (usual === undefined || typeof value !== "object" || value === null) return false;
  if (usual === "array") return Array.isArray(value) && value.length === 0;
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const _key in value) return false;
  return true;
}

/** Returns the letters of the keys of `lc_kwargs`, if all its values are the instance's own. */
export function lettersOf(kwargs: Fields, instance: Fields): string | undefined {
  let text = "";
  for (const key of Object.keys(kwargs)) {
    const letter = Object.hasOwn(letters, key) && Object.hasOwn(instance, key) ? letters[key] : undefined;
    if (letter === undefined || kwargs[key] !== instance[key]) return undefined;
    text += letter;
  }
  return text;
}

function kwargsOf(kwargs: Fields, instance: Fields, convert: Convert): (readonly [string, unknown?])[] {
  return Object.entries(kwargs).map(([key, value]) =>
    Object.hasOwn(instance, key) && Object.is(instance[key], value) ? [key] : [key, convert(value)],
  );
}

function unusualNode(instance: Fields, known: KnownClass, convert: Convert): StoredInstance {
  const node: Record<string, unknown> & { lc: string } = { lc: known.name };
  const own: [string, unknown][] = [];
  for (const [key, value] of Object.entries(instance)) {
    const constant = known.constants.find((other) => other.key === key);
    if (known.fields.some((field) => field.key === key)) node[key] = convert(value);
    else if (constant !== undefined && isSameConstant(value, constant.value)) continue;
    else if (key === "lc_kwargs" && known.kwargs && isPlain(value)) node["kwargs"] = kwargsOf(value, instance, convert);
    else own.push([key, convert(value)]);
  }
  const absent = known.keys.filter((key) => !Object.hasOwn(instance, key));
  if (own.length > 0) node["own"] = Object.fromEntries(own);
  if (absent.length > 0) node["absent"] = absent;
  return node;
}

/**
 * Tells whether a node with a class's name has the form that {@link nodeOf} gives it: the node of a class with `lc_kwargs` has
 * them in some form, or says that they are absent.
 */
export function isStoredInstance(node: Fields, known: KnownClass): node is StoredInstance {
  const { kw, kwargs, own, absent } = node;
  if (own !== undefined && !isPlain(own)) return false;
  if (absent !== undefined && !isListOf(absent, (key) => typeof key === "string")) return false;
  if (kwargs !== undefined && !isListOf(kwargs, (entry) => Array.isArray(entry) && typeof entry[0] === "string"))
    return false;
  if (kw !== undefined && typeof kw !== "string") return false;
  return !known.kwargs || [kw, kwargs, own, absent].some((part) => part !== undefined);
}

function isListOf(value: unknown, test: (element: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(test);
}

/** Makes an instance without running its constructor, which would validate the values once more. */
export function instanceOf(node: StoredInstance, known: KnownClass, convert: Convert): object {
  const instance = blankOf(known);
  const { fields } = known;
  for (let index = 0; index < fields.length; index++) {
    const { key, usual } = fields[index] as Field;
    const value = node[key];
    if (typeof value === "object" && value !== null) instance[key] = convert(value);
    else if (value !== undefined) instance[key] = value;
    else if (usual !== undefined && !Object.hasOwn(node, key)) instance[key] = usual === "array" ? [] : {};
  }
  const { absent, own } = node;
  if (absent !== undefined) for (const key of absent) delete instance[key];
  if (own !== undefined) for (const key of Object.keys(own)) assign(instance, key, convert(own[key]));
  if (node.kw !== undefined) fillKwargs(instance["lc_kwargs"] as Fields, node.kw, instance);
  else if (node.kwargs !== undefined) {
    const kwargs = instance["lc_kwargs"] as Fields;
    for (const [key, ...given] of node.kwargs)
      assign(kwargs, key, given.length === 0 ? instance[key] : convert(given[0]));
  }
  return instance;
}

/** Makes an instance with all its properties in their order, and empty fields. */
function blankOf(known: KnownClass): Fields {
  const instance = Object.create(known.prototype) as Fields & Record<symbol, unknown>;
  const { keys, symbols, constants } = known;
  for (let index = 0; index < keys.length; index++) instance[keys[index] as string] = undefined;
  for (let index = 0; index < constants.length; index++) {
    const { key, value } = constants[index] as Constant;
    instance[key] = Array.isArray(value) ? [...value] : value;
  }
  if (known.kwargs) instance["lc_kwargs"] = {};
  for (let index = 0; index < symbols.length; index++) instance[symbols[index] as symbol] = true;
  return instance;
}

function fillKwargs(kwargs: Fields, kw: string, instance: Fields): void {
  for (let index = 0; index < kw.length; index++) {
    const key = keyOfLetter[kw[index] as string];
    if (key !== undefined) kwargs[key] = instance[key];
  }
}

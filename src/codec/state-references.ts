import { assign } from "../platform/plain-objects.ts";
import { corruptTree } from "./corrupt.ts";
import { apply, type Delta, diff, same, sizeOf } from "./delta/index.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";

/**
 * Stands in a write for a value that the state of another checkpoint holds:
 *
 * `{ "$": { "$": "state", "p": path, "d": delta } }`
 *
 * `p` leads from the state to the value by keys and indexes; a negative index counts from the end of its list. With `d`, the
 * delta is applied to the value found.
 *
 * Invariant: no captured value has this form, since the tag of a captured node is a string.
 */
export type StateReference = { $: { $: "state"; p: Path; d?: Delta } };

type Path = readonly (string | number)[];

/** A value that a change has put into a state. */
export interface PlacedValue {
  readonly path: Path;
  readonly value: Json;
}

/** More places than this are not compared with every value: a step that changes so much has little to share. */
const MOST_PLACES = 32;

/** A shorter value takes no more than a reference to it. */
const LEAST = 48;

/**
 * Returns the places of a state that a change of it writes, with the values that they have afterwards. `after` is the state
 * afterwards, or those of its fields that were set: it has the strings of which the change only tells the difference.
 */
export function placesOf(change: Delta | undefined, after: Json | undefined): readonly PlacedValue[] {
  const places: PlacedValue[] = [];
  if (change !== undefined) addPlaces(places, change, after, []);
  return places;
}

function addPlaces(places: PlacedValue[], change: Delta, after: Json | undefined, path: Path): void {
  if (places.length >= MOST_PLACES) return;
  const { r, s, d, e, x, p } = change;
  const add = (step: string | number, value: Json): void => {
    if (places.length < MOST_PLACES && isLong(value)) places.push({ path: [...path, step], value });
  };
  if (r !== undefined && isLong(r)) places.push({ path, value: r });
  if (typeof after === "string" && isLong(after)) places.push({ path, value: after });
  for (const key in s) if (Object.hasOwn(s, key)) add(key, s[key] as Json);
  for (const key in d)
    if (Object.hasOwn(d, key)) addPlaces(places, d[key] as Delta, fieldOf(after, key), [...path, key]);
  if (x === undefined) {
    for (const [index, inner] of e ?? []) {
      addPlaces(places, inner, Array.isArray(after) ? after[index] : undefined, [...path, index]);
    }
  }
  for (const [index, item] of (p ?? []).entries()) add(index - (p as Json[]).length, item);
}

function fieldOf(node: Json | undefined, key: string): Json | undefined {
  return isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined;
}

function isLong(value: Json): boolean {
  return (typeof value === "string" || typeof value === "object") && sizeOf(value, LEAST) >= LEAST;
}

/**
 * Returns a value with references in place of its parts that stand in a state; the given nodes stay unchanged. They are sought
 * among the places that a change has written, and at the place `beside` with its parts by name, changed or not.
 */
export function referToState(value: Json, places: readonly PlacedValue[], beside?: PlacedValue): Json {
  if (!isLong(value)) return value;
  if (beside && same(beside.value, value)) return reference(beside.path);
  const found = places.find((place) => same(place.value, value));
  if (found) return reference(found.path);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => referToState(item, places));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const near = nearest(value, places);
  if (near) return near;
  let copy: JsonObject | undefined;
  for (const key of Object.keys(value)) {
    const part = beside && fieldOf(beside.value, key);
    const now = referToState(
      value[key] as Json,
      places,
      part === undefined ? undefined : { path: [...(beside as PlacedValue).path, key], value: part },
    );
    if (now === value[key]) continue;
    copy ??= { ...value };
    copy[key] = now;
  }
  return copy ?? value;
}

/** Returns a reference with a delta, where a place has nearly the same value: a message that got its id in the state. */
function nearest(value: JsonObject, places: readonly PlacedValue[]): Json | undefined {
  const keys = Object.keys(value);
  for (const place of places) {
    const other = place.value;
    if (!isObject(other) || !keys.every((key) => Object.hasOwn(other, key))) continue;
    const delta = diff(other, value);
    const most = sizeOf(value, Number.POSITIVE_INFINITY) / 2;
    if (delta !== undefined && sizeOf(delta as Json, most) < most) return reference(place.path, delta);
  }
  return undefined;
}

function reference(path: Path, delta?: Delta): Json {
  return { $: { $: "state", p: path, ...(delta !== undefined && { d: delta }) } } as unknown as Json;
}

/** Tells whether a node is a {@link StateReference}. */
export function isStateReference(node: Json): boolean {
  const tag = isObject(node) ? node["$"] : undefined;
  return isObject(tag) && tag["$"] === "state";
}

/** Tells whether a value has references into a state. */
export function refersToState(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(refersToState);
  return isStateReference(value) || Object.values(value).some(refersToState);
}

/** Returns a value with its references resolved. It may share nodes with the state; `CORRUPT` if that lacks a place. */
export function resolveInState(value: Json, state: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => resolveInState(item, state));
  if (isStateReference(value)) return valueAt(value as unknown as StateReference, state);
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    assign(copy, key, resolveInState(value[key] as Json, state));
  }
  return copy;
}

function valueAt({ $: { p: path, d: delta } }: StateReference, state: Json): Json {
  let node: Json | undefined = state;
  for (const step of path) {
    if (typeof step === "string") node = fieldOf(node, step);
    else node = Array.isArray(node) ? node.at(step) : undefined;
  }
  if (node === undefined) return corruptTree("A write refers to a value that its checkpoint's state does not have");
  return delta === undefined ? node : apply(node, delta);
}

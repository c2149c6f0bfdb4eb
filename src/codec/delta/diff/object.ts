import { assign } from "../../../platform/plain-objects.ts";
import type { Json, JsonObject } from "../../json.ts";
import type { Delta } from "../format.ts";
import { isIndex } from "../key-places.ts";
import { sizeOf } from "../measure.ts";
import { type Compare, enough, type NodeDiff, orReplaced } from "../node-diff.ts";
import { stayingKeys } from "./staying-keys.ts";

/** Compares two objects; undefined when they are equal. */
export function diffObject(
  before: JsonObject,
  after: JsonObject,
  depth: number,
  compare: Compare,
): NodeDiff | undefined {
  const beforeKeys = Object.keys(before);
  const afterKeys = Object.keys(after);
  const { unset, moved, places, order } = arrange(before, after, beforeKeys, afterKeys);
  const delta: Delta = {};
  const set: JsonObject = {};
  const edited: { [key: string]: Delta } = {};
  let changed = unset.length + moved.size + order.length;
  let gain = 0;
  let exact = true;
  for (const key of afterKeys) {
    const value = after[key]!;
    if (!Object.hasOwn(before, key) || moved.has(key)) {
      assign(set, key, value);
      changed += 1;
      continue;
    }
    const old = before[key]!;
    const change = old === value ? undefined : compare(old, value, depth + 1);
    if (change === undefined) {
      if (gain < enough) gain += key.length + 4 + sizeOf(value, enough);
      if (gain >= enough) exact = false;
      continue;
    }
    changed += 1;
    if (change.delta === undefined) {
      assign(set, key, value);
    } else {
      assign(edited, key, change.delta);
      gain += change.gain;
      if (!change.exact) exact = false;
    }
  }
  if (changed === 0) return undefined;
  if (unset.length + moved.size > 0) {
    delta.u = [...unset, ...moved];
    gain -= sizeOf(delta.u, Number.POSITIVE_INFINITY) + 5;
  }
  if (Object.keys(set).length > 0) {
    delta.s = set;
    gain -= 7;
  }
  if (Object.keys(edited).length > 0) {
    delta.d = edited;
    gain -= 7;
  }
  if (places.length > 0) {
    delta.m = places;
    gain -= sizeOf(places as Json, Number.POSITIVE_INFINITY) + 5;
  }
  if (order.length > 0) {
    delta.o = order;
    gain -= sizeOf(order, Number.POSITIVE_INFINITY) + 5;
  }
  return orReplaced(delta, after, gain, exact);
}

interface Arrangement {
  /** Keys that are gone. */
  readonly unset: string[];
  /** Keys to remove and set again, which moves them to the end or to one of the places. */
  readonly moved: ReadonlySet<string>;
  /** Places of keys that do not come to the end. */
  readonly places: NonNullable<Delta["m"]>;
  /** The full order of keys, where that is smaller than moving some. */
  readonly order: string[];
}

const asItIs: Arrangement = { unset: [], moved: new Set(), places: [], order: [] };

/** Works out how to bring the keys into their final order. */
function arrange(before: JsonObject, after: JsonObject, beforeKeys: string[], afterKeys: string[]): Arrangement {
  if (startsWith(afterKeys, beforeKeys)) return asItIs;
  const unset = beforeKeys.filter((key) => !Object.hasOwn(after, key));
  // JavaScript keeps keys that look like array indexes in front and sorted, so only the others can be out of order.
  const kept = beforeKeys.filter((key) => Object.hasOwn(after, key) && !isIndex(key));
  const wanted = afterKeys.filter((key) => !isIndex(key));
  if (startsWith(wanted, kept)) return { ...asItIs, unset };
  const common = wanted.filter((key) => Object.hasOwn(before, key));
  const staying = stayingKeys(kept, common);
  const moved = common.filter((key) => !staying.has(key));
  const places = placesIn(wanted, staying);
  const orderSize = sizeOf(afterKeys, Number.POSITIVE_INFINITY);
  let size = sizeOf(places as Json, orderSize);
  for (const key of moved) {
    if (size > orderSize) break;
    size += 2 * key.length + 6 + sizeOf(after[key]!, orderSize);
  }
  if (size > orderSize) return { ...asItIs, unset, order: afterKeys };
  return { unset, moved: new Set(moved), places, order: [] };
}

/** Lists the keys that stand before a key that stays, by that key. */
function placesIn(wanted: readonly string[], staying: ReadonlySet<string>): NonNullable<Delta["m"]> {
  const places: NonNullable<Delta["m"]> = [];
  let keys: string[] = [];
  for (const key of wanted) {
    if (!staying.has(key)) {
      keys.push(key);
    } else if (keys.length > 0) {
      places.push([key, ...keys]);
      keys = [];
    }
  }
  return places;
}

function startsWith(keys: readonly string[], start: readonly string[]): boolean {
  if (keys.length < start.length) return false;
  for (let index = 0; index < start.length; index++) if (keys[index] !== start[index]) return false;
  return true;
}

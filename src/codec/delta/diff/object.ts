import type { JsonObject } from "../../json.ts";
import { assign, type Delta } from "../format.ts";
import { sizeOf } from "../measure.ts";
import { type Compare, enough, type NodeDiff, orReplaced } from "../node-diff.ts";

/** Compares two objects; undefined when they are equal. */
export function diffObject(
  before: JsonObject,
  after: JsonObject,
  depth: number,
  compare: Compare,
): NodeDiff | undefined {
  const beforeKeys = Object.keys(before);
  const afterKeys = Object.keys(after);
  const { unset, moved, order } = arrange(before, after, beforeKeys, afterKeys);
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
  if (order.length > 0) {
    delta.o = order;
    gain -= sizeOf(order, Number.POSITIVE_INFINITY) + 5;
  }
  return orReplaced(delta, after, gain, exact);
}

interface Arrangement {
  /** Keys that are gone. */
  readonly unset: string[];
  /** Keys to remove and set again, which moves them to the end. */
  readonly moved: ReadonlySet<string>;
  /** The full order of keys, where that is smaller than moving some. */
  readonly order: string[];
}

const asItIs: Arrangement = { unset: [], moved: new Set(), order: [] };

/** Works out how to bring the keys into their final order. */
function arrange(before: JsonObject, after: JsonObject, beforeKeys: string[], afterKeys: string[]): Arrangement {
  if (startsWith(afterKeys, beforeKeys)) return asItIs;
  const unset = beforeKeys.filter((key) => !Object.hasOwn(after, key));
  // JavaScript keeps keys that look like array indexes in front and sorted, so only the others can be out of order.
  const kept = beforeKeys.filter((key) => Object.hasOwn(after, key) && !isIndex(key));
  const wanted = afterKeys.filter((key) => !isIndex(key));
  if (startsWith(wanted, kept)) return { ...asItIs, unset };
  const staying = new Set<string>();
  let position = 0;
  for (const key of wanted) {
    const at = kept.indexOf(key, position);
    if (at < 0) break;
    staying.add(key);
    position = at + 1;
  }
  const moved = wanted.filter((key) => Object.hasOwn(before, key) && !staying.has(key));
  const orderSize = sizeOf(afterKeys, Number.POSITIVE_INFINITY);
  let movedSize = 0;
  for (const key of moved) {
    movedSize += 2 * key.length + 6 + sizeOf(after[key]!, orderSize);
    if (movedSize > orderSize) return { unset, moved: asItIs.moved, order: afterKeys };
  }
  return { unset, moved: new Set(moved), order: [] };
}

function startsWith(keys: readonly string[], start: readonly string[]): boolean {
  if (keys.length < start.length) return false;
  for (let index = 0; index < start.length; index++) if (keys[index] !== start[index]) return false;
  return true;
}

function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 4_294_967_295;
}

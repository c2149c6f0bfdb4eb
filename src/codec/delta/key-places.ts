import type { JsonObject } from "../json.ts";
import { corruptDelta, type Delta, readFields, readKeys, readList } from "./format.ts";

/** Keys that stand right before the place that `anchor` had before the change. */
export interface KeyRun {
  readonly anchor: string;
  readonly keys: readonly string[];
}

/** Returns true for a key that looks like an array index: JavaScript keeps these in front, and sorted. */
export function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 4_294_967_295;
}

/** Reads the places of new keys: lists of an anchor and keys of `s`, no anchor and no key twice, and none that is an index. */
export function readPlaces({ m, s = {} }: Delta): readonly KeyRun[] {
  const set = readFields(s, "s");
  const anchors = new Set<string>();
  const placed = new Set<string>();
  return readList(m, "m").map((entry) => {
    if (readKeys(entry, "m").some(isIndex)) throw corruptDelta('"m" names a key whose place is fixed');
    const [anchor, ...keys] = entry;
    if (anchor === undefined || keys.length === 0) throw corruptDelta('"m" must be a list of an anchor and keys');
    if (anchors.has(anchor)) throw corruptDelta('"m" names an anchor twice');
    anchors.add(anchor);
    for (const key of keys) {
      if (placed.has(key)) throw corruptDelta('"m" names a key twice');
      if (!Object.hasOwn(set, key)) throw corruptDelta('"m" places a key that "s" does not set');
      placed.add(key);
    }
    return { anchor, keys };
  });
}

/**
 * Returns the keys of an object in their final order, after a change with places. `before` are its keys before the change; `after`
 * has the keys that are new at the end. A run whose anchor was not there leaves its keys at the end.
 */
export function placedOrder(before: readonly string[], after: JsonObject, delta: Delta): ReadonlySet<string> {
  const removed = new Set(delta.u);
  const kept = new Set(before.filter((key) => !removed.has(key)));
  const byAnchor = new Map<string, readonly string[]>();
  for (const { anchor, keys } of readPlaces(delta)) {
    for (const key of keys) {
      if (kept.has(key)) throw corruptDelta("it places a key that is there already");
    }
    byAnchor.set(anchor, keys);
  }
  const order = new Set<string>();
  for (const key of before) {
    for (const placed of byAnchor.get(key) ?? []) order.add(placed);
    if (kept.has(key)) order.add(key);
  }
  for (const key of Object.keys(after)) order.add(key);
  return order;
}

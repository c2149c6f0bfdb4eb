import { assign } from "../../../platform/plain-objects.ts";
import type { Json } from "../../json.ts";
import { diff } from "../diff/diff.ts";
import { isReplacement } from "../diff/replacement.ts";
import { type Delta, type ItemReference, kindOf, type SealedStep } from "../format.ts";
import { Net } from "../join/net.ts";
import { startsWith } from "../measure.ts";
import { finished, type Pieces } from "../pieces.ts";
import { NetNode } from "./net-node.ts";

/** A sequence of deltas, with the lasting values apart from those overwritten on the way. */
export interface Sealed {
  /** The composition of all deltas. */
  readonly net: Delta;
  /** The single deltas, with references into `net` instead of the values that survive there. */
  readonly steps: readonly SealedStep[];
}

/**
 * Composes consecutive deltas so that `unseal` can recover each of them. The arguments stay unchanged; the result
 * shares nodes with them.
 *
 * @throws ThreadmarkError `CORRUPT` when a delta is malformed, or cannot follow those before it.
 */
export function seal(deltas: readonly Delta[]): Sealed {
  return finished(sealing(deltas));
}

/** Does the work of {@link seal} in pieces: the caller may do something else after each. */
export function* sealing(deltas: readonly Delta[]): Pieces<Sealed> {
  const composed = new Net();
  for (const delta of deltas) {
    composed.add(delta);
    yield;
  }
  const net = composed.delta();
  const netNode = NetNode.of(net);
  const { copies } = composed;
  const steps: SealedStep[] = [];
  for (const delta of deltas) {
    steps.push(sealDelta(delta, netNode, copies));
    yield;
  }
  return { net, steps };
}

/** Maps values of the deltas to their changed copies in the net delta. */
type Copies = ReadonlyMap<Json, Json>;

function sealDelta(delta: Delta, netNode: NetNode | undefined, copies: Copies): SealedStep {
  if (netNode === undefined) return delta;
  switch (kindOf(delta, 0)) {
    case "replace": {
      const reference = referTo(netNode, delta.r as Json, copies);
      return reference === undefined ? delta : { b: reference };
    }
    case "object":
      return sealObject(delta, netNode, copies);
    case "array":
      return sealArray(delta, netNode, copies);
    case "text":
      return sealText(delta, netNode);
    default:
      return delta;
  }
}

/** Strings up to this length are not worth a reference. */
const shortText = 12;

/**
 * Returns the delta from the net node's value back to this one, if that value grew out of it. `{}` if it is that very
 * value.
 */
function referTo(netNode: NetNode, value: Json, copies: Copies): Delta | undefined {
  const final = netNode.value;
  if (typeof value === "string") {
    if (typeof final !== "string" || value.length <= shortText || !startsWith(final, value)) return undefined;
    const rest = final.length - value.length;
    return rest === 0 ? {} : { l: final.length, t: [[value.length, rest, ""]] };
  }
  if (typeof value !== "object" || value === null || final === undefined) return undefined;
  if (value === final) return netNode.take() ? {} : undefined;
  return copies.get(value) === final ? difference(final, value) : undefined;
}

/** Returns the delta between two values, if it is smaller than the value. */
function difference(from: Json, to: Json): Delta | undefined {
  const delta = diff(from, to);
  return delta === undefined || isReplacement(delta) ? undefined : delta;
}

function sealObject(delta: Delta, netNode: NetNode, copies: Copies): SealedStep {
  const step: SealedStep = {};
  if (delta.u !== undefined) step.u = delta.u;
  if (delta.s !== undefined) sealSet(delta.s, netNode, copies, step);
  if (delta.d !== undefined) {
    step.d = {};
    for (const key of Object.keys(delta.d)) {
      assign(step.d, key, sealDelta(delta.d[key] as Delta, netNode.field(key), copies));
    }
  }
  if (delta.m !== undefined) step.m = delta.m;
  if (delta.o !== undefined) step.o = delta.o;
  return step;
}

function sealSet(set: { [key: string]: Json }, netNode: NetNode, copies: Copies, step: SealedStep): void {
  const keys = Object.keys(set);
  const references: (Delta | undefined)[] = [];
  let literals = 0;
  for (const key of keys) {
    const field = netNode.field(key);
    const reference = field === undefined ? undefined : referTo(field, set[key] as Json, copies);
    references.push(reference);
    if (reference === undefined) literals++;
  }
  if (literals === keys.length) {
    step.s = set;
    return;
  }
  const literal: { [key: string]: Json } = {};
  const taken: string[] = [];
  const earlier: { [key: string]: Delta } = {};
  for (const [index, key] of keys.entries()) {
    const reference = references[index];
    if (reference === undefined) assign(literal, key, set[key] as Json);
    else if (Object.keys(reference).length === 0) taken.push(key);
    else assign(earlier, key, reference);
  }
  if (literals > 0) step.s = literal;
  if (taken.length > 0) step.h = taken;
  if (literals + taken.length < keys.length) step.v = earlier;
  if (!isOrdered(keys, [...Object.keys(literal), ...taken, ...Object.keys(earlier)])) step.k = keys;
}

/** Tells whether properties set in the order `given` end up in the order `wanted`. */
function isOrdered(wanted: readonly string[], given: readonly string[]): boolean {
  const probe: { [key: string]: boolean } = {};
  for (const key of given) assign(probe, key, true);
  return Object.keys(probe).every((key, index) => key === wanted[index]);
}

function sealArray(delta: Delta, netNode: NetNode, copies: Copies): SealedStep {
  const step: SealedStep = {};
  if (delta.l !== undefined) step.l = delta.l;
  if (delta.e !== undefined) {
    step.e = delta.e.map(([index, change]) => [index, sealDelta(change, netNode.element(index), copies)]);
  }
  if (delta.x !== undefined) {
    const sealed = delta.x.map(([start, removed, ...items]) => ({
      start,
      removed,
      items: referToItems(items, netNode, copies),
    }));
    if (sealed.some(({ items }) => items.some(isReference))) {
      step.y = sealed.map(({ start, removed, items }) => [start, removed, ...items]);
    } else {
      step.x = delta.x;
    }
  }
  if (delta.p !== undefined) {
    const items = referToItems(delta.p, netNode, copies);
    const [first] = items;
    if (items.length === 1 && typeof first === "number") step.n = first;
    else if (items.some(isReference)) step.n = items;
    else step.p = delta.p;
  }
  return step;
}

function isReference(item: ItemReference): boolean {
  return typeof item !== "object" || !("r" in item);
}

function referToItems(items: readonly Json[], netNode: NetNode, copies: Copies): ItemReference[] {
  const pool = netNode.items;
  const references: ItemReference[] = [];
  for (let index = 0; index < items.length; ) {
    const item = items[index] as Json;
    const at = locate(item, netNode);
    let count = 0;
    while (at >= 0 && index + count < items.length && pool[at + count] === items[index + count]) {
      if (!netNode.takeItem(at + count)) break;
      count++;
    }
    if (count > 0) {
      references.push(at === netNode.cursor ? count : [at, count]);
      netNode.cursor = at + count;
      index += count;
      continue;
    }
    references.push(...(referToEarlier(item, netNode, copies) ?? [{ r: item }]));
    index++;
  }
  return references;
}

/**
 * Returns the position of an element in the net node, or −1. A short value is only worth a reference when it is next in
 * turn.
 */
function locate(item: Json, netNode: NetNode): number {
  const { items, cursor } = netNode;
  if (items[cursor] === item) return cursor;
  const worthwhile = typeof item === "string" ? item.length > shortText : typeof item === "object" && item !== null;
  if (!worthwhile) return -1;
  const ahead = items.indexOf(item, cursor);
  return ahead >= 0 ? ahead : items.indexOf(item);
}

/** Refers to an element that later deltas changed: the net node holds its final version. */
function referToEarlier(item: Json, netNode: NetNode, copies: Copies): ItemReference[] | undefined {
  const copy = copies.get(item);
  if (copy === undefined) return undefined;
  const at = netNode.items.indexOf(copy);
  const change = at < 0 ? undefined : difference(copy, item);
  if (change === undefined) return undefined;
  const move: ItemReference[] = at === netNode.cursor ? [] : [[at, 0]];
  netNode.cursor = at + 1;
  return [...move, { b: change }];
}

function sealText(delta: Delta, netNode: NetNode): SealedStep {
  const step: SealedStep = {};
  if (delta.l !== undefined) step.l = delta.l;
  if (delta.t !== undefined) {
    let found = false;
    const splices = delta.t.map(([start, removed, text]): NonNullable<SealedStep["w"]>[number] => {
      const at = locateText(text, netNode, start);
      if (at < 0) return [start, removed, text];
      found = true;
      return [start, removed, at, text.length];
    });
    if (found) step.w = splices;
    else step.t = delta.t;
  }
  if (delta.a !== undefined) {
    const at = locateText(delta.a, netNode, -1);
    if (at < 0) {
      step.a = delta.a;
    } else {
      step.c = at === netNode.cursor ? delta.a.length : [at, delta.a.length];
      netNode.cursor = at + delta.a.length;
    }
  }
  return step;
}

/** Longer texts are not searched; only the likely positions are tried. */
const searchable = 65_536;

function locateText(text: string, netNode: NetNode, likely: number): number {
  if (text.length <= shortText) return -1;
  const pool = netNode.text;
  if (startsWith(pool, text, netNode.cursor)) return netNode.cursor;
  if (likely >= 0 && startsWith(pool, text, likely)) return likely;
  return pool.length <= searchable ? pool.indexOf(text) : -1;
}

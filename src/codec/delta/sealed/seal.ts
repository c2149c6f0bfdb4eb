import type { Json } from "../../json.ts";
import { diff } from "../diff/diff.ts";
import { isReplacement } from "../diff/replacement.ts";
import { assign, type Delta, type ItemReference, kindOf, type Step } from "../format.ts";
import { Net } from "../join/net.ts";
import { startsWith } from "../measure.ts";
import { Source } from "../source.ts";

/** A sequence of deltas, what lasts kept apart from what was overwritten on the way. */
export interface Sealed {
  /** The composition of all of them. */
  readonly net: Delta;
  /** The single deltas, with references into `net` in place of all that lives on there. */
  readonly steps: readonly Step[];
}

/**
 * Composes deltas that follow one another, keeping what it takes to get each of them back with `unseal`. The arguments
 * are left as they were; the result shares nodes with them.
 *
 * @throws ThreadmarkError `CORRUPT` when a delta is malformed, or cannot follow those before it.
 */
export function seal(deltas: readonly Delta[]): Sealed {
  const composed = new Net();
  for (const delta of deltas) composed.add(delta);
  const net = composed.delta();
  const source = Source.of(net);
  const { copies } = composed;
  return { net, steps: deltas.map((delta) => sealDelta(delta, source, copies)) };
}

/** Which value became which in the net delta. */
type Copies = ReadonlyMap<Json, Json>;

function sealDelta(delta: Delta, source: Source | undefined, copies: Copies): Step {
  if (source === undefined) return delta;
  switch (kindOf(delta, 0)) {
    case "replace": {
      const reference = referTo(source, delta.r as Json, copies);
      return reference === undefined ? delta : { b: reference };
    }
    case "object":
      return sealObject(delta, source, copies);
    case "array":
      return sealArray(delta, source, copies);
    case "text":
      return sealText(delta, source);
    default:
      return delta;
  }
}

/** Strings up to this length are not worth a reference. */
const shortText = 12;

/** The delta from the source's value to this one, if this one became the source's value. `{}`: it is that very value. */
function referTo(source: Source, value: Json, copies: Copies): Delta | undefined {
  const final = source.value;
  if (typeof value === "string") {
    if (typeof final !== "string" || value.length <= shortText || !startsWith(final, value)) return undefined;
    const rest = final.length - value.length;
    return rest === 0 ? {} : { l: final.length, t: [[value.length, rest, ""]] };
  }
  if (typeof value !== "object" || value === null || final === undefined) return undefined;
  if (value === final) return source.take() ? {} : undefined;
  return copies.get(value) === final ? difference(final, value) : undefined;
}

/** The delta between two values, if there is one smaller than the value. */
function difference(from: Json, to: Json): Delta | undefined {
  const delta = diff(from, to);
  return delta === undefined || isReplacement(delta) ? undefined : delta;
}

function sealObject(delta: Delta, source: Source, copies: Copies): Step {
  const step: Step = {};
  if (delta.u !== undefined) step.u = delta.u;
  if (delta.s !== undefined) sealSet(delta.s, source, copies, step);
  if (delta.d !== undefined) {
    step.d = {};
    for (const key of Object.keys(delta.d)) {
      assign(step.d, key, sealDelta(delta.d[key] as Delta, source.field(key), copies));
    }
  }
  if (delta.o !== undefined) step.o = delta.o;
  return step;
}

function sealSet(set: { [key: string]: Json }, source: Source, copies: Copies, step: Step): void {
  const keys = Object.keys(set);
  const references: (Delta | undefined)[] = [];
  let literals = 0;
  for (const key of keys) {
    const field = source.field(key);
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

/** Whether properties set in this order come to stand in that one. */
function isOrdered(wanted: readonly string[], given: readonly string[]): boolean {
  const probe: { [key: string]: boolean } = {};
  for (const key of given) assign(probe, key, true);
  return Object.keys(probe).every((key, index) => key === wanted[index]);
}

function sealArray(delta: Delta, source: Source, copies: Copies): Step {
  const step: Step = {};
  if (delta.l !== undefined) step.l = delta.l;
  if (delta.e !== undefined) {
    step.e = delta.e.map(([index, change]) => [index, sealDelta(change, source.element(index), copies)]);
  }
  if (delta.x !== undefined) {
    const sealed = delta.x.map(([start, removed, ...items]) => ({
      start,
      removed,
      items: referToItems(items, source, copies),
    }));
    if (sealed.some(({ items }) => items.some(isReference))) {
      step.y = sealed.map(({ start, removed, items }) => [start, removed, ...items]);
    } else {
      step.x = delta.x;
    }
  }
  if (delta.p !== undefined) {
    const items = referToItems(delta.p, source, copies);
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

function referToItems(items: readonly Json[], source: Source, copies: Copies): ItemReference[] {
  const pool = source.items;
  const references: ItemReference[] = [];
  for (let index = 0; index < items.length; ) {
    const item = items[index] as Json;
    const at = locate(item, source);
    let count = 0;
    while (at >= 0 && index + count < items.length && pool[at + count] === items[index + count]) {
      if (!source.takeItem(at + count)) break;
      count++;
    }
    if (count > 0) {
      references.push(at === source.cursor ? count : [at, count]);
      source.cursor = at + count;
      index += count;
      continue;
    }
    references.push(...(referToEarlier(item, source, copies) ?? [{ r: item }]));
    index++;
  }
  return references;
}

/** Where in the source an element stands, or −1. Short values are only worth a reference when they are next in turn. */
function locate(item: Json, source: Source): number {
  const { items, cursor } = source;
  if (items[cursor] === item) return cursor;
  const worthwhile = typeof item === "string" ? item.length > shortText : typeof item === "object" && item !== null;
  if (!worthwhile) return -1;
  const ahead = items.indexOf(item, cursor);
  return ahead >= 0 ? ahead : items.indexOf(item);
}

/** An element that later deltas changed: the source holds what became of it. */
function referToEarlier(item: Json, source: Source, copies: Copies): ItemReference[] | undefined {
  const copy = copies.get(item);
  if (copy === undefined) return undefined;
  const at = source.items.indexOf(copy);
  const change = at < 0 ? undefined : difference(copy, item);
  if (change === undefined) return undefined;
  const move: ItemReference[] = at === source.cursor ? [] : [[at, 0]];
  source.cursor = at + 1;
  return [...move, { b: change }];
}

function sealText(delta: Delta, source: Source): Step {
  const step: Step = {};
  if (delta.l !== undefined) step.l = delta.l;
  if (delta.t !== undefined) {
    let found = false;
    const splices = delta.t.map(([start, removed, text]): NonNullable<Step["w"]>[number] => {
      const at = locateText(text, source, start);
      if (at < 0) return [start, removed, text];
      found = true;
      return [start, removed, at, text.length];
    });
    if (found) step.w = splices;
    else step.t = delta.t;
  }
  if (delta.a !== undefined) {
    const at = locateText(delta.a, source, -1);
    if (at < 0) {
      step.a = delta.a;
    } else {
      step.c = at === source.cursor ? delta.a.length : [at, delta.a.length];
      source.cursor = at + delta.a.length;
    }
  }
  return step;
}

/** In longer texts only the likely places are tried. */
const searchable = 65_536;

function locateText(text: string, source: Source, likely: number): number {
  if (text.length <= shortText) return -1;
  const pool = source.text;
  if (startsWith(pool, text, source.cursor)) return source.cursor;
  if (likely >= 0 && startsWith(pool, text, likely)) return likely;
  return pool.length <= searchable ? pool.indexOf(text) : -1;
}

import type { Json } from "../../json.ts";
import {
  assign,
  corrupt,
  type Delta,
  type ItemReference,
  kindOfStep,
  readEdit,
  readFields,
  readKeys,
  readList,
  readText,
  readWhole,
  type Step,
} from "../format.ts";
import { apply } from "../join/patch.ts";
import { Source } from "../source.ts";

/**
 * The first `count` deltas of a sealed sequence. They share nodes with `net` and `steps`, but no node with one another:
 * each may be given to `applyOwned` when `net` is not used any more.
 *
 * @throws ThreadmarkError `CORRUPT` when the parts are malformed or do not belong together.
 */
export function unseal(net: Delta, steps: readonly Step[], count: number): Delta[] {
  const source = Source.of(net);
  readWhole(count, 0, readList(steps as Step[], "steps").length, "count");
  return steps.slice(0, count).map((step) => unsealStep(step, source, 0));
}

function unsealStep(step: Step, source: Source | undefined, depth: number): Delta {
  switch (kindOfStep(step, depth)) {
    case "nothing":
      return {};
    case "replace":
      return { r: step.b === undefined ? (step.r as Json) : earlier(source?.value, step.b) };
    case "object":
      return unsealObject(step, source, depth);
    case "array":
      return unsealArray(step, source, depth);
    case "text":
      return unsealText(step, source);
  }
}

/** The value that the change leads back to. What is not the value itself is a copy: two steps may lead back to one node. */
function earlier(final: Json | undefined, change: Delta): Json {
  if (final === undefined) throw corrupt("a step refers to a value that is not in the net delta");
  const value = apply(final, change);
  return value === final ? value : copyOf(value);
}

function copyOf(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  const copy = { ...value };
  for (const key of Object.keys(copy)) assign(copy, key, copyOf(copy[key] as Json));
  return copy;
}

function unsealObject(step: Step, source: Source | undefined, depth: number): Delta {
  const delta: Delta = {};
  if (step.u !== undefined) delta.u = step.u;
  if (step.h === undefined && step.v === undefined) {
    if (step.s !== undefined) delta.s = step.s;
  } else {
    delta.s = unsealSet(step, source);
  }
  if (step.d !== undefined) {
    const changes = readFields(step.d, "d");
    delta.d = {};
    for (const key of Object.keys(changes)) {
      assign(delta.d, key, unsealStep(changes[key] as Step, source?.field(key), depth + 1));
    }
  }
  if (step.o !== undefined) delta.o = step.o;
  return delta;
}

function unsealSet(step: Step, source: Source | undefined): { [key: string]: Json } {
  const set: { [key: string]: Json } = {};
  if (step.s !== undefined) {
    const literal = readFields(step.s, "s");
    for (const key of Object.keys(literal)) assign(set, key, literal[key] as Json);
  }
  if (step.h !== undefined) {
    for (const key of readKeys(step.h, "h")) assign(set, key, earlier(source?.field(key)?.value, {}));
  }
  if (step.v !== undefined) {
    const changes = readFields(step.v, "v");
    for (const key of Object.keys(changes)) {
      assign(set, key, earlier(source?.field(key)?.value, changes[key] as Delta));
    }
  }
  if (step.k === undefined) return set;
  const ordered: { [key: string]: Json } = {};
  for (const key of readKeys(step.k, "k")) {
    if (!Object.hasOwn(set, key)) throw corrupt('"k" orders a key that is not set');
    assign(ordered, key, set[key] as Json);
  }
  return ordered;
}

function unsealArray(step: Step, source: Source | undefined, depth: number): Delta {
  const delta: Delta = {};
  if (step.l !== undefined) delta.l = step.l;
  if (step.e !== undefined) {
    delta.e = readList(step.e, "e").map((entry) => {
      const [index, change] = readEdit(entry, 0, Number.MAX_SAFE_INTEGER);
      return [index, unsealStep(change, source?.element(index), depth + 1)];
    });
  }
  if (step.x !== undefined) delta.x = step.x;
  if (step.y !== undefined) {
    delta.x = readList(step.y, "y").map((entry) => {
      if (!Array.isArray(entry)) throw corrupt('"y" must be a list of splices');
      const [start, removed, ...items] = entry;
      return [start, removed, ...itemsAt(items, source)];
    });
  }
  if (step.p !== undefined) delta.p = step.p;
  if (step.n !== undefined) {
    delta.p = itemsAt(typeof step.n === "number" ? [step.n] : readList(step.n, "n"), source);
  }
  return delta;
}

function itemsAt(references: readonly ItemReference[], source: Source | undefined): Json[] {
  if (source === undefined) throw corrupt("a step refers to elements that are not in the net delta");
  const pool = source.items;
  const items: Json[] = [];
  for (const reference of references) {
    if (typeof reference === "number" || Array.isArray(reference)) {
      const [from, count] = typeof reference === "number" ? [source.cursor, reference] : reference;
      const start = readWhole(from, 0, pool.length, "n");
      source.cursor = start + readWhole(count, 0, pool.length - start, "n");
      for (let index = start; index < source.cursor; index++) items.push(pool[index] as Json);
    } else if ("b" in readFields(reference, "n")) {
      items.push(earlier(pool[source.cursor++], (reference as { b: Delta }).b));
    } else if ("r" in reference) {
      items.push(reference.r);
    } else {
      throw corrupt('"n" has a reference of an unknown kind');
    }
  }
  return items;
}

function unsealText(step: Step, source: Source | undefined): Delta {
  const delta: Delta = {};
  if (step.l !== undefined) delta.l = step.l;
  if (step.t !== undefined) delta.t = step.t;
  if (step.w !== undefined) {
    delta.t = readList(step.w, "w").map((entry) => {
      if (!Array.isArray(entry)) throw corrupt('"w" must be a list of splices');
      const [start, removed, from, count] = entry;
      return [start, removed, typeof from === "string" ? from : textAt(source, from, count)];
    });
  }
  if (step.a !== undefined) delta.a = step.a;
  if (step.c !== undefined) {
    const [from, count] = typeof step.c === "number" ? [source?.cursor, step.c] : readList(step.c, "c");
    const text = textAt(source, from, count);
    if (source !== undefined) source.cursor = (from as number) + text.length;
    delta.a = delta.a === undefined ? text : readText(delta.a, "a") + text;
  }
  return delta;
}

function textAt(source: Source | undefined, from: unknown, count: unknown): string {
  const pool = source?.text ?? "";
  const start = readWhole(from, 0, pool.length, "c");
  return pool.slice(start, start + readWhole(count, 0, pool.length - start, "c"));
}

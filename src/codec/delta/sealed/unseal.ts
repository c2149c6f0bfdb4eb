import { assign } from "../../../platform/plain-objects.ts";
import type { Json } from "../../json.ts";
import {
  corruptDelta,
  type Delta,
  type ItemReference,
  kindOfStep,
  readEdit,
  readFields,
  readKeys,
  readList,
  readText,
  readWhole,
  type SealedStep,
} from "../format.ts";
import { apply } from "../join/patch.ts";
import { NetNode } from "./net-node.ts";

/**
 * Returns the first `count` deltas of a sealed sequence. They share nodes with `net` and `steps`, but no node with one
 * another: each may be given to `applyOwned` once `net` is no longer used.
 *
 * @throws ThreadmarkError `CORRUPT` when the parts are malformed or do not belong together.
 */
export function unseal(net: Delta, steps: readonly SealedStep[], count: number): Delta[] {
  const netNode = NetNode.of(net);
  readWhole(count, 0, readList(steps as SealedStep[], "steps").length, "count");
  return steps.slice(0, count).map((step) => unsealStep(step, netNode, 0));
}

function unsealStep(step: SealedStep, netNode: NetNode | undefined, depth: number): Delta {
  switch (kindOfStep(step, depth)) {
    case "nothing":
      return {};
    case "replace":
      return { r: step.b === undefined ? (step.r as Json) : earlier(netNode?.value, step.b) };
    case "object":
      return unsealObject(step, netNode, depth);
    case "array":
      return unsealArray(step, netNode, depth);
    case "text":
      return unsealText(step, netNode);
  }
}

/**
 * Returns the value that the change leads back to. Anything but the final value itself is a copy, since two steps may
 * lead back to the same node.
 */
function earlier(final: Json | undefined, change: Delta): Json {
  if (final === undefined) throw corruptDelta("a step refers to a value that is not in the net delta");
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

function unsealObject(step: SealedStep, netNode: NetNode | undefined, depth: number): Delta {
  const delta: Delta = {};
  if (step.u !== undefined) delta.u = step.u;
  if (step.h === undefined && step.v === undefined) {
    if (step.s !== undefined) delta.s = step.s;
  } else {
    delta.s = unsealSet(step, netNode);
  }
  if (step.d !== undefined) {
    const changes = readFields(step.d, "d");
    delta.d = {};
    for (const key of Object.keys(changes)) {
      assign(delta.d, key, unsealStep(changes[key] as SealedStep, netNode?.field(key), depth + 1));
    }
  }
  if (step.m !== undefined) delta.m = step.m;
  if (step.o !== undefined) delta.o = step.o;
  return delta;
}

function unsealSet(step: SealedStep, netNode: NetNode | undefined): { [key: string]: Json } {
  const set: { [key: string]: Json } = {};
  if (step.s !== undefined) {
    const literal = readFields(step.s, "s");
    for (const key of Object.keys(literal)) assign(set, key, literal[key] as Json);
  }
  if (step.h !== undefined) {
    for (const key of readKeys(step.h, "h")) assign(set, key, earlier(netNode?.field(key)?.value, {}));
  }
  if (step.v !== undefined) {
    const changes = readFields(step.v, "v");
    for (const key of Object.keys(changes)) {
      assign(set, key, earlier(netNode?.field(key)?.value, changes[key] as Delta));
    }
  }
  if (step.k === undefined) return set;
  const ordered: { [key: string]: Json } = {};
  for (const key of readKeys(step.k, "k")) {
    if (!Object.hasOwn(set, key)) throw corruptDelta('"k" orders a key that is not set');
    assign(ordered, key, set[key] as Json);
  }
  return ordered;
}

function unsealArray(step: SealedStep, netNode: NetNode | undefined, depth: number): Delta {
  const delta: Delta = {};
  if (step.l !== undefined) delta.l = step.l;
  if (step.e !== undefined) {
    delta.e = readList(step.e, "e").map((entry) => {
      const [index, change] = readEdit(entry, 0, Number.MAX_SAFE_INTEGER);
      return [index, unsealStep(change, netNode?.element(index), depth + 1)];
    });
  }
  if (step.x !== undefined) delta.x = step.x;
  if (step.y !== undefined) {
    delta.x = readList(step.y, "y").map((entry) => {
      if (!Array.isArray(entry)) throw corruptDelta('"y" must be a list of splices');
      const [start, removed, ...items] = entry;
      return [start, removed, ...itemsAt(items, netNode)];
    });
  }
  if (step.p !== undefined) delta.p = step.p;
  if (step.n !== undefined) {
    delta.p = itemsAt(typeof step.n === "number" ? [step.n] : readList(step.n, "n"), netNode);
  }
  return delta;
}

function itemsAt(references: readonly ItemReference[], netNode: NetNode | undefined): Json[] {
  if (netNode === undefined) throw corruptDelta("a step refers to elements that are not in the net delta");
  const pool = netNode.items;
  const items: Json[] = [];
  for (const reference of references) {
    if (typeof reference === "number" || Array.isArray(reference)) {
      const [from, count] = typeof reference === "number" ? [netNode.cursor, reference] : reference;
      const start = readWhole(from, 0, pool.length, "n");
      netNode.cursor = start + readWhole(count, 0, pool.length - start, "n");
      for (let index = start; index < netNode.cursor; index++) items.push(pool[index] as Json);
    } else if ("b" in readFields(reference, "n")) {
      items.push(earlier(pool[netNode.cursor++], (reference as { b: Delta }).b));
    } else if ("r" in reference) {
      items.push(reference.r);
    } else {
      throw corruptDelta('"n" has a reference of an unknown kind');
    }
  }
  return items;
}

function unsealText(step: SealedStep, netNode: NetNode | undefined): Delta {
  const delta: Delta = {};
  if (step.l !== undefined) delta.l = step.l;
  if (step.t !== undefined) delta.t = step.t;
  if (step.w !== undefined) {
    delta.t = readList(step.w, "w").map((entry) => {
      if (!Array.isArray(entry)) throw corruptDelta('"w" must be a list of splices');
      const [start, removed, from, count] = entry;
      return [start, removed, typeof from === "string" ? from : textAt(netNode, from, count)];
    });
  }
  if (step.a !== undefined) delta.a = step.a;
  if (step.c !== undefined) {
    const [from, count] = typeof step.c === "number" ? [netNode?.cursor, step.c] : readList(step.c, "c");
    const text = textAt(netNode, from, count);
    if (netNode !== undefined) netNode.cursor = (from as number) + text.length;
    delta.a = delta.a === undefined ? text : readText(delta.a, "a") + text;
  }
  return delta;
}

function textAt(netNode: NetNode | undefined, from: unknown, count: unknown): string {
  const pool = netNode?.text ?? "";
  const start = readWhole(from, 0, pool.length, "c");
  return pool.slice(start, start + readWhole(count, 0, pool.length - start, "c"));
}

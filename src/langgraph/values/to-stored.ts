import { types } from "node:util";
import { ThreadmarkError } from "../../errors.ts";
import { define } from "../define.ts";
import { classNamed, classOf, type KnownClass, knownClass } from "./classes.ts";
import { type Convert, instanceOf, isStoredInstance, nodeOf, type StoredInstance } from "./instances.ts";
import { MessageRow, recall } from "./known-messages.ts";
import { messageNode } from "./messages.ts";
import { isOrdinaryArray, isOrdinaryObject } from "./plain-objects.ts";

/**
 * Values as LangGraph has them ↔ values as a store takes them.
 *
 * LangChain's classes become plain objects with a key "lc" that names the class, `{ "lc": "AIMessage", "content": … }`; a
 * plain object that has such a key itself is escaped as `{ "lc": "object", "value": … }`. Everything else is the store's
 * matter: dates, maps, bytes, and the refusal of what cannot be stored. So a store that was opened without knowing of
 * LangGraph keeps its states just as well, and they are readable in it.
 *
 * Messages are changed in place, so that the identity of one says nothing. What is unchanged is found by the store, which
 * compares what it is given with what it has; of messages that are nothing but text it gets the same node again, once every
 * part of the message was seen to be as it was.
 */

/** From this depth on, cycles are looked for; above it, walking one a few times costs less than looking. */
const shallow = 12;

/** A value with LangChain's classes as plain objects. Parts that hold none of them are not copied. */
export function toStored(value: unknown): unknown {
  return typeof value === "object" && value !== null ? new Storing().part(value) : value;
}

/** One walk through a value. */
class Storing {
  /** The objects above the one being looked at. */
  readonly trail: object[] = [];
  readonly convert: Convert = (part) => (typeof part === "object" && part !== null ? this.part(part) : part);

  part(value: object): unknown {
    const { trail } = this;
    // What refers back to itself is left as it is: the store refuses it, and says where.
    if (trail.length > shallow && trail.includes(value)) return value;
    trail.push(value);
    const stored = this.stored(value);
    trail.pop();
    return stored;
  }

  stored(value: object): unknown {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Array.prototype) return this.array(value as unknown[]);
    if (prototype === Object.prototype || prototype === null) {
      return Array.isArray(value) ? value : this.object(value as Record<string, unknown>);
    }
    const known = classOf(value, prototype as object);
    if (known !== undefined) return this.instance(value, known);
    const control = controlOf(value as Record<string, unknown>);
    if (control !== undefined) return this.object(control);
    if (prototype === Map.prototype && types.isMap(value)) return this.map(value);
    if (prototype === Set.prototype && types.isSet(value)) return this.set(value);
    return value;
  }

  element(part: object, index: number, row: MessageRow | undefined): unknown {
    const node = row === undefined ? recall(part) : row.node(part, index);
    if (node !== undefined) return node;
    const known = knownClass(Object.getPrototypeOf(part));
    return known === undefined ? this.part(part) : this.instance(part, known);
  }

  instance(value: object, known: KnownClass): unknown {
    const node = known.message && messageNode(value as never, known, this.convert);
    return node ?? nodeOf(value as Record<string, unknown>, known, this.convert);
  }

  array(value: unknown[]): unknown {
    const row = MessageRow.of(value);
    const start = row === undefined ? 0 : row.recall(value);
    let rest: unknown[] | undefined = start === 0 ? undefined : [];
    for (let index = start; index < value.length; index++) {
      const part = value[index];
      const stored = typeof part === "object" && part !== null ? this.element(part, index, row) : part;
      if (stored !== part) rest ??= value.slice(start, index);
      rest?.push(stored);
    }
    row?.keep();
    if (rest === undefined || !isOrdinaryArray(value)) return value;
    if (row === undefined) return rest;
    // Those that have joined the row by now are the first of the rest.
    return (row.nodes as unknown[]).concat(rest.slice(row.nodes.length - start));
  }

  object(value: Record<string, unknown>): unknown {
    let copy: Record<string, unknown> | undefined;
    let escaped = false;
    for (const key of Object.keys(value)) {
      if (key === "lc") escaped = true;
      const part = value[key];
      if (typeof part !== "object" || part === null) continue;
      const stored = this.part(part);
      if (stored === part) continue;
      copy ??= isOrdinaryObject(value) ? copyOf(value) : undefined;
      if (copy === undefined) return value;
      define(copy, key, stored);
    }
    return escaped ? { lc: "object", value: copy ?? value } : (copy ?? value);
  }

  map(value: ReadonlyMap<unknown, unknown>): unknown {
    let changed = false;
    const entries: [unknown, unknown][] = [];
    for (const [key, part] of value) {
      const entry: [unknown, unknown] = [this.convert(key), this.convert(part)];
      changed ||= entry[0] !== key || entry[1] !== part;
      entries.push(entry);
    }
    return changed ? new Map(entries) : value;
  }

  set(value: ReadonlySet<unknown>): unknown {
    const members = [...value].map(this.convert);
    let index = 0;
    for (const part of value) if (members[index++] !== part) return new Set(members);
    return value;
  }
}

function copyOf(value: Record<string, unknown>): Record<string, unknown> {
  return Object.getPrototypeOf(value) === null
    ? Object.assign(Object.create(null) as Record<string, unknown>, value)
    : { ...value };
}

/**
 * LangGraph's own control objects, in the plain form that it writes and understands itself: they are commands, not data,
 * and their classes belong to a package that a checkpointer does not depend on.
 */
function controlOf(value: Record<string, unknown>): Record<string, unknown> | undefined {
  switch (value["lg_name"]) {
    case "Send": {
      const { node, args, timeout } = value;
      return timeout === undefined ? { node, args } : { node, args, timeout };
    }
    case "Overwrite":
      return { __overwrite__: value["__overwrite__"] };
    case "Command": {
      const { update, resume, goto, graph } = value;
      return { lg_name: "Command", update, resume, goto, ...(graph !== undefined && { graph }) };
    }
    default:
      return undefined;
  }
}

/** The inverse of {@link toStored}. The value belongs to the caller and is changed in place. */
export function fromStored(value: unknown): unknown {
  return live(value, false);
}

/**
 * Like {@link fromStored}, for metadata. Earlier versions stored the metadata of configs without escaping it: an object with a key
 * "lc" that this format would not have made was given as it is, and is shown so.
 */
export function fromStoredMetadata(value: unknown): unknown {
  return live(value, true);
}

function live(value: unknown, lenient: boolean): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const part: unknown = value[index];
      if (typeof part === "object" && part !== null) value[index] = live(part, lenient);
    }
    return value;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return revive(value as Record<string, unknown>, lenient);
  if (types.isMap(value)) {
    const entries = [...value];
    value.clear();
    for (const [key, part] of entries) value.set(live(key, lenient), live(part, lenient));
  } else if (types.isSet(value)) {
    const members = [...value];
    value.clear();
    for (const part of members) value.add(live(part, lenient));
  }
  return value;
}

function revive(value: Record<string, unknown>, lenient: boolean): unknown {
  const { lc } = value;
  if (!Object.hasOwn(value, "lc")) return reviveParts(value, lenient);
  if (lc === "object" && isEscape(value)) return reviveParts(value.value, lenient);
  const known = typeof lc === "string" ? classNamed(lc) : undefined;
  if (known !== undefined && !(lenient && !isStoredInstance(value, known))) {
    return instanceOf(value as StoredInstance, known, lenient ? fromStoredMetadata : fromStored);
  }
  if (lenient) return reviveParts(value, lenient);
  // What it is in versions of LangGraph that do not have the class.
  if (lc === "DeltaSnapshot") return { lg_name: "DeltaSnapshot", value: fromStored(value["value"]) };
  throw new ThreadmarkError(
    "UNSUPPORTED",
    `The state holds ${JSON.stringify(lc)}, a class this version of threadmark/langgraph does not bring back. Use the version that stored it, or a newer one.`,
  );
}

/** Invariant: only an object that has a key "lc" itself is escaped, and its escape has two keys. */
function isEscape(node: Record<string, unknown>): node is { lc: "object"; value: Record<string, unknown> } {
  const { value } = node;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "lc")) return false;
  return Object.hasOwn(node, "value") && Object.keys(node).length === 2;
}

function reviveParts(value: Record<string, unknown>, lenient: boolean): Record<string, unknown> {
  for (const key of Object.keys(value)) {
    const part = value[key];
    if (typeof part !== "object" || part === null) continue;
    const alive = live(part, lenient);
    if (alive !== part) define(value, key, alive);
  }
  return value;
}

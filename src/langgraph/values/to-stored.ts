import { types } from "node:util";
import { define } from "../define.ts";
import { classOf, type KnownClass, knownClass } from "./classes.ts";
import { type Convert, nodeOf } from "./instances.ts";
import { knownMessages, type MessageRow } from "./known-messages.ts";
import { messageNode } from "./messages.ts";
import { isPlainArray, isPlainObject } from "./plain-objects.ts";

/**
 * Instances of LangChain's classes are stored as plain objects with a key "lc" that names the class:
 * `{ "lc": "AIMessage", "content": … }`. A plain object with such a key is escaped as `{ "lc": "object", "value": … }`.
 * The store itself handles everything else: dates, maps, bytes, and the refusal of values that cannot be stored. So a store
 * that was opened without LangGraph can read and keep its states, too.
 */

/** The depth from which cycles are looked for; above it, walking through a cycle a few times costs less than the search. */
const shallow = 12;

/**
 * Converts LangChain's classes in a value to plain objects. Parts without instances of them are not copied. With `trusted`,
 * messages that were converted before are taken to be unchanged.
 */
export function toStored(value: unknown, trusted = false): unknown {
  return typeof value === "object" && value !== null ? new Conversion(trusted).part(value) : value;
}

/** The conversion of a value. */
class Conversion {
  /** The objects above the current one. */
  readonly trail: object[] = [];
  readonly #trusted: boolean;
  readonly convert: Convert = (part) => (typeof part === "object" && part !== null ? this.part(part) : part);

  constructor(trusted: boolean) {
    this.#trusted = trusted;
  }

  part(value: object): unknown {
    const { trail } = this;
    // A cycle is left as it is: the store refuses it with its path.
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
    const node =
      row === undefined ? knownMessages.recall(part, this.#trusted) : row.recallNext(part, index, this.#trusted);
    if (node !== undefined) return node;
    const known = knownClass(Object.getPrototypeOf(part));
    return known === undefined ? this.part(part) : this.instance(part, known);
  }

  instance(value: object, known: KnownClass): unknown {
    const node = known.message && messageNode(value as never, known, this.convert);
    return node ?? nodeOf(value as Record<string, unknown>, known, this.convert);
  }

  array(value: unknown[]): unknown {
    const row = knownMessages.takeRow(value);
    const start = row === undefined ? 0 : row.recall(value, this.#trusted);
    let rest: unknown[] | undefined = start === 0 ? undefined : [];
    for (let index = start; index < value.length; index++) {
      const part = value[index];
      const stored = typeof part === "object" && part !== null ? this.element(part, index, row) : part;
      if (stored !== part) rest ??= value.slice(start, index);
      rest?.push(stored);
    }
    if (row !== undefined) knownMessages.keepRow(row);
    if (rest === undefined || !isPlainArray(value)) return value;
    if (row === undefined) return rest;
    // The first of the rest may have joined the row by now.
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
      copy ??= isPlainObject(value) ? copyOf(value) : undefined;
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
 * Returns LangGraph's control objects in the plain form that LangGraph writes and reads itself. Their classes belong to a
 * package that a checkpointer does not depend on.
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

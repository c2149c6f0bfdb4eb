import { types } from "node:util";
import { GrownList } from "../../model/interface/grown-list.ts";
import { assign } from "../../platform/plain-objects.ts";
import { classOf, type KnownClass, knownClass } from "./classes.ts";
import { type Convert, nodeOf } from "./instances.ts";
import { knownMessages, type MessageRow } from "./known-messages.ts";
import { type Fields, takeSnapshot } from "./message-snapshot.ts";
import { messageNode } from "./messages.ts";
import { hasPlainFields, isPlainArray } from "./plain-objects.ts";

/**
 * Instances of LangChain's classes are stored as plain objects with a key "lc" that names the class:
 * `{ "lc": "AIMessage", "content": … }`. A plain object with such a key is escaped as `{ "lc": "object", "value": … }`.
 * The store itself handles everything else: dates, maps, bytes, and the refusal of values that cannot be stored. So a store
 * that was opened without LangGraph can read and keep its states, too.
 */

/** The depth from which cycles are looked for; above it, walking through a cycle a few times costs less than the search. */
const shallow = 12;

/** Converts LangChain's classes in a value to plain objects. Parts without instances of them are not copied. */
export function toStored(value: unknown): unknown {
  return typeof value === "object" && value !== null ? new Conversion(false, false).part(value) : value;
}

/**
 * Converts the value of a channel, like {@link toStored}. Its messages are remembered, because the next checkpoint has them again. With
 * `trusted`, messages that were converted before are taken to be unchanged.
 */
export function toStoredChannel(value: unknown, trusted: boolean): unknown {
  return typeof value === "object" && value !== null ? new Conversion(true, trusted).part(value) : value;
}

/**
 * Converts the value of a channel for an update of the parent's state. Of a long list of messages, those at its start that are
 * remembered are given as they are, so that the store need not look at them again.
 */
export function toUpdate(value: unknown, trusted: boolean): unknown {
  if (!Array.isArray(value) || Object.getPrototypeOf(value) !== Array.prototype) return toStoredChannel(value, trusted);
  return new Conversion(true, trusted).list(value, true);
}

/** The conversion of a value. */
class Conversion {
  /** The objects above the current one. */
  readonly trail: object[] = [];
  /** True if messages are remembered, and recalled. */
  readonly #remembers: boolean;
  readonly #trusted: boolean;
  readonly convert: Convert = (part) => (typeof part === "object" && part !== null ? this.part(part) : part);

  constructor(remembers: boolean, trusted: boolean) {
    this.#remembers = remembers;
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
    if (prototype === Array.prototype) return this.list(value as unknown[], false);
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

  element(part: object): unknown {
    const node = this.#remembers ? knownMessages.recall(part, this.#trusted) : undefined;
    if (node !== undefined) return node;
    const known = knownClass(Object.getPrototypeOf(part));
    return known === undefined ? this.part(part) : this.instance(part, known);
  }

  /** Adds the next element of a list to its row, if it is a message of plain data. */
  joins(part: unknown, row: MessageRow): boolean {
    if (typeof part !== "object" || part === null) return false;
    let snapshot = knownMessages.unchanged(part, this.#trusted);
    if (snapshot === undefined) {
      const known = knownClass(Object.getPrototypeOf(part));
      const node = known?.message && messageNode(part as never, known, this.convert);
      snapshot = node && takeSnapshot(part as Fields, known as KnownClass, node);
    }
    if (snapshot !== undefined) row.add(part, snapshot);
    return snapshot !== undefined;
  }

  instance(value: object, known: KnownClass): unknown {
    const node = known.message && messageNode(value as never, known, this.convert);
    if (node === undefined) return nodeOf(value as Record<string, unknown>, known, this.convert);
    return this.#remembers ? knownMessages.remember(value as Fields, known, node) : node;
  }

  /** Converts a list. With `grows`, the result is a {@link GrownList} where the list begins with remembered messages. */
  list(value: unknown[], grows: boolean): unknown {
    const row = this.#remembers ? knownMessages.takeRow(value) : undefined;
    const start = row === undefined ? 0 : row.recall(value, this.#trusted);
    let rest: unknown[] | undefined;
    for (let index = start; index < value.length; index++) {
      const part = value[index];
      if (row !== undefined && index === row.nodes.length && this.joins(part, row)) continue;
      const stored = typeof part === "object" && part !== null ? this.element(part) : part;
      if (stored !== part) rest ??= value.slice(row?.nodes.length ?? 0, index);
      rest?.push(stored);
    }
    const known = row?.nodes ?? [];
    if (row !== undefined) knownMessages.keepRow(row);
    if ((rest === undefined && known.length === 0) || !isPlainArray(value)) return value;
    rest ??= value.slice(known.length);
    if (known.length === 0) return rest;
    return grows ? new GrownList(known, known.length, rest) : [...known, ...rest];
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
      copy ??= hasPlainFields(value) ? copyOf(value) : undefined;
      if (copy === undefined) return value;
      assign(copy, key, stored);
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

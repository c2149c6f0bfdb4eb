import { assign } from "../../../platform/plain-objects.ts";
import type { Json, JsonObject } from "../../json.ts";
import { type Reference, withDeferred } from "../../references.ts";
import {
  corruptDelta,
  type Delta,
  type DeltaKind,
  kindOf,
  readEdit,
  readFields,
  readKeys,
  readList,
  readOrder,
  readText,
} from "../format.ts";
import { type KeyRun, readPlaces } from "../key-places.ts";
import { ComposedOrder } from "./composed-order.ts";
import { type Ownership, patch } from "./patch.ts";
import { arraySplices, Sequence, textSplices } from "./sequence.ts";

/** The effect of the deltas so far on a node; undefined where they leave it alone. */
type Effect = Replaced | Fields | Elements | Text;

/**
 * Composes deltas. Invariant: no node of a delta is changed. A value that a later delta changes is copied first, and
 * `copies` maps each original to its copy.
 */
export class Net {
  readonly #values = new CopyOnWrite();
  #effect: Effect | undefined;

  add(delta: Delta): void {
    this.#effect = absorb(this.#effect, delta, this.#values, 0);
  }

  /** Returns the composed delta. Nothing may be added afterwards, since the delta takes over the collected nodes. */
  delta(): Delta {
    if (this.#effect === undefined) return {};
    return this.#effect instanceof Replaced ? { r: this.#effect.value } : (this.#effect.delta() ?? {});
  }

  /** Maps each array or object that a later delta changed to its changed copy. */
  get copies(): ReadonlyMap<Json, Json> {
    return this.#values.copies;
  }
}

class CopyOnWrite implements Ownership {
  readonly copies = new Map<Json, Json>();
  readonly #owned = new Set<Json>();

  object(node: JsonObject): JsonObject {
    return this.#owned.has(node) ? node : this.#own(node, { ...node });
  }

  array(node: Json[]): Json[] {
    return this.#owned.has(node) ? node : this.#own(node, node.slice());
  }

  defer(reference: Reference, delta: Delta): Json {
    const joined = new Net();
    for (const earlier of reference.$.d ?? []) joined.add(earlier);
    joined.add(delta);
    return withDeferred(reference, joined.delta());
  }

  #own<Node extends Json>(node: Node, copy: Node): Node {
    this.#owned.add(copy);
    this.copies.set(node, copy);
    return copy;
  }
}

function absorb(effect: Effect | undefined, delta: Delta, values: CopyOnWrite, depth: number): Effect | undefined {
  const kind = kindOf(delta, depth);
  if (kind === "nothing") return effect;
  if (kind === "replace") return new Replaced(delta.r as Json);
  if (effect instanceof Replaced) {
    effect.value = patch(effect.value, delta, values, depth);
    return effect;
  }
  const target = effect ?? start(kind);
  if (target.kind !== kind)
    throw corruptDelta("two deltas do not follow one another: they change different kinds of value");
  target.absorb(delta, values, depth);
  return target;
}

function start(kind: Exclude<DeltaKind, "nothing" | "replace">): Fields | Elements | Text {
  if (kind === "object") return new Fields();
  return kind === "array" ? new Elements() : new Text();
}

class Replaced {
  value: Json;

  constructor(value: Json) {
    this.value = value;
  }
}

class Fields {
  readonly kind = "object";
  /** Keys removed at any time. A key set again since then stands at the end. */
  readonly #unset = new Set<string>();
  /** By key, in the order in which keys were first set, which is the order of new keys at the end. */
  readonly #effects = new Map<string, Effect>();
  /** The order of keys, from the first delta on that names places or an order. */
  #order: ComposedOrder | undefined;

  absorb(delta: Delta, values: CopyOnWrite, depth: number): void {
    const place = delta.m === undefined ? undefined : this.#findPlaces(readPlaces(delta));
    if (delta.u !== undefined) {
      for (const key of readKeys(delta.u, "u")) {
        this.#effects.delete(key);
        this.#unset.add(key);
        this.#order?.unset(key);
      }
    }
    place?.();
    if (delta.s !== undefined) {
      const set = readFields(delta.s, "s");
      for (const key of Object.keys(set)) {
        const effect = this.#effects.get(key);
        if (effect instanceof Replaced) effect.value = set[key] as Json;
        else this.#effects.set(key, new Replaced(set[key] as Json));
        this.#order?.set(key);
      }
    }
    if (delta.d !== undefined) {
      const changes = readFields(delta.d, "d");
      for (const key of Object.keys(changes)) this.#change(key, changes[key] as Delta, values, depth);
    }
    if (delta.o !== undefined) {
      this.#order ??= new ComposedOrder(this.#keysSet());
      this.#order.orderAll(readOrder(delta.o));
    }
  }

  /** Finds the places of new keys. Returns a function that puts the keys there, once others are removed. */
  #findPlaces(runs: readonly KeyRun[]): () => void {
    this.#order ??= new ComposedOrder(this.#keysSet());
    const place = this.#order.find(runs, (key) => this.#unset.has(key));
    return () => {
      if (runs.some(({ keys }) => keys.some((key) => this.#effects.has(key))))
        throw corruptDelta("two deltas do not follow one another: a key is placed that is there already");
      place();
    };
  }

  *#keysSet(): Generator<string> {
    for (const [key, effect] of this.#effects) if (effect instanceof Replaced) yield key;
  }

  #change(key: string, delta: Delta, values: CopyOnWrite, depth: number): void {
    const effect = this.#effects.get(key);
    if (effect === undefined && this.#unset.has(key)) {
      throw corruptDelta("two deltas do not follow one another: a key that was removed is changed");
    }
    const result = absorb(effect, delta, values, depth + 1);
    if (result !== undefined && result !== effect) this.#effects.set(key, result);
  }

  delta(): Delta | undefined {
    const delta: Delta = {};
    if (this.#unset.size > 0) delta.u = [...this.#unset];
    for (const key of this.#order?.keys() ?? this.#keysSet()) {
      delta.s ??= {};
      assign(delta.s, key, (this.#effects.get(key) as Replaced).value);
    }
    for (const [key, effect] of this.#effects) {
      if (effect instanceof Replaced) continue;
      const change = effect.delta();
      if (change === undefined) continue;
      delta.d ??= {};
      assign(delta.d, key, change);
    }
    this.#order?.addTo(delta);
    return isEmpty(delta) ? undefined : delta;
  }
}

class Elements {
  readonly kind = "array";
  readonly #sequence = new Sequence<Json[], Effect>();

  absorb(delta: Delta, values: CopyOnWrite, depth: number): void {
    if (delta.l !== undefined) {
      const length = this.#sequence.expectLength(delta.l);
      if (delta.e !== undefined) this.#edit(delta.e, length, values, depth);
      if (delta.x !== undefined) this.#sequence.splice(arraySplices(delta.x, length));
    }
    if (delta.p !== undefined) this.#sequence.append(readList(delta.p, "p") as Json[]);
  }

  #edit(edits: NonNullable<Delta["e"]>, length: number, values: CopyOnWrite, depth: number): void {
    const segments = this.#sequence.segments;
    let at = 0;
    let start = 0; // the index of the first element of segments[at]
    let from = 0;
    for (const entry of readList(edits, "e")) {
      const [index, change] = readEdit(entry, from, length);
      from = index + 1;
      let segment = segments[at]!;
      while (segment.kind === "drop" || start + segment.count <= index) {
        if (segment.kind !== "drop") start += segment.count;
        segment = segments[++at]!;
      }
      if (segment.kind === "insert") {
        segment.content[index - start] = patch(segment.content[index - start]!, change, values, depth + 1);
      } else if (segment.kind === "edit") {
        segment.effect = absorb(segment.effect, change, values, depth + 1)!;
      } else {
        const effect = absorb(undefined, change, values, depth + 1);
        if (effect === undefined) continue;
        const rest = segment.count - (index - start) - 1;
        const parts = [
          { kind: "keep", count: index - start } as const,
          { kind: "edit", effect, count: 1 } as const,
          { kind: "keep", count: rest } as const,
        ];
        segments.splice(at, 1, ...parts.filter((part) => part.count > 0));
      }
    }
  }

  delta(): Delta | undefined {
    const delta: Delta = {};
    const splices: NonNullable<Delta["x"]> = [];
    const edits: NonNullable<Delta["e"]> = [];
    let position = 0;
    let removed = 0;
    let items: Json[] = [];
    const flush = (): void => {
      if (removed > 0 || items.length > 0) {
        const splice: [number, number, ...Json[]] = [position - removed, removed];
        for (const item of items) splice.push(item);
        splices.push(splice);
      }
      removed = 0;
      items = [];
    };
    for (const segment of this.#sequence.segments) {
      if (segment.kind === "insert") {
        items = items.length === 0 ? segment.content : items.concat(segment.content);
      } else if (segment.kind === "drop") {
        position += segment.count;
        removed += segment.count;
      } else if (segment.kind === "keep") {
        flush();
        position += segment.count;
      } else if (segment.effect instanceof Replaced) {
        position++;
        removed++;
        items = items.concat([segment.effect.value]);
      } else {
        flush();
        const change = segment.effect.delta();
        if (change !== undefined) edits.push([position, change]);
        position++;
      }
    }
    const pushed = items;
    items = [];
    flush();
    if (edits.length > 0) delta.e = edits;
    if (splices.length > 0) delta.x = splices;
    if (pushed.length > 0) delta.p = pushed;
    if (isEmpty(delta)) return undefined;
    if (!this.#sequence.open) delta.l = position;
    return delta;
  }
}

class Text {
  readonly kind = "text";
  readonly #sequence = new Sequence<string, never>();

  absorb(delta: Delta): void {
    if (delta.l !== undefined) {
      const length = this.#sequence.expectLength(delta.l);
      if (delta.t !== undefined) this.#sequence.splice(textSplices(delta.t, length));
    }
    if (delta.a !== undefined) this.#sequence.append(readText(delta.a, "a"));
  }

  delta(): Delta | undefined {
    const delta: Delta = {};
    const splices: NonNullable<Delta["t"]> = [];
    let position = 0;
    let removed = 0;
    let text = "";
    for (const segment of this.#sequence.segments) {
      if (segment.kind === "insert") {
        text += segment.content;
        continue;
      }
      if (segment.kind === "keep") {
        if (removed > 0 || text !== "") splices.push([position - removed, removed, text]);
        removed = 0;
        text = "";
      } else {
        removed += segment.count;
      }
      position += segment.count;
    }
    if (removed > 0) splices.push([position - removed, removed, ""]);
    if (splices.length > 0) delta.t = splices;
    if (text !== "") delta.a = text;
    if (isEmpty(delta)) return undefined;
    if (splices.length > 0) delta.l = position;
    return delta;
  }
}

function isEmpty(delta: Delta): boolean {
  for (const _ in delta) return false;
  return true;
}

import { ERASED, type ErasablePart, LEAST_TEXT } from "../model/interface/erasure.ts";
import type { PathStep } from "../model/patch.ts";
import { isObject, isTagged, type Json, type JsonObject } from "./json.ts";
import { jsonText } from "./json-text.ts";
import { isReference, type Reference, resolveCopied } from "./references.ts";

type Path = readonly PathStep[];

/** The values to erase, as found so far. */
export interface SoughtValues {
  /** Paths in the state, each erased whatever is there. */
  readonly paths: readonly Path[];
  /** Decides by path and value. The value is as the caller of the store knows it. */
  readonly test?: (path: Path, node: Json, part: ErasablePart) => boolean;
  /** Texts that are erased wherever they stand, also inside longer ones. */
  readonly texts: ReadonlySet<string>;
  /** The JSON of objects and lists that are erased wherever they stand. */
  readonly containers: ReadonlySet<string>;
}

/** Large values: `valueOf` returns that of a reference, `refer` the form in which a changed one is stored. */
export interface LargeValues {
  valueOf(reference: Reference): Json;
  refer(value: Json): Json;
}

/** A node without the erased values, which is the node itself if it has none, and where they were in it. */
export interface Erasure {
  readonly node: Json;
  readonly hits: readonly Path[];
}

const noHits: readonly Path[] = [];

/** Tagged nodes whose content is one text or number: a part of it cannot be erased. Bytes are not looked into. */
const atoms: ReadonlySet<Json> = new Set(["url", "searchparams", "regexp", "bigint", "number", "date", "undefined"]);

/**
 * Takes values out of trees. Trees that share nodes cost no more than the nodes that differ: the result for a node is
 * remembered with its path.
 */
export class Eraser {
  readonly #sought: SoughtValues;
  readonly #large: LargeValues;
  readonly #texts: readonly string[];
  readonly #known = new WeakMap<object, { readonly place: string; readonly erasure: Erasure }>();

  constructor(sought: SoughtValues, large: LargeValues) {
    this.#sought = sought;
    this.#large = large;
    // The longest first: a text may be a part of another.
    this.#texts = [...sought.texts].sort((left, right) => right.length - left.length);
  }

  /** Erases in a tree of one part. With `paths`, those of the state apply, behind the steps of `path` that are above the tree. */
  erase(node: Json, part: ErasablePart, path: Path = [], paths: readonly Path[] = []): Erasure {
    return this.#erase(node, part, path, paths);
  }

  #erase(node: Json, part: ErasablePart, path: Path, paths: readonly Path[]): Erasure {
    if (node === ERASED) return { node, hits: noHits };
    const isNamed = paths.some(({ length }) => length === 0);
    if (
      isNamed ||
      (path.length > 0 || part !== "state" ? this.#sought.test?.(path, this.#resolved(node), part) : false)
    ) {
      return { node: ERASED, hits: [[]] };
    }
    if (typeof node === "string") return this.#inText(node);
    if (typeof node !== "object" || node === null) return { node, hits: noHits };
    const place = this.#sought.test || paths.length > 0 ? `${part}${JSON.stringify(path)}` : "";
    const known = this.#known.get(node);
    if (known?.place === place) return known.erasure;
    const erasure = this.#inContainer(node, part, path, paths);
    this.#known.set(node, { place, erasure });
    return erasure;
  }

  #inText(text: string): Erasure {
    let left = text;
    for (const sought of this.#texts) left = left.replaceAll(sought, ERASED);
    return left === text ? { node: text, hits: noHits } : { node: left, hits: [[]] };
  }

  #inContainer(node: Json[] | JsonObject, part: ErasablePart, path: Path, paths: readonly Path[]): Erasure {
    if (isReference(node)) {
      const value = this.#large.valueOf(node);
      const { node: left, hits } = this.#erase(value, part, path, paths);
      return left === value ? { node, hits: noHits } : { node: this.#large.refer(left), hits };
    }
    if (this.#sought.containers.size > 0 && this.#sought.containers.has(jsonText(this.#resolved(node)))) {
      return { node: ERASED, hits: [[]] };
    }
    if (Array.isArray(node)) return this.#inArray(node, part, path, paths);
    return isTagged(node) ? this.#inTagged(node, part, path) : this.#inObject(node, part, path, paths);
  }

  #inArray(node: Json[], part: ErasablePart, path: Path, paths: readonly Path[]): Erasure {
    let copy: Json[] | undefined;
    const hits: Path[] = [];
    for (const [index, item] of node.entries()) {
      const { node: left, hits: own } = this.#erase(item, part, [...path, index], below(paths, index));
      if (left === item) continue;
      copy ??= node.slice();
      copy[index] = left;
      for (const hit of own) hits.push([index, ...hit]);
    }
    return copy ? { node: copy, hits } : { node, hits: noHits };
  }

  #inObject(node: JsonObject, part: ErasablePart, path: Path, paths: readonly Path[]): Erasure {
    const fields: [string, Json][] = [];
    const names = new Set<string>();
    const hits: Path[] = [];
    let changed = false;
    for (const key of Object.keys(node)) {
      const field = node[key] as Json;
      const { node: left, hits: own } = this.#erase(field, part, [...path, key], below(paths, key));
      const name = unused(this.#inText(key).node as string, names);
      if (name !== key) hits.push([key]);
      if (left !== field) for (const hit of own) hits.push([key, ...hit]);
      changed ||= left !== field || name !== key;
      names.add(name);
      fields.push([name, left]);
    }
    // Defined, not assigned: a key may be "__proto__".
    return changed ? { node: Object.fromEntries(fields) as JsonObject, hits } : { node, hits: noHits };
  }

  /** Erases inside a value that JSON has no form for; the value as a whole, where it cannot be without a part. */
  #inTagged(node: JsonObject, part: ErasablePart, path: Path): Erasure {
    if (node["$"] === "bytes") return { node, hits: noHits };
    if (atoms.has(node["$"] as Json)) {
      const text = jsonText(node);
      return this.#texts.some((sought) => text.includes(jsonText(sought).slice(1, -1)))
        ? { node: ERASED, hits: [[]] }
        : { node, hits: noHits };
    }
    const { $: tag, ...rest } = node;
    const { node: left, hits } = this.#inObject(rest as JsonObject, part, path, []);
    if (hits.length === 0) return { node, hits: noHits };
    const fields = left as JsonObject;
    if (tag === "map" || tag === "set") fields["v"] = withoutRepetitions(tag, fields["v"] as Json[]);
    return { node: { $: tag as Json, ...fields }, hits: hits.map((hit) => hit.slice(1)) };
  }

  /** Returns a node with large values in place of references. */
  #resolved(node: Json): Json {
    return resolveCopied(node, (reference) => this.#large.valueOf(reference));
  }
}

/** Returns the rest of the paths that go on with this step. */
function below(paths: readonly Path[], step: PathStep): readonly Path[] {
  if (paths.length === 0) return paths;
  return paths.filter(([first]) => first === step).map((path) => path.slice(1));
}

function unused(name: string, names: ReadonlySet<string>): string {
  if (!names.has(name)) return name;
  let number = 2;
  while (names.has(`${name} ${number}`)) number += 1;
  return `${name} ${number}`;
}

/** Returns the entries of a map, or the members of a set, without those that have become equal to an earlier one. */
function withoutRepetitions(tag: "map" | "set", entries: readonly Json[]): Json[] {
  const seen = new Set<string>();
  return entries.filter((entry) => {
    const key = jsonText(tag === "map" ? ((entry as Json[])[0] as Json) : entry);
    return !seen.has(key) && seen.add(key);
  });
}

/** Adds the values at some paths of a state to those that are sought everywhere: texts, objects and lists. */
export function addSought(
  state: Json,
  paths: readonly Path[],
  valueOf: LargeValues["valueOf"],
  texts: Set<string>,
  containers: Set<string>,
): void {
  for (const path of paths) {
    let node: Json | undefined = state;
    for (const step of path) {
      if (isReference(node)) node = valueOf(node);
      if (Array.isArray(node)) node = typeof step === "number" ? node[step] : undefined;
      else node = isObject(node) && !isTagged(node) && Object.hasOwn(node, step) ? node[step] : undefined;
      if (node === undefined) break;
    }
    if (isReference(node)) node = valueOf(node);
    if (typeof node === "string") {
      if (node !== ERASED && node.length >= LEAST_TEXT) texts.add(node);
    } else if (typeof node === "object" && node !== null && Object.keys(node).length > 0)
      containers.add(jsonText(node));
  }
}

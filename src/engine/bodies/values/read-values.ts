import type { Read, Value } from "../../../backend.ts";
import type { Delta } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import { addNames, type Resolve, resolveCopied, resolveOwned } from "../../../codec/references.ts";
import { ThreadmarkError } from "../../../errors.ts";
import type { EngineContext } from "../../memory/context.ts";
import { collectionsKey, decodeValue, parseValue, valueKey } from "../../records/values.ts";
import { resolverOf } from "./resolver.ts";

/** The tape whose records were read: it names the lineage of the values, and the thread for an error. */
export interface ReferringTape {
  readonly lineage: number;
  readonly meta: { readonly thread: string };
}

/** Characters of values that are kept for further references, unless the caller gives another bound. */
const KEPT = 64 * 1024 * 1024;

/** Values that are read together. */
const AT_ONCE = 256;

/** Reads the large values of one lineage that one operation comes to, each once as long as there is room. */
export class ValueReader {
  readonly #context: EngineContext;
  readonly #tape: ReferringTape;
  readonly #most: number;
  readonly #json = new Map<string, string>();
  readonly #strings = new Map<string, string>();
  #length = 0;

  constructor(context: EngineContext, tape: ReferringTape, most: number = KEPT) {
    this.#context = context;
    this.#tape = tape;
    this.#most = most;
  }

  /** Replaces the references of a tree, or of a delta, that the caller alone holds, in place. */
  async resolveOwned<Tree extends Json | Delta>(tree: Tree): Promise<Tree> {
    return (await this.#load(tree)) ? (resolveOwned(tree as Json, this.#resolve) as Tree) : tree;
  }

  /** Returns a tree or a delta with values in place of its references; the given one stays as it is. */
  async resolveCopied<Tree extends Json | Delta>(tree: Tree): Promise<Tree> {
    return (await this.#load(tree)) ? (resolveCopied(tree as Json, this.#resolve) as Tree) : tree;
  }

  /** Returns one of the values that are at hand. */
  value(name: string): Json {
    return parseValue(this.#json.get(name) as string);
  }

  /** Reads these values, so that they are at hand. */
  async load(names: ReadonlyMap<string, number>): Promise<void> {
    const sought = [...names.keys()].filter((name) => !this.#json.has(name));
    if (sought.length === 0) return;
    let length = 0;
    for (const name of sought) length += names.get(name) as number;
    if (this.#length > 0 && this.#length + length > this.#most) {
      this.#json.clear();
      this.#strings.clear();
      this.#length = 0;
      // Values that were at hand before may be among the names.
      return this.load(names);
    }
    for (let start = 0; start < sought.length; start += AT_ONCE) await this.#read(sought.slice(start, start + AT_ONCE));
  }

  async #load(tree: Json | Delta): Promise<boolean> {
    const names = new Map<string, number>();
    addNames(tree as Json, names);
    if (names.size > 0) await this.load(names);
    return names.size > 0;
  }

  async #read(names: readonly string[]): Promise<void> {
    const context = this.#context;
    const { lineage } = this.#tape;
    const reads: Read[] = names.map((name) => ({ get: valueKey(lineage, name) }));
    const [collections, ...found] = (await context.read([{ get: collectionsKey(lineage) }, ...reads])) as readonly (
      | Value
      | undefined
    )[];
    const known = context.values.of(lineage) ?? context.values.begin(lineage, collections);
    const texts = await Promise.all(names.map((name, index) => this.#text(name, found[index])));
    for (const [index, name] of names.entries()) {
      const json = texts[index] as string;
      this.#json.set(name, json);
      this.#length += json.length;
      const isString = json.startsWith('"');
      if (isString) this.#strings.set(name, parseValue(json) as string);
      const text = this.#strings.get(name) ?? json;
      context.values.add(known, text, isString, { name, length: json.length });
    }
  }

  async #text(name: string, record: Value | undefined): Promise<string> {
    if (record === undefined) throw this.#missing(name, "is missing");
    const stored = decodeValue(record);
    if (stored.name !== name) throw this.#missing(name, "is missing: another has its place");
    if (stored.object === undefined) return stored.json as string;
    const inside = await this.#context.outside.read(stored.object, stored.key);
    if (inside === undefined)
      throw this.#missing(name, `is missing: there is no object ${JSON.stringify(stored.object)}`);
    const { name: told, json } = decodeValue(inside);
    if (told !== name || json === undefined) {
      throw this.#missing(name, `is not what object ${JSON.stringify(stored.object)} holds`);
    }
    return json;
  }

  #missing(name: string, fault: string): ThreadmarkError {
    const { thread } = this.#tape.meta;
    return new ThreadmarkError(
      "CORRUPT",
      `Large value ${name} of lineage ${this.#tape.lineage} ${fault}. Run verify() and restore it from a backup.`,
      { thread },
    );
  }

  readonly #resolve: Resolve = resolverOf(
    (name) => this.#strings.get(name) ?? parseValue(this.#json.get(name) as string),
  );
}

import type { Value } from "../../../backend.ts";
import type { LargeValues } from "../../../codec/erase.ts";
import type { Json } from "../../../codec/json.ts";
import { jsonText } from "../../../codec/json-text.ts";
import { type Reference, referenceTo } from "../../../codec/references.ts";
import { ValueReader } from "../../bodies/values/read-values.ts";
import { resolverOf } from "../../bodies/values/resolver.ts";
import type { BatchBuilder } from "../../commits/batch/batch.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { Tape } from "../../memory/tape.ts";
import {
  decodeValue,
  encodeOutside,
  encodeValue,
  hasPlace,
  type LargeValue,
  largeValue,
  valueKey,
} from "../../records/values.ts";

/** Thrown where a large value is needed that was not read yet. */
class Unread {
  readonly name: string;
  readonly length: number;

  constructor(name: string, length: number) {
    this.name = name;
    this.length = length;
  }
}

/** The large values of a lineage while something is erased from it: those that are read, and those that come anew. */
export class ErasedValues implements LargeValues {
  readonly #context: EngineContext;
  readonly #reader: ValueReader;
  readonly #values = new Map<string, Json>();
  readonly #fresh = new Map<string, LargeValue>();
  readonly #resolve: (reference: Reference) => Json;

  constructor(context: EngineContext, tape: Tape) {
    this.#context = context;
    this.#reader = new ValueReader(context, tape);
    this.#resolve = resolverOf((name) => structuredClone(this.#value(name)));
  }

  valueOf(reference: Reference): Json {
    const { v: name, n: length, d } = reference.$;
    if (!this.#values.has(name)) throw new Unread(name, length);
    // Shared, so that what was erased from it is remembered.
    return d === undefined ? this.#value(name) : this.#resolve(reference);
  }

  #value(name: string): Json {
    const value = this.#values.get(name);
    if (value === undefined) throw new Unread(name, 0);
    return value;
  }

  refer(value: Json): Json {
    const json = jsonText(value);
    if (json.length < this.#context.largeFrom) return value;
    const fresh = largeValue(json, this.#context.nameValue);
    if (!hasPlace(fresh.name)) return value;
    this.#fresh.set(fresh.name, fresh);
    return referenceTo(fresh);
  }

  /** Runs something that needs large values, which are read as it comes to them. */
  async reading<T>(run: () => T): Promise<T> {
    for (;;) {
      try {
        return run();
      } catch (error) {
        if (!(error instanceof Unread)) throw error;
        await this.#reader.load(new Map([[error.name, error.length]]));
        this.#values.set(error.name, this.#reader.value(error.name));
      }
    }
  }

  /** Adds the values that come anew, and returns the objects outside the store that were written for them. */
  async addTo(batch: BatchBuilder, lineage: number): Promise<readonly string[]> {
    const fresh = [...this.#fresh.values()];
    const context = this.#context;
    const keys = fresh.map(({ name }) => valueKey(lineage, name));
    const there = (await context.read(keys.map((key) => ({ get: key })))) as readonly (Value | undefined)[];
    const isStored = (index: number): boolean => {
      const value = there[index];
      return value !== undefined && decodeValue(value).name === fresh[index]?.name;
    };
    const lacking = fresh.filter((_, index) => !isStored(index));
    const records = lacking.map((value) => ({ name: value.name, record: encodeValue(value, context.compression) }));
    const objects = context.outside.isUsed ? await context.outside.write(lineage, records) : [];
    for (const [index, { name, record }] of records.entries()) {
      const object = objects[index];
      batch.insert(valueKey(lineage, name), object === undefined ? record : encodeOutside(name, object));
    }
    return objects.map(({ object }) => object);
  }
}

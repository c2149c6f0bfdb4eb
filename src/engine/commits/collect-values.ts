import type { DirectoryKey, Entry, Found, Key, Range, Table, Value } from "../../backend.ts";
import { unwrap } from "../../codec/envelope.ts";
import { namesIn } from "../../codec/references.ts";
import { isCorrupt } from "../faults/damage.ts";
import type { EngineContext } from "../memory/context.ts";
import { metaKey } from "../records/keys.ts";
import { valuesOfPack } from "../records/pack/rows.ts";
import { afterCollection, collectionsKey, decodeValue, valueKey, valueRange } from "../records/values.ts";
import { recordsIn, tapeRecords } from "../view/lineage/tape-records.ts";
import { metaRecords } from "../view/lineage/tapes-of-lineage.ts";
import type { BatchBuilder } from "./batch/batch.ts";

/** The tables whose records refer to large values. The records of a pack are spoken for by its `rows`. */
const REFERRING_TABLES = ["tail", "mark", "rows", "write"] as const satisfies readonly Table[];

/** Large values read at once while a lineage is swept. */
const VALUES = 8;

export interface Collection {
  /** The values that go: their lengths by name. */
  readonly values: ReadonlyMap<string, number>;
  /** Objects outside the store that no record names once the batch is committed. */
  readonly discarded: readonly string[];
}

export interface CollectOptions {
  /** Tapes whose meta records go with the batch, though it does not say so yet. */
  readonly ending?: ReadonlySet<number>;
  /** Looks at every value of the lineage, not only at those that the batch gives up. */
  readonly sweep?: boolean;
}

const nothing: Collection = { values: new Map(), discarded: [] };

/**
 * Adds to a batch the removal of the large values that nothing in the lineage refers to once it is committed. The batch is
 * otherwise complete: each record that it deletes or overwrites gives up its references.
 *
 * Invariant: the batch checks that no tape of the lineage got a reference to a stored value since. Such a commit writes
 * the meta record of its tape, and all meta records are checked. Commits that were planned before and come later find the
 * count of collections changed. Where a record cannot be read, nothing is collected, since nobody knows what it needs; a
 * sweep fails.
 *
 * Invariant: a sweep lists the values before it looks for references. A commit that inserts a value together with a reference to it
 * leaves the meta record alone, so that a value which came meanwhile must not be a candidate.
 */
export async function collectValues(
  context: EngineContext,
  batch: BatchBuilder,
  lineage: number,
  options: CollectOptions = {},
): Promise<Collection> {
  const [collections] = (await context.read([{ get: collectionsKey(lineage) }])) as readonly (Value | undefined)[];
  if (collections === undefined) return nothing;
  const stored = options.sweep ? await storedValues(context, lineage) : undefined;
  const metas = await metaRecords(context, lineage);
  const ending = ({ item }: Found): boolean =>
    options.ending?.has(item) === true || deletesKey(batch, metaKey(lineage, item));
  if (metas.every(ending)) return endLineage(context, batch, lineage);
  try {
    const { kept, given } = await references(context, batch, lineage, metas);
    const gone = new Map([...(stored ?? given)].filter(([name]) => !kept.has(name)));
    if (gone.size === 0) return nothing;
    for (const { item, value } of metas) batch.check(metaKey(lineage, item), value);
    batch.check(collectionsKey(lineage), collections);
    batch.put(collectionsKey(lineage), afterCollection(collections));
    const discarded = await objectsOf(context, lineage, [...gone.keys()]);
    for (const name of gone.keys()) batch.delete(valueKey(lineage, name));
    return { values: gone, discarded };
  } catch (error) {
    if (isCorrupt(error) && !options.sweep) return nothing;
    throw error;
  }
}

/** Removes all values of a lineage whose last tape ends. */
async function endLineage(context: EngineContext, batch: BatchBuilder, lineage: number): Promise<Collection> {
  batch.delete(valueRange(lineage));
  const values = new Map<string, number>();
  const discarded: string[] = [];
  if (!context.outside.isUsed) return { values, discarded };
  for await (const { item, part, value } of recordsIn(context, valueRange(lineage), VALUES)) {
    const { object } = item === 0 && part === 0 ? { object: undefined } : decodeValue(value);
    if (object !== undefined) discarded.push(object);
  }
  return { values, discarded };
}

interface References {
  /** The names that records refer to once the batch is committed. */
  readonly kept: ReadonlySet<string>;
  /** The values that the batch's deletions and changes give up, whether or not others refer to them. */
  readonly given: ReadonlyMap<string, number>;
}

async function references(
  context: EngineContext,
  batch: BatchBuilder,
  lineage: number,
  metas: readonly Found[],
): Promise<References> {
  const kept = new Set<string>();
  const given = new Map<string, number>();
  const changed = new ChangedKeys(batch);
  for (const { item: number } of metas) {
    for (const table of REFERRING_TABLES) {
      for await (const { item, part, value } of tapeRecords(context, { lineage, number }, table)) {
        const names = valuesOf(table, value);
        if (names.size === 0) continue;
        const goes = changed.has({ table, lineage, group: number, item, part });
        for (const [name, length] of names) {
          if (goes) given.set(name, length);
          else kept.add(name);
        }
      }
    }
  }
  for (const { key, value } of writtenBy(batch)) {
    const isReferring = (REFERRING_TABLES as readonly string[]).includes(key.table);
    if (isReferring) for (const name of valuesOf((key as Key).table, value).keys()) kept.add(name);
  }
  return { kept, given };
}

/** Returns the large values that a record refers to. */
function valuesOf(table: Table, value: Value): ReadonlyMap<string, number> {
  return table === "rows" ? valuesOfPack(value) : namesIn(unwrap(value));
}

/** Returns the records that a batch leaves behind: what is written last of a key counts. */
function writtenBy({ inserts, puts }: BatchBuilder): readonly Entry[] {
  const last = new Map<string, Entry>();
  for (const entry of [...inserts, ...puts]) last.set(nameOf(entry.key), entry);
  return [...last.values()];
}

/** The keys of records that a batch deletes or overwrites. */
class ChangedKeys {
  readonly #keys = new Set<string>();
  readonly #ranges: Range[] = [];

  constructor({ deletes, inserts, puts }: BatchBuilder) {
    for (const { key } of [...inserts, ...puts]) this.#keys.add(nameOf(key));
    for (const key of deletes) {
      if (isRange(key)) this.#ranges.push(key);
      else this.#keys.add(nameOf(key));
    }
  }

  has(key: Key): boolean {
    return this.#keys.has(nameOf(key)) || this.#ranges.some((range) => covers(range, key));
  }
}

function deletesKey({ deletes }: BatchBuilder, key: Key): boolean {
  return deletes.some((other) => (isRange(other) ? covers(other, key) : nameOf(other) === nameOf(key)));
}

function isRange(key: Key | DirectoryKey | Range): key is Range {
  return key.table !== "directory" && !("item" in key);
}

function covers({ table, lineage, group, from = 0, to = Number.POSITIVE_INFINITY }: Range, key: Key): boolean {
  return table === key.table && lineage === key.lineage && group === key.group && key.item >= from && key.item <= to;
}

function nameOf(key: Key | DirectoryKey): string {
  return key.table === "directory" ? key.id : `${key.table}\0${key.lineage}:${key.group}:${key.item}:${key.part}`;
}

/** Returns the lengths of all values of a lineage, by name. */
async function storedValues(context: EngineContext, lineage: number): Promise<ReadonlyMap<string, number>> {
  const values = new Map<string, number>();
  for await (const { item, part, value } of recordsIn(context, valueRange(lineage), VALUES)) {
    if (item === 0 && part === 0) continue;
    const { name, json } = decodeValue(value);
    values.set(name, json?.length ?? 0);
  }
  return values;
}

/** Returns the objects that hold these values outside the store. */
async function objectsOf(
  context: EngineContext,
  lineage: number,
  names: readonly string[],
): Promise<readonly string[]> {
  if (!context.outside.isUsed) return [];
  const found = await context.read(names.map((name) => ({ get: valueKey(lineage, name) })));
  return (found as readonly (Value | undefined)[]).flatMap((value) => (value && decodeValue(value).object) ?? []);
}

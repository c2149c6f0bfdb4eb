import type { Value } from "../../backend.ts";
import type { PlannedValue } from "../bodies/values/draft-values.ts";
import { Overtaken } from "../faults/overtaken.ts";
import type { LineageValues } from "../memory/large-values/known-values.ts";
import type { Tape } from "../memory/tape.ts";
import {
  collectionsKey,
  decodeValue,
  encodeOutside,
  encodeValue,
  noCollections,
  type OutsideObject,
  valueKey,
} from "../records/values.ts";
import type { Draft } from "./draft/draft.ts";

/**
 * Adds the large values of a draft to its batch. New ones are inserted, so that the commit is refused where one is there
 * already: planned again, it refers to that one.
 *
 * Invariant: a commit never refers to a value that is gone. If it refers to one that it does not insert, it checks that
 * nothing was collected since that one was found. It also writes the meta record of its tape: a collection that was
 * planned before is then refused, since it checks the meta records of all tapes of the lineage.
 */
export async function addValues(draft: Draft, tape: Tape): Promise<void> {
  const { values } = draft;
  const { lineage } = tape;
  const { collections, stored } = await standing(draft, tape);
  const fresh = values.planned.filter(({ name }) => !stored.has(name));
  if (fresh.length > 0) await insertValues(draft, lineage, fresh);
  if (collections === undefined) {
    draft.batch.insert(collectionsKey(lineage), noCollections);
  } else if (values.refersToStored || stored.size > 0) {
    draft.batch.check(collectionsKey(lineage), collections);
    if (!draft.created) draft.change({});
  }
}

/** The values of a lineage when a draft is turned into a batch. */
interface Standing {
  readonly collections: Value | undefined;
  /** The names of planned values that are stored already. */
  readonly stored: ReadonlySet<string>;
}

async function standing(draft: Draft, tape: Tape): Promise<Standing> {
  const { context, values } = draft;
  const { lineage } = tape;
  // A draft that makes its tape also begins the lineage.
  if (draft.created) return { collections: undefined, stored: new Set() };
  const known = values.known;
  if (known && !draft.retried) return { collections: known.collections, stored: new Set() };
  // Only a refused commit is worth reading whole values for.
  const sought = draft.retried ? values.planned : [];
  const [collections, ...found] = (await context.read([
    { get: collectionsKey(lineage) },
    ...sought.map(({ name }) => ({ get: valueKey(lineage, name) })),
  ])) as readonly (Value | undefined)[];
  if (known && known.collections !== collections) {
    // Values that were taken to be there may have been collected.
    context.values.forget(lineage);
    throw new Overtaken(tape);
  }
  if (!known) values.adopt(context.values.begin(lineage, collections));
  const stored = new Set<string>();
  for (const [index, { name }] of sought.entries()) {
    const record = found[index];
    if (record === undefined) continue;
    if (decodeValue(record).name === name) stored.add(name);
    else {
      context.values.displace(lineage, name);
      throw new Overtaken(tape);
    }
  }
  return { collections, stored };
}

/** Inserts values; outside the store they are uploaded first, so that no record ever names an object that is not there. */
async function insertValues(draft: Draft, lineage: number, fresh: readonly PlannedValue[]): Promise<void> {
  const { context, batch } = draft;
  const records = fresh.map((value) => ({ name: value.name, record: encodeValue(value, context.compression) }));
  if (!context.outside.isUsed) {
    for (const { name, record } of records) batch.insert(valueKey(lineage, name), record);
    return;
  }
  const objects = await context.outside.write(lineage, records);
  draft.uploaded = objects.map(({ object }) => object);
  for (const [index, { name }] of fresh.entries()) {
    batch.insert(valueKey(lineage, name), encodeOutside(name, objects[index] as OutsideObject));
  }
}

/** Remembers the values of a draft that was committed. */
export function rememberValues({ context, values, collects, created }: Draft, { lineage }: Tape): void {
  for (const other of collects) context.values.forget(other);
  if (collects.includes(lineage)) return;
  if (values.planned.length === 0) return;
  const known: LineageValues = created || !values.known ? context.values.begin(lineage, undefined) : values.known;
  known.collections ??= noCollections;
  for (const value of values.planned) context.values.add(known, value.text, value.isString, value);
}

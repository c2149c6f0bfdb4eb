import type { Key, Value } from "../../backend.ts";
import { isCorrupt } from "../faults/damage.ts";
import type { EngineContext } from "../memory/context.ts";
import { decodeValue, recordOfObject } from "../records/values.ts";

/** Objects outside the store that no record names are deleted once they are older than this. */
const LEFTOVER_AGE = 24 * 60 * 60 * 1000;

/** Objects whose records are read at once. No more names than these are held. */
const OBJECTS = 64;

interface OldObject {
  readonly name: string;
  /** The key of the only record that can name it. */
  readonly record: Key;
}

/**
 * Deletes objects outside the store that no record names: uploads whose commit never came, and objects whose deletion
 * failed. Young ones stay, since their commit may be under way, and so do objects with names that no store has made.
 */
export async function sweepObjects(context: EngineContext, signal: AbortSignal | undefined): Promise<void> {
  const now = context.clock();
  let page: OldObject[] = [];
  for await (const { name, at } of context.outside.list()) {
    signal?.throwIfAborted();
    const record = now - at > LEFTOVER_AGE ? recordOfObject(name) : undefined;
    if (record === undefined) continue;
    page.push({ name, record });
    if (page.length < OBJECTS) continue;
    await sweepPage(context, page);
    page = [];
  }
  if (page.length > 0) await sweepPage(context, page);
}

async function sweepPage(context: EngineContext, page: readonly OldObject[]): Promise<void> {
  const records = await context.read(page.map(({ record }) => ({ get: record })));
  for (const [index, { name }] of page.entries()) {
    const record = records[index] as Value | undefined;
    if (record === undefined || !mayName(record, name)) await context.outside.sweep(name);
  }
}

/** Tells whether a record names an object. A record that cannot be read may name it. */
function mayName(record: Value, object: string): boolean {
  try {
    return decodeValue(record).object === object;
  } catch (error) {
    if (isCorrupt(error)) return true;
    throw error;
  }
}

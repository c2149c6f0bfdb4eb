import { base64, bytesOfBase64, compareBytes, utf8 } from "../../platform/bytes.ts";
import { DataKey } from "./data-key.ts";
import type { KeyRing, WrappedKey } from "./key-ring.ts";

/**
 * The data keys of a lineage. Each of its meta records has them in its header, wrapped, the current one first; a second one
 * is there while the lineage is written anew. So the keys go with the last meta record, and a commit that checks one also
 * checks that the keys are still the same.
 *
 * Invariant: all meta records of a lineage have the same header.
 */
export interface LineageKeys {
  readonly header: Uint8Array;
  readonly wrapped: readonly WrappedKey[];
  /** The number of the rotation that made the current key; 0 for none. */
  readonly rotation: number;
  /** Encrypts new values. */
  readonly current: DataKey;
  readonly byId: ReadonlyMap<number, DataKey>;
  /** Records that are not encrypted yet may be among those of the lineage: it is being encrypted. */
  readonly plain: boolean;
}

/** The lineage of a store of an earlier version, which is not encrypted. */
export const PLAIN = "plain";

export type KnownKeys = LineageKeys | typeof PLAIN;

/** The text of a header. */
interface HeaderRecord {
  readonly keys: readonly (readonly [name: string, wrapped: string])[];
  readonly rotation?: number;
  readonly plain?: true;
}

/** Returns whom a lineage's wrapped keys belong to, which is authenticated with them. */
export function ownerOf(lineage: number): string {
  return `lineage ${lineage}`;
}

/** Makes the keys of a lineage: these, the current one first, which a rotation may have made. */
export async function makeKeys(
  ring: KeyRing,
  owner: string,
  keys: readonly [DataKey, ...DataKey[]],
  rotation = 0,
  plain = false,
): Promise<LineageKeys> {
  const wrapped = await Promise.all(keys.map((key) => ring.wrap(key.bytes, owner)));
  const record: HeaderRecord = {
    keys: wrapped.map(({ name, bytes }) => [name, base64(bytes)] as const),
    ...(rotation !== 0 && { rotation }),
    ...(plain && { plain }),
  };
  const byId = new Map(keys.map((key) => [key.id, key]));
  return { header: utf8(JSON.stringify(record)), wrapped, rotation, current: keys[0], byId, plain };
}

/** Reads a header. Undefined where it is damaged; throws `KEY` where a key that it names is missing. */
export async function readKeys(ring: KeyRing, owner: string, header: Uint8Array): Promise<LineageKeys | undefined> {
  const wrapped = wrappedIn(header);
  if (wrapped === undefined) return undefined;
  const keys: DataKey[] = [];
  for (const one of wrapped.keys) {
    const bytes = await ring.unwrap(one, owner);
    if (bytes === undefined) return undefined;
    keys.push(new DataKey(bytes));
  }
  const [current] = keys;
  if (current === undefined) return undefined;
  const byId = new Map(keys.map((key) => [key.id, key]));
  const { rotation, plain } = wrapped;
  return { header: new Uint8Array(header), wrapped: wrapped.keys, rotation, current, byId, plain };
}

/** Returns the wrapped keys of a header, without unwrapping them; undefined where it is damaged. */
function wrappedIn(
  header: Uint8Array,
): (Pick<LineageKeys, "rotation" | "plain"> & { readonly keys: readonly WrappedKey[] }) | undefined {
  let record: HeaderRecord;
  try {
    record = JSON.parse(new TextDecoder().decode(header)) as HeaderRecord;
  } catch {
    return undefined;
  }
  if (typeof record !== "object" || record === null || !Array.isArray(record.keys)) return undefined;
  const keys: WrappedKey[] = [];
  for (const entry of record.keys as readonly unknown[]) {
    const [name, text] = Array.isArray(entry) ? (entry as readonly unknown[]) : [];
    if (typeof name !== "string" || typeof text !== "string") return undefined;
    keys.push({ name, bytes: bytesOfBase64(text) });
  }
  return { keys, rotation: record.rotation ?? 0, plain: record.plain === true };
}

export function isSameHeader(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && compareBytes(left, right) === 0;
}

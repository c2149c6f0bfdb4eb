import type { Backend, Listed, Value } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { EncryptionOptions } from "../../model/interface/encryption.ts";
import { base64, bytesOfBase64 } from "../../platform/bytes.ts";
import { cryptography } from "../../platform/node-builtins.ts";
import { storeKey } from "../records/keys.ts";
import { DataKey, headerOf, isEncrypted, KEY_BYTES } from "./data-key.ts";
import { HiddenIds } from "./hidden-ids.ts";
import type { KeyRing } from "./key-ring.ts";
import { type LineageKeys, makeKeys, readKeys } from "./lineage-keys.ts";

const OWNER = "store";

/** The keys of a store: of its directory and log, and of the names that are made from contents and ids. */
export interface StoreKeys {
  readonly keys: LineageKeys;
  /** The key of names: it never changes, since records are found by them. */
  readonly names: Uint8Array;
  /** Hides ids, workflows, runs and attributes, where the store does. It never changes either. */
  readonly hidden: HiddenIds | undefined;
  /** The number of a rotation of all data that has begun and not ended. */
  readonly rotation?: number | undefined;
  /** The store's record as it is stored; undefined while it is not. */
  readonly stored: Uint8Array | undefined;
}

interface StoreRecord {
  readonly names: string;
  readonly hideIds?: true;
  readonly rotation?: number;
}

/**
 * Reads the record of an encrypted store. Where there is none, keys are made (or those made `before` kept), which are stored
 * with the first commit.
 */
export async function loadStoreKeys(
  backend: Backend,
  ring: KeyRing,
  { migrating, hideIds }: EncryptionOptions,
  before: StoreKeys | undefined,
): Promise<StoreKeys> {
  const [stored] = (await backend.read([{ get: storeKey }])) as readonly [Value | undefined];
  if (stored === undefined) {
    if (!migrating && (await hasThreads(backend))) throw notEncrypted(hideIds === true);
    if (before?.stored === undefined && before !== undefined) return before;
    const keys = await makeKeys(ring, OWNER, [DataKey.random()]);
    const names = cryptography().randomBytes(KEY_BYTES);
    return { keys, names, hidden: hideIds ? new HiddenIds(names) : undefined, stored: undefined };
  }
  const store = await storeKeysOf(ring, stored);
  if (hideIds !== undefined && hideIds !== (store.hidden !== undefined)) throw otherwiseHidden(hideIds);
  return store;
}

async function hasThreads(backend: Backend): Promise<boolean> {
  const [threads] = (await backend.read([{ list: { limit: 1 } }])) as readonly [readonly Listed[]];
  return threads.length > 0;
}

/** Reads the keys of a store from its record. */
async function storeKeysOf(ring: KeyRing, stored: Value): Promise<StoreKeys> {
  const keys = isEncrypted(stored) ? await readKeys(ring, OWNER, headerOf(stored)) : undefined;
  const plain = isEncrypted(stored) ? keys?.current.decrypt(OWNER, stored) : undefined;
  if (keys === undefined || plain === undefined) throw wrongKey();
  const { names: text, hideIds, rotation } = JSON.parse(plain.toString("utf8")) as StoreRecord;
  const names = bytesOfBase64(text);
  return { keys, names, hidden: hideIds ? new HiddenIds(names) : undefined, rotation, stored: stored as Uint8Array };
}

/** Returns the store's record. */
export function encodeStoreKeys({ keys, names, hidden, rotation }: StoreKeys): Uint8Array {
  const record: StoreRecord = {
    names: base64(names),
    ...(hidden && { hideIds: true }),
    ...(rotation !== undefined && { rotation }),
  };
  return keys.current.encrypt(OWNER, JSON.stringify(record), keys.header);
}

/** Returns the keys of a store wrapped anew, by the current key of the ring. */
export async function rewrapped(ring: KeyRing, store: StoreKeys): Promise<StoreKeys> {
  return { ...store, keys: await makeKeys(ring, OWNER, [store.keys.current]) };
}

function notEncrypted(hideIds: boolean): ThreadmarkError {
  const next = hideIds
    ? "Ids are hidden in new stores only: restore a backup of this one into a new store that is opened so"
    : "Open it with encryption: { ..., migrating: true } and call rotate() to encrypt it";
  return new ThreadmarkError("KEY", `The store is not encrypted. ${next}, or open it without encryption.`);
}

function otherwiseHidden(hideIds: boolean): ThreadmarkError {
  const [is, wanted] = hideIds ? ["visible", "true"] : ["hidden", "false"];
  return new ThreadmarkError(
    "KEY",
    `The ids of the store are ${is}, which was decided when it was begun, and encryption.hideIds is ${wanted}. ` +
      "Leave hideIds out, or restore a backup of the store into a new one that is opened so.",
  );
}

function wrongKey(): ThreadmarkError {
  return new ThreadmarkError(
    "KEY",
    "The keys do not fit the store: they are not the ones it was encrypted with, or its record of keys is damaged. " +
      "Open it with the right keys, or restore it from a backup.",
  );
}

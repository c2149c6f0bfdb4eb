import type { Batch, DirectoryKey, Entry, Key, LogLine, Value } from "../../backend.ts";
import { base64, compareBytes } from "../../platform/bytes.ts";
import type { RecentMap } from "../../platform/recent-map.ts";
import type { Keychain } from "./keychain.ts";
import { type LineageKeys, PLAIN } from "./lineage-keys.ts";
import { directoryPlace, LOG_PLACE, placeOf, withId } from "./places.ts";
import type { RememberedMeta } from "./remembered-meta.ts";
import type { StoreKeys } from "./store-keys.ts";

/** A record as it is stored now, with the value that it has. */
export interface StoredNow {
  readonly key: Key | DirectoryKey;
  readonly stored: Value | undefined;
  readonly plain: Value | undefined;
}

/** Encrypts the values of batches. The keys of their lineages are at hand, unless there is no such lineage. */
export class Encrypter {
  readonly #keychain: Keychain;
  readonly #store: StoreKeys;
  readonly #metas: RecentMap<string, RememberedMeta>;

  constructor(keychain: Keychain, store: StoreKeys, metas: RecentMap<string, RememberedMeta>) {
    this.#keychain = keychain;
    this.#store = store;
    this.#metas = metas;
  }

  /** Encrypts a batch. Where records are given as they are stored now, its checks are made of them. */
  encode(batch: Batch, now?: readonly StoredNow[]): Batch {
    const { checks, deletes, inserts, puts, entries, log, follows } = batch;
    const { hidden } = this.#store;
    const expected = (key: Key | DirectoryKey, value: Value): Value => {
      const found = now?.find((one) => one.key === key);
      const holds = found?.stored !== undefined && found.plain !== undefined && isSame(found.plain, value);
      return holds ? (found.stored as Value) : this.#value(key, value);
    };
    return {
      ...(checks && {
        checks: checks.map(({ key, value }) => ({
          key: hidden?.key(key) ?? key,
          value: value === undefined ? undefined : expected(key, value),
        })),
      }),
      ...(deletes && { deletes: hidden ? deletes.map((key) => hidden.key(key)) : deletes }),
      ...(inserts && { inserts: inserts.map((entry) => this.#entry(entry)) }),
      ...(puts && { puts: puts.map((entry) => this.#entry(entry)) }),
      ...(entries && { entries: hidden?.entries(entries) ?? entries }),
      ...(log && { log: { lineage: log.lineage, lines: log.lines.map((line) => this.#line(line)) } }),
      ...(follows && { follows: { ...follows, value: expected(follows.key, follows.value) } }),
    };
  }

  #entry({ key, value }: Entry): Entry {
    return { key: this.#store.hidden?.key(key) ?? key, value: this.#value(key, value) };
  }

  #value(key: Key | DirectoryKey, value: Value): Value {
    if (key.table === "directory") return this.#directory(key.id, value);
    const keys = this.#keychain.of(key.lineage) ?? this.#store.keys;
    if (keys === PLAIN) return value;
    if (key.table === "meta") return this.#meta(key, value, keys);
    return keys.current.encrypt(placeOf(key), value);
  }

  #meta(key: Key, value: Value, keys: LineageKeys): Uint8Array {
    const place = placeOf(key);
    const known = this.#metas.get(place);
    if (known !== undefined && known.keys === keys && known.plain === value) return known.stored;
    const stored = keys.current.encrypt(place, value, keys.header);
    this.#metas.set(place, { keys, plain: value, stored });
    return stored;
  }

  #directory(id: string, value: Value): Value {
    const { keys, hidden } = this.#store;
    if (hidden === undefined) return keys.current.encrypt(directoryPlace(id), value);
    return keys.current.encrypt(directoryPlace(hidden.id(id)), withId(id, value));
  }

  #line({ at, text }: LogLine): LogLine {
    return { at, text: base64(this.#store.keys.current.encrypt(LOG_PLACE, text)) };
  }
}

function isSame(left: Value, right: Value): boolean {
  if (typeof left === "string" || typeof right === "string") return left === right;
  return compareBytes(left, right) === 0;
}

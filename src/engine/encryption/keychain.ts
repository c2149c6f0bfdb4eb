import type { Backend, Batch, Found, Value } from "../../backend.ts";
import type { EncryptionOptions } from "../../model/interface/encryption.ts";
import { cryptography } from "../../platform/node-builtins.ts";
import { RecentMap } from "../../platform/recent-map.ts";
import { storeKey } from "../records/keys.ts";
import { DataKey, headerOf, isEncrypted } from "./data-key.ts";
import { KeyRing } from "./key-ring.ts";
import { isSameHeader, type KnownKeys, type LineageKeys, makeKeys, ownerOf, PLAIN, readKeys } from "./lineage-keys.ts";
import { encodeStoreKeys, loadStoreKeys, rewrapped, type StoreKeys } from "./store-keys.ts";

/** Lineages whose keys are remembered: about a kilobyte each. */
const LINEAGES = 10_000;

/** A store, or its state at one moment. */
export type Readable = Pick<Backend, "read">;

/** The keys of a store and of its lineages, as far as they are known. Keys are read from the records that hold them. */
export class Keychain {
  readonly ring: KeyRing;
  readonly migrating: boolean;
  readonly #backend: Backend;
  readonly #options: EncryptionOptions;
  readonly #lineages = new RecentMap<number, KnownKeys>(LINEAGES);
  #store: StoreKeys | undefined;
  #loading: Promise<StoreKeys> | undefined;

  constructor(backend: Backend, options: EncryptionOptions) {
    this.#backend = backend;
    this.#options = options;
    this.ring = new KeyRing(options);
    this.migrating = options.migrating === true;
  }

  /** Returns the store's keys once they were read. */
  get store(): StoreKeys | undefined {
    return this.#store;
  }

  /** Reads the store's keys. Throws `KEY` where they do not fit. */
  load(): Promise<StoreKeys> {
    this.#loading ??= loadStoreKeys(this.#backend, this.ring, this.#options, this.#store).then(
      (store) => {
        this.#store = store;
        this.#loading = undefined;
        return store;
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }

  /**
   * Stores the keys of a store that has none yet. Resolves to false where another was first: its keys count from now on, and
   * whatever was planned with these has to be planned again.
   */
  async begin(): Promise<boolean> {
    const store = this.#store ?? (await this.load());
    if (store.stored !== undefined) return true;
    const stored = encodeStoreKeys(store);
    const [applied] = await this.#backend.commit([{ inserts: [{ key: storeKey, value: stored }] }]);
    if (applied) {
      this.#store = { ...store, stored };
      return true;
    }
    await this.load();
    return false;
  }

  /** Wraps the store's own keys by the current key, unless they are; `always` if its name says nothing. */
  async rewrapStore(always: boolean): Promise<void> {
    await this.#changeStore(async (store) => {
      const isCurrent = store.keys.wrapped.every(({ name }) => name === this.ring.current);
      return isCurrent && !always ? undefined : rewrapped(this.ring, store);
    });
  }

  /** Begins a rotation of all data, or goes on with the one that was not ended. Resolves to its number. */
  async beginRotation(): Promise<number> {
    const number = cryptography().randomInt(1, 2 ** 47);
    await this.#changeStore(async (store) =>
      store.rotation === undefined ? { ...store, rotation: number } : undefined,
    );
    return this.#store?.rotation ?? number;
  }

  /** Notes that a rotation of all data has ended. */
  async endRotation(number: number): Promise<void> {
    await this.#changeStore(async (store) =>
      store.rotation === number ? { ...store, rotation: undefined } : undefined,
    );
  }

  /** Changes the store's record, unless the change gives undefined. Where another was first, it is made anew. */
  async #changeStore(change: (store: StoreKeys) => Promise<StoreKeys | undefined>): Promise<void> {
    for (;;) {
      await this.begin();
      const store = await this.load();
      const next = await change(store);
      if (next === undefined) return;
      const batch: Batch = {
        checks: [{ key: storeKey, value: store.stored }],
        puts: [{ key: storeKey, value: encodeStoreKeys(next) }],
      };
      const [applied] = await this.#backend.commit([batch]);
      if (!applied) continue;
      await this.load();
      return;
    }
  }

  of(lineage: number): KnownKeys | undefined {
    return this.#lineages.get(lineage);
  }

  set(lineage: number, keys: KnownKeys): void {
    this.#lineages.set(lineage, keys);
  }

  /** Makes a key for a lineage that begins. */
  async create(lineage: number): Promise<void> {
    this.set(lineage, await makeKeys(this.ring, ownerOf(lineage), [DataKey.random()]));
  }

  /** Learns the keys of a lineage from the header of one of its meta records; undefined where that is damaged. */
  async learn(lineage: number, header: Uint8Array): Promise<LineageKeys | undefined> {
    const known = this.of(lineage);
    if (known !== undefined && known !== PLAIN && isSameHeader(known.header, header)) return known;
    const keys = await readKeys(this.ring, ownerOf(lineage), header);
    if (keys !== undefined) this.set(lineage, keys);
    return keys;
  }

  /** Reads the keys of a lineage from any of its meta records; false where it has none that reads. */
  async find(lineage: number, source: Readable = this.#backend): Promise<boolean> {
    const range = { table: "meta", lineage, group: lineage } as const;
    for (let limit: number | undefined = 1; ; limit = undefined) {
      const [found] = (await source.read([{ scan: range, ...(limit !== undefined && { limit }) }])) as readonly [
        readonly Found[],
      ];
      for (const { value } of found) if (await this.#learnFrom(lineage, value)) return true;
      if (limit === undefined || found.length < limit) return false;
    }
  }

  async #learnFrom(lineage: number, meta: Value): Promise<boolean> {
    if (isEncrypted(meta)) return (await this.learn(lineage, headerOf(meta))) !== undefined;
    if (!this.migrating) return false;
    this.set(lineage, PLAIN);
    return true;
  }
}

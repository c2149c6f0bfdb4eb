import type {
  Answer,
  Backend,
  Batch,
  Capabilities,
  DirectoryKey,
  Found,
  Key,
  Range,
  Read,
  Snapshot,
  Value,
} from "../../backend.ts";
import { unwrap } from "../../codec/envelope.ts";
import type { EncryptionOptions } from "../../model/interface/encryption.ts";
import type { EncryptionReport } from "../../model/interface/results.ts";
import { base64, bytesOfBase64 } from "../../platform/bytes.ts";
import { cryptography } from "../../platform/node-builtins.ts";
import { RecentMap } from "../../platform/recent-map.ts";
import { storeKey } from "../records/keys.ts";
import { DataKey, isEncrypted } from "./data-key.ts";
import { Decrypter } from "./decrypter.ts";
import { Encrypter } from "./encrypter.ts";
import type { HiddenIds } from "./hidden-ids.ts";
import { Keychain, type Readable } from "./keychain.ts";
import { type LineageKeys, makeKeys, PLAIN, readKeys } from "./lineage-keys.ts";
import { placeOf } from "./places.ts";
import type { RememberedMeta } from "./remembered-meta.ts";
import type { StoreKeys } from "./store-keys.ts";

/** The owner of a bundle's key. */
const BUNDLE = "bundle";

/** How often reads are repeated because a record's key was replaced meanwhile. */
const READS = 3;

/** Meta records whose two forms are remembered: every commit and every read of a thread meets one. */
const METAS = 10_000;

/**
 * A backend that encrypts every value on its way to another backend, and decrypts it on its way back. The engine above it
 * sees plain values, the backend below it only keys, entries of the index, and encrypted bytes; with `hideIds`, blinds in
 * place of ids and of the texts in entries.
 */
export class EncryptedBackend implements Backend {
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly hear?: NonNullable<Backend["hear"]>;
  readonly total?: NonNullable<Backend["total"]>;
  readonly reclaim?: NonNullable<Backend["reclaim"]>;
  readonly snapshot?: NonNullable<Backend["snapshot"]>;
  readonly numberFor?: NonNullable<Backend["numberFor"]>;
  readonly keychain: Keychain;
  readonly #backend: Backend;
  readonly #metas = new RecentMap<string, RememberedMeta>(METAS);
  /** Batches whose values are encrypted already. */
  readonly #encrypted = new WeakSet<Batch>();

  constructor(backend: Backend, options: EncryptionOptions) {
    this.#backend = backend;
    this.name = backend.name;
    this.capabilities = backend.capabilities;
    this.keychain = new Keychain(backend, options);
    if (backend.reclaim) this.reclaim = async (lineages) => (await backend.reclaim?.(lineages)) === true;
    if (backend.snapshot) this.snapshot = () => this.#snapshot();
    if (backend.numberFor) {
      this.numberFor = (id, number) => backend.numberFor?.(this.#hidden?.id(id) ?? id, number) ?? number;
    }
    if (backend.total) this.total = () => backend.total?.() ?? backend.size();
    if (backend.hear) this.hear = (callback) => backend.hear?.(callback) ?? (() => {});
  }

  get #hidden(): HiddenIds | undefined {
    return this.keychain.store?.hidden;
  }

  /** Resolves to whether ids, workflows, runs and attributes are hidden, so that threads are found by equality only. */
  async hidesIds(): Promise<boolean> {
    return (this.keychain.store ?? (await this.keychain.load())).hidden !== undefined;
  }

  /** Tells how the store is encrypted. */
  async report(): Promise<EncryptionReport> {
    const { keys, hidden, rotation } = await this.keychain.load();
    const [key] = keys.wrapped;
    const { current } = this.keychain.ring;
    return { key: key?.name ?? current, current, hideIds: hidden !== undefined, rotating: rotation !== undefined };
  }

  /** Returns the text of an index entry as the backend has it. */
  textOf(text: string): string {
    return this.#hidden?.text(text) ?? text;
  }

  /** Returns a thread's id as the backend has it. */
  idOf(id: string): string {
    return this.#hidden?.id(id) ?? id;
  }

  get interruptions(): number {
    return this.#backend.interruptions as number;
  }

  async read(reads: readonly Read[]): Promise<readonly Answer[]> {
    const store = this.keychain.store ?? (await this.keychain.load());
    return store.stored === undefined ? this.#readNew(store, reads) : this.#readFrom(this.#backend, store, reads);
  }

  async #readFrom(source: Readable, store: StoreKeys, reads: readonly Read[]): Promise<readonly Answer[]> {
    const decrypter = new Decrypter(this.keychain, store, this.#metas, source);
    for (let attempt = 1; ; attempt += 1) {
      const answers = await source.read(hiddenReads(store, reads));
      const decoded = await decrypter.decode(reads, answers);
      if (!decrypter.missesKeys || attempt === READS) return decoded;
    }
  }

  async #snapshot(): Promise<Snapshot | undefined> {
    const store = await this.keychain.load();
    const snapshot = store.stored === undefined ? undefined : await this.#backend.snapshot?.();
    return snapshot && { read: (reads) => this.#readFrom(snapshot, store, reads), close: () => snapshot.close() };
  }

  /** Reads from a store that has no keys yet, unless another store has begun it meanwhile. */
  async #readNew(store: StoreKeys, reads: readonly Read[]): Promise<readonly Answer[]> {
    const decrypter = new Decrypter(this.keychain, store, this.#metas, this.#backend);
    const answers = await this.#backend.read([...hiddenReads(store, reads), { get: storeKey }]);
    if (answers.at(-1) === undefined) return decrypter.decode(reads, answers.slice(0, -1));
    await this.keychain.load();
    return this.read(reads);
  }

  async commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    const store = this.keychain.store ?? (await this.keychain.load());
    if (store.stored === undefined && !(await this.keychain.begin())) return batches.map(() => false);
    const encrypter = new Encrypter(this.keychain, store, this.#metas);
    const encoded: Batch[] = [];
    for (const batch of batches) {
      if (this.#encrypted.has(batch)) {
        encoded.push(batch);
        continue;
      }
      for (const lineage of lineagesOf(batch)) {
        const keys = this.keychain.of(lineage);
        if (keys === undefined) await this.#findOrCreate(lineage, batch);
      }
      encoded.push(
        isInTransition(this.keychain, batch) ? await this.#encodeStored(encrypter, batch) : encrypter.encode(batch),
      );
    }
    return this.#backend.commit(encoded);
  }

  /**
   * Returns a batch that gives a lineage other keys: it writes all meta records of the lineage anew, and is refused if one of
   * them was changed meanwhile. Undefined where the lineage is gone. Throws `CORRUPT` where a meta record cannot be read.
   */
  async changingKeys(lineage: number, keys: LineageKeys): Promise<Batch | undefined> {
    const range = { table: "meta", lineage, group: lineage } as const;
    const [found] = (await this.#backend.read([{ scan: range }])) as readonly [readonly Found[]];
    const decrypter = new Decrypter(this.keychain, this.keychain.store as StoreKeys, this.#metas, this.#backend);
    const [plain] = (await decrypter.decode([{ scan: range }], [found])) as readonly [readonly Found[]];
    if (found.length === 0) return undefined;
    const entries = plain.map(({ item, part, value }, index) => {
      const key: Key = { ...range, item, part };
      unwrap(value);
      return { key, before: found[index]?.value, value: keys.current.encrypt(placeOf(key), value, keys.header) };
    });
    const batch: Batch = {
      checks: entries.map(({ key, before }) => ({ key, value: before })),
      puts: entries.map(({ key, value }) => ({ key, value })),
    };
    this.#encrypted.add(batch);
    return batch;
  }

  /** Names a large value by its JSON, so that only who has the keys can tell which value has a name. */
  nameOf(text: string): string {
    const { names } = this.keychain.store as StoreKeys;
    return cryptography().createHmac("sha256", names).update(text).digest("base64url");
  }

  /** Makes a key for a bundle: `seal` encrypts its lines, each for its place in the bundle. */
  async sealBundle(): Promise<{ readonly header: string; readonly seal: (line: string) => string }> {
    const keys = await makeKeys(this.keychain.ring, BUNDLE, [DataKey.random()]);
    let number = 0;
    const seal = (line: string): string => {
      number += 1;
      return base64(keys.current.encrypt(`${BUNDLE} ${number}`, line));
    };
    return { header: base64(keys.header), seal };
  }

  /** Reads the key of a bundle: the function decrypts its lines in order; undefined for one that is not the next. */
  async openBundle(header: string): Promise<((line: string) => string | undefined) | undefined> {
    const keys = await readKeys(this.keychain.ring, BUNDLE, bytesOfBase64(header));
    if (keys === undefined) return undefined;
    let number = 0;
    return (line) => {
      number += 1;
      return keys.current.decrypt(`${BUNDLE} ${number}`, bytesOfBase64(line))?.toString("utf8");
    };
  }

  /** Encrypts an object outside the store with a key of its own: it cannot be read once the record with the key is gone. */
  encryptObject(name: string, bytes: Uint8Array): { readonly bytes: Uint8Array; readonly key: string } {
    const key = DataKey.random();
    return { bytes: key.encrypt(`object:${name}`, bytes), key: base64(key.bytes) };
  }

  decryptObject(name: string, bytes: Uint8Array, key: string): Uint8Array | undefined {
    return isEncrypted(bytes) ? new DataKey(bytesOfBase64(key)).decrypt(`object:${name}`, bytes) : undefined;
  }

  async #findOrCreate(lineage: number, { inserts = [] }: Batch): Promise<void> {
    const begins = inserts.some(({ key }) => key.table === "meta" && key.lineage === lineage && key.item === lineage);
    if (begins) await this.keychain.create(lineage);
    else await this.keychain.find(lineage);
  }

  /** Encodes a batch of a lineage whose records are encrypted in different ways: its checks are made of what is stored. */
  async #encodeStored(encrypter: Encrypter, batch: Batch): Promise<Batch> {
    const keys: (Key | DirectoryKey)[] = (batch.checks ?? []).flatMap(({ key, value }) =>
      value === undefined ? [] : [key],
    );
    if (batch.follows) keys.push(batch.follows.key);
    const reads = keys.map((get) => ({ get }));
    const store = this.keychain.store as StoreKeys;
    const decrypter = new Decrypter(this.keychain, store, this.#metas, this.#backend);
    const stored = (await this.#backend.read(hiddenReads(store, reads))) as readonly (Value | undefined)[];
    const plain = (await decrypter.decode(reads, stored)) as readonly (Value | undefined)[];
    return encrypter.encode(
      batch,
      keys.map((key, index) => ({ key, stored: stored[index], plain: plain[index] })),
    );
  }

  size(): ReturnType<Backend["size"]> {
    return this.#backend.size();
  }

  compact(): Promise<void> {
    return this.#backend.compact();
  }

  verify(): Promise<readonly string[]> {
    return this.#backend.verify();
  }

  close(): Promise<void> {
    return this.#backend.close();
  }
}

function hiddenReads({ hidden }: StoreKeys, reads: readonly Read[]): readonly Read[] {
  return hidden ? reads.map((read) => hidden.read(read)) : reads;
}

function lineagesOf({ checks = [], deletes = [], inserts = [], puts = [], follows }: Batch): Set<number> {
  const lineages = new Set<number>();
  const add = (key: Key | DirectoryKey | Range): void => {
    if (key.table !== "directory") lineages.add(key.lineage);
  };
  for (const { key } of checks) add(key);
  for (const { key } of inserts) add(key);
  for (const { key } of puts) add(key);
  for (const key of deletes) add(key);
  if (follows) add(follows.key);
  return lineages;
}

/** Returns true if a record that the batch checks may be encrypted otherwise than a new one would be. */
function isInTransition(keychain: Keychain, batch: Batch): boolean {
  if (keychain.migrating && batch.checks?.some(({ key, value }) => key.table === "directory" && value !== undefined)) {
    return true;
  }
  for (const lineage of lineagesOf(batch)) {
    const keys = keychain.of(lineage);
    if (keys !== undefined && keys !== PLAIN && (keys.plain || keys.byId.size > 1)) return true;
  }
  return false;
}

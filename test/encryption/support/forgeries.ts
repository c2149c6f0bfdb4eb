import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Answer, Backend, DirectoryKey, Found, Key, Listed, Read, Value } from "../../../src/backend.ts";
import { unwrap } from "../../../src/codec/envelope.ts";
import { EncryptedBackend } from "../../../src/engine/encryption/encrypted-backend.ts";
import { open, ThreadmarkError } from "../../../src/index.ts";
import { backendOf } from "../../support/backend-of.ts";
import type { BackendUnderTest } from "../../support/places.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

const encryption = { current: "one", keys: { one: randomBytes(32) } };

interface State {
  readonly thread: string;
  readonly n: number;
  readonly text?: string;
}

/** An encrypted record as the backend stores it. */
interface StoredRecord {
  readonly key: Key | DirectoryKey;
  readonly bytes: Uint8Array;
}

/** The toll of a campaign: records that were refused by themselves, and threads that were in reads of everything. */
export interface ForgeryToll {
  readonly records: number;
  readonly threads: number;
}

/**
 * Writes forged records into the storage of a backend, one at a time, and reads them back with the keys: each is refused, and no
 * thread shows anything else than before.
 */
export async function refusesForgeries(backend: BackendUnderTest, tries: number): Promise<ForgeryToll> {
  const place = await backend.make();
  // Beneath the encryption: forged records are stored, and read from the storage again.
  const storage = await backendOf(place);
  try {
    await fill(storage);
    const { records, truth } = await recordsOf(storage);
    const forger = new Forger(records);
    const reader = new EncryptedBackend(sharedBackend(storage), encryption);
    const toll = { records: 0, threads: 0 };
    for (let count = 0; count < tries; count += 1) {
      const { key, bytes, forged } = forger.next();
      if (typeof forged !== "string" && Buffer.compare(forged, bytes) === 0) continue;
      await put(storage, key, forged);
      // Reading everything takes long: most tries read the one record, as the engine would.
      if (count % 50 === 0) {
        for (const [id, content] of await contents(storage)) {
          if (content === undefined) toll.threads += 1;
          else assert.equal(content, truth.get(id), `thread ${id} shows something else`);
        }
      } else {
        assert.equal(await readOne(reader, storage, key), "refused", `a forged record of ${key.table} was read`);
        toll.records += 1;
      }
      await put(storage, key, bytes);
    }
    assert.deepEqual(await contents(storage), truth);
    return toll;
  } finally {
    await storage.close();
    await place.cleanup();
  }
}

async function put(storage: Backend, key: Key | DirectoryKey, value: Value): Promise<void> {
  const [applied] = await storage.commit([{ puts: [{ key, value }] }]);
  assert.ok(applied, "a record was not written");
}

/** Writes threads with packs, labels, writes, large values and a fork: records of nearly every table. */
async function fill(storage: Backend): Promise<void> {
  const store = await open<State>(sharedBackend(storage), { encryption, packRows: 3, largeValues: { from: 400 } });
  for (const id of ["a", "b"]) {
    const thread = store.thread(id);
    for (let n = 0; n < 7; n += 1) {
      const text = `${id}${n}`.repeat(n === 3 ? 300 : 2);
      await thread.put({ state: { thread: id, n, text }, id: `${id}-${n}`, attributes: { n } });
    }
    await thread.label(`${id}-1`, "first");
    await thread.putWrites(`${id}-6`, { task: "t", writes: [{ channel: "c", value: id }] });
  }
  await store.thread("a").fork({ into: "fork", at: { step: 4 }, edits: { n: 99 } });
  await store.close();
}

/** Returns everything that threads show; undefined for a thread that is refused. */
async function contents(storage: Backend): Promise<ReadonlyMap<string, string | undefined>> {
  const store = await open<State>(sharedBackend(storage), { encryption });
  const all = new Map<string, string | undefined>();
  for (const id of ["a", "b", "fork"]) {
    try {
      const thread = store.thread(id);
      const states = [];
      for await (const checkpoint of thread.history({ states: true })) states.push([checkpoint.id, checkpoint.state]);
      const head = states[0]?.[0] as string;
      all.set(id, JSON.stringify([states, await thread.writes(head), await thread.attributes()]));
    } catch (error) {
      if (!ThreadmarkError.is(error, "CORRUPT", "KEY")) throw error;
      all.set(id, undefined);
    }
  }
  await store.close();
  return all;
}

/** Reads everything, and returns the records that were met on the way. */
async function recordsOf(storage: Backend): Promise<{
  readonly records: readonly StoredRecord[];
  readonly truth: ReadonlyMap<string, string | undefined>;
}> {
  const seen = new Map<string, StoredRecord>();
  const note = (key: Key | DirectoryKey, value: Value): void => {
    if (typeof value !== "string") seen.set(JSON.stringify(key), { key, bytes: Uint8Array.from(value) });
  };
  const noteAll = (read: Read, answer: Answer): void => {
    if ("get" in read && answer !== undefined) note(read.get, answer as Value);
    if ("list" in read)
      for (const { id, value } of answer as readonly Listed[]) note({ table: "directory", id }, value);
    if (!("scan" in read)) return;
    const { table, lineage, group } = read.scan;
    for (const { item, part, value } of answer as readonly Found[]) note({ table, lineage, group, item, part }, value);
  };
  const watched = sharedBackend(storage, {
    read: async (reads) => {
      const answers = await storage.read(reads);
      for (const [index, read] of reads.entries()) noteAll(read, answers[index]);
      return answers;
    },
  });
  const truth = await contents(watched);
  assert.ok([...truth.values()].every((content) => content !== undefined));
  const records = [...seen.values()];
  const tables = new Set<string>(records.map(({ key }) => key.table));
  for (const table of ["directory", "head", "meta", "tail", "mark", "rows", "net", "steps", "write", "value"]) {
    assert.ok(tables.has(table), `no record of ${table} was read`);
  }
  return { records, truth };
}

/** Makes forgeries: records flipped, cut, lengthened, replaced by others and stripped of their encryption, in turn. */
class Forger {
  readonly #records: readonly StoredRecord[];
  #count = 0;
  #seed = 7;

  constructor(records: readonly StoredRecord[]) {
    this.#records = records;
  }

  next(): StoredRecord & { readonly forged: Value } {
    const record = this.#any();
    const { bytes } = record;
    const ways: readonly (() => Value)[] = [
      () => {
        const flipped = Uint8Array.from(bytes);
        const at = this.#below(flipped.length);
        flipped[at] = (flipped[at] as number) ^ (1 << this.#below(8));
        return flipped;
      },
      () => bytes.slice(0, this.#below(bytes.length)),
      () => bytes.slice(1 + this.#below(bytes.length - 1)),
      () => Uint8Array.from(this.#any().bytes),
      () => "1j99914b932bd37a50b983c5e7c90ae93b{}",
      () => "1j99914b93{}",
      () => Uint8Array.from([...bytes, this.#below(256)]),
    ];
    const way = ways[this.#count % ways.length] as () => Value;
    this.#count += 1;
    return { ...record, forged: way() };
  }

  #any(): StoredRecord {
    return this.#records[this.#below(this.#records.length)] as StoredRecord;
  }

  #below(most: number): number {
    this.#seed = (this.#seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((this.#seed / 2 ** 31) * most);
  }
}

/** Reads one record through the keys of a store, without the engine. */
async function readOne(reader: Backend, storage: Backend, key: Key | DirectoryKey): Promise<string> {
  try {
    // The record of the store's own keys is read by a store that does not know them yet.
    const fresh = key.table === "head" ? new EncryptedBackend(storage, encryption) : reader;
    const [value] = await fresh.read([{ get: key }]);
    return unwrap(value as Value);
  } catch (error) {
    if (ThreadmarkError.is(error, "CORRUPT", "KEY")) return "refused";
    throw error;
  }
}

import type { Answer, Found, FoundEntry, Key, Listed, LogPage, Read, Value } from "../../backend.ts";
import { NOT_ENCRYPTED, UNREADABLE } from "../../codec/envelope.ts";
import { ThreadmarkError } from "../../errors.ts";
import { bytesOfBase64, compareBytes, latin1 } from "../../platform/bytes.ts";
import type { RecentMap } from "../../platform/recent-map.ts";
import { storeKey } from "../records/keys.ts";
import { type DataKey, headerOf, isEncrypted, keyIdOf } from "./data-key.ts";
import type { Keychain, Readable } from "./keychain.ts";
import { isSameHeader, type LineageKeys, PLAIN } from "./lineage-keys.ts";
import { directoryPlace, LOG_PLACE, placeOf, withoutId } from "./places.ts";
import type { RememberedMeta } from "./remembered-meta.ts";
import type { StoreKeys } from "./store-keys.ts";

/**
 * Decrypts the answers of one call. A value that does not decrypt becomes one that reads as `CORRUPT`, so that a damaged
 * record stops no other.
 */
export class Decrypter {
  readonly #keychain: Keychain;
  readonly #source: Readable;
  readonly #store: StoreKeys;
  readonly #metas: RecentMap<string, RememberedMeta>;
  /** Headers of meta records whose keys are to be read, and lineages of which no header was read. */
  #headers: { readonly lineage: number; readonly header: Uint8Array }[] = [];
  #lineages = new Set<number>();
  /** The keys that headers gave in this call; undefined for damaged ones. */
  readonly #read = new Map<string, LineageKeys | undefined>();
  /** Lineages whose keys were looked for in this call. */
  readonly #sought = new Set<number>();
  /** Whether a value names a key that its lineage does not have. */
  missesKeys = false;

  /** Takes the `source` of the answers, in which the keys of lineages are looked for. */
  constructor(keychain: Keychain, store: StoreKeys, metas: RecentMap<string, RememberedMeta>, source: Readable) {
    this.#source = source;
    this.#keychain = keychain;
    this.#store = store;
    this.#metas = metas;
  }

  async decode(reads: readonly Read[], answers: readonly Answer[]): Promise<readonly Answer[]> {
    this.#sought.clear();
    for (;;) {
      this.#headers = [];
      this.#lineages = new Set();
      this.missesKeys = false;
      // Meta records first: the keys of the other records are in them.
      const decoded = reads.map((read, index) => (isOfMeta(read) ? this.#answer(read, answers[index]) : undefined));
      for (const [index, read] of reads.entries()) {
        if (!isOfMeta(read)) decoded[index] = this.#answer(read, answers[index]);
      }
      if (this.#headers.length + this.#lineages.size === 0) return decoded;
      await this.#findKeys();
    }
  }

  async #findKeys(): Promise<void> {
    for (const { lineage, header } of this.#headers) {
      this.#read.set(nameOf(lineage, header), await this.#keychain.learn(lineage, header));
    }
    for (const lineage of this.#lineages) {
      // A meta record of this call may have told the keys already: another one is read only where they do not fit.
      if (this.#headers.some((one) => one.lineage === lineage)) continue;
      this.#sought.add(lineage);
      await this.#keychain.find(lineage, this.#source);
    }
  }

  #answer(read: Read, answer: Answer): Answer {
    if ("get" in read) return answer === undefined ? undefined : this.#got(read, answer as Value);
    if ("scan" in read) {
      const { table, lineage, group } = read.scan;
      return (answer as readonly Found[]).map(({ item, part, value }) => ({
        item,
        part,
        value: this.#record({ table, lineage, group, item, part }, value),
      }));
    }
    if ("list" in read) {
      return (answer as readonly Listed[]).map((listed) => this.#listed(listed));
    }
    if ("find" in read && read.find.tapes) return (answer as readonly FoundEntry[]).map((entry) => this.#entry(entry));
    return "log" in read ? this.#log(answer as LogPage) : answer;
  }

  /** Decrypts the records of its tape that come with an entry. */
  #entry(entry: FoundEntry): FoundEntry {
    const { lineage, tape, records } = entry;
    if (!records) return entry;
    const { meta, tail } = records;
    const key: Key = { table: "meta", lineage, group: lineage, item: tape, part: 0 };
    return {
      ...entry,
      records: {
        meta: meta === undefined ? undefined : this.#record(key, meta),
        tail: tail.map(({ item, part, value }) => ({
          item,
          part,
          value: this.#record({ table: "tail", lineage, group: tape, item, part }, value),
        })),
      },
    };
  }

  #got({ get: key }: Extract<Read, { get: unknown }>, value: Value): Value | undefined {
    if (key.table === "directory") return this.#directory(key.id, value);
    // The engine asks for this record to learn whether it needs keys: it does not.
    if (key.table === storeKey.table && key.lineage === storeKey.lineage) return undefined;
    return this.#record(key, value);
  }

  #record(key: Key, stored: Value): Value {
    if (!isEncrypted(stored)) return this.#plain(key, stored);
    if (key.table === "meta") return this.#meta(key, stored);
    const { lineage } = key;
    const id = keyIdOf(stored);
    const dataKey = this.#keyOf(lineage, id);
    if (dataKey !== undefined) return valueOf(dataKey.decrypt(placeOf(key), stored));
    if (id !== undefined && !this.#sought.has(lineage)) this.#lineages.add(lineage);
    else if (id !== undefined) this.missesKeys = true;
    return UNREADABLE;
  }

  #meta(key: Key, stored: Uint8Array): Value {
    const { lineage } = key;
    const header = headerOf(stored);
    const known = this.#keychain.of(lineage);
    let keys = known === undefined || known === PLAIN || !isSameHeader(known.header, header) ? undefined : known;
    if (keys === undefined) {
      const name = nameOf(lineage, header);
      keys = this.#read.get(name);
      if (keys === undefined) {
        if (!this.#read.has(name)) this.#headers.push({ lineage, header });
        return UNREADABLE;
      }
    }
    const place = placeOf(key);
    const before = this.#metas.get(place);
    if (before !== undefined && before.keys === keys && compareBytes(before.stored, stored) === 0) return before.plain;
    const plain = valueOf(keys.byId.get(keyIdOf(stored) ?? 0)?.decrypt(place, stored));
    if (plain !== UNREADABLE) this.#metas.set(place, { keys, plain, stored });
    return plain;
  }

  #keyOf(lineage: number, id: number | undefined): DataKey | undefined {
    if (id === undefined) return undefined;
    const keys = this.#keychain.of(lineage);
    const own = keys === undefined || keys === PLAIN ? undefined : keys.byId.get(id);
    return own ?? this.#store.keys.byId.get(id);
  }

  /** Returns a record that is not encrypted, where the store may have such records. */
  #plain({ table, lineage }: Key, stored: Value): Value {
    if (!this.#keychain.migrating) return NOT_ENCRYPTED;
    const keys = this.#keychain.of(lineage);
    if (table === "meta") {
      if (keys === undefined) this.#keychain.set(lineage, PLAIN);
      return keys === undefined || keys === PLAIN ? stored : NOT_ENCRYPTED;
    }
    if (keys === undefined && !this.#sought.has(lineage)) this.#lineages.add(lineage);
    return keys === undefined || keys === PLAIN || keys.plain ? stored : NOT_ENCRYPTED;
  }

  #directory(id: string, stored: Value): Value {
    if (!isEncrypted(stored)) return this.#keychain.migrating ? stored : NOT_ENCRYPTED;
    const { keys, hidden } = this.#store;
    if (hidden === undefined) return valueOf(keys.current.decrypt(directoryPlace(id), stored));
    const found = withoutId(keys.current.decrypt(directoryPlace(hidden.id(id)), stored));
    return valueOf(found?.id === id ? found.value : undefined);
  }

  /** Returns a directory record of a list, with its id where that is hidden. */
  #listed({ id, value: stored }: Listed): Listed {
    const { keys, hidden } = this.#store;
    if (hidden === undefined) return { id, value: this.#directory(id, stored) };
    const found = isEncrypted(stored) ? withoutId(keys.current.decrypt(directoryPlace(id), stored)) : undefined;
    return found ? { id: found.id, value: valueOf(found.value) } : { id: hidden.unread(id), value: UNREADABLE };
  }

  #log(page: LogPage): LogPage {
    let expired = page.expired;
    const lines: (typeof page.lines)[number][] = [];
    for (const line of page.lines) {
      const text = this.#line(line.text);
      // A line of before the store was encrypted: a watcher that begins behind it misses nothing.
      if (text === undefined) expired = true;
      else lines.push({ ...line, text });
    }
    const unsettled = page.unsettled?.flatMap((text) => this.#line(text) ?? []);
    return { ...page, lines, expired, ...(unsettled && { unsettled }) };
  }

  #line(text: string): string | undefined {
    if (text.startsWith("{")) return this.#keychain.migrating ? text : undefined;
    const plain = this.#store.keys.current.decrypt(LOG_PLACE, bytesOfBase64(text));
    if (plain) return plain.toString("utf8");
    throw new ThreadmarkError(
      "CORRUPT",
      "A line of the change log does not decrypt. Run verify(), and watch from now on, without a cursor.",
    );
  }
}

function nameOf(lineage: number, header: Uint8Array): string {
  return `${lineage}:${latin1(header)}`;
}

function isOfMeta(read: Read): boolean {
  if ("get" in read) return read.get.table === "meta";
  return "scan" in read && read.scan.table === "meta";
}

/** The second byte of an envelope tells whether it is text. */
const TEXT = "j".charCodeAt(0);

function valueOf(plain: Buffer | undefined): Value {
  if (plain === undefined) return UNREADABLE;
  return plain[1] === TEXT ? plain.toString("utf8") : plain;
}

import type { Batch, DirectoryKey, IndexEntry, Key, Range, Read } from "../../backend.ts";
import { cryptography } from "../../platform/node-builtins.ts";
import { RecentMap } from "../../platform/recent-map.ts";
import { blindedFields, fieldsToBlind } from "../records/store-wide/index-entries.ts";
import { KEY_BYTES } from "./data-key.ts";

/** Bytes of a blind: two of a store are never the same by chance. */
const BLIND_BYTES = 16;

/** Ids of directory records that cannot be read, which stand in for the ids that nobody knows. */
const UNREAD = 10_000;

/**
 * Puts blinds in place of thread ids, workflows, runs and attributes in keys of the directory and in entries of the index. A
 * blind is made of the text and a key of the store, always the same: so a text is found by equality, and by nothing else.
 */
export class HiddenIds {
  readonly #key: ReturnType<ReturnType<typeof cryptography>["createSecretKey"]>;
  readonly #unread = new RecentMap<string, string>(UNREAD);

  /** Takes the store's key of names. */
  constructor(names: Uint8Array) {
    const crypto = cryptography();
    this.#key = crypto.createSecretKey(
      Buffer.from(crypto.hkdfSync("sha256", names, "", "threadmark hidden ids", KEY_BYTES)),
    );
  }

  /** Returns the id under which a thread is in the directory. */
  id(id: string): string {
    return this.#unread.get(id) ?? this.#blind("id", id);
  }

  /** Returns an id for a directory record that cannot be read, by which the list goes on behind it. */
  unread(blinded: string): string {
    const id = `(unreadable) ${blinded}`;
    this.#unread.set(id, blinded);
    return id;
  }

  /** Returns an entry's text as it is in the index. The text of an entry that was found stays as it is. */
  text(text: string): string {
    const fields = fieldsToBlind(text);
    return fields === undefined ? text : blindedFields(text, fields, this.#blind(text[0] as string, fields));
  }

  read(read: Read): Read {
    if ("get" in read) return read.get.table === "directory" ? { get: this.key(read.get) } : read;
    if ("list" in read) {
      const { after } = read.list;
      return after === undefined ? read : { list: { ...read.list, after: this.id(after) } };
    }
    if ("find" in read) {
      const { from, to, after } = read.find;
      const bounds = { from: this.text(from), to: this.text(to), ...(after && { after: this.#entry(after) }) };
      return { ...read, find: { ...read.find, ...bounds } };
    }
    if ("tally" in read) return { tally: { from: this.text(read.tally.from), to: this.text(read.tally.to) } };
    return read;
  }

  key<K extends Key | DirectoryKey | Range>(key: K): K {
    return key.table === "directory" ? { ...key, id: this.id((key as DirectoryKey).id) } : key;
  }

  entries({ remove, add }: NonNullable<Batch["entries"]>): NonNullable<Batch["entries"]> {
    return {
      ...(remove && { remove: remove.map((entry) => this.#entry(entry)) }),
      ...(add && { add: add.map((entry) => this.#entry(entry)) }),
    };
  }

  #entry(entry: IndexEntry): IndexEntry {
    return { ...entry, text: this.text(entry.text) };
  }

  #blind(kind: string, text: string): string {
    const digest = cryptography().createHmac("sha256", this.#key).update(`${kind}\0${text}`).digest();
    return digest.subarray(0, BLIND_BYTES).toString("base64url");
  }
}

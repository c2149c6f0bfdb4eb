import type {
  Answer,
  Backend,
  Batch,
  Capabilities,
  DirectoryKey,
  Entry,
  Found,
  Key,
  Listed,
  Range,
  Read,
  Size,
  Stored,
  Table,
  Value,
} from "../../backend.ts";
import { tables } from "../../backend.ts";
import { byteLength } from "../../platform/bytes.ts";
import { covers } from "../shared/delete-covers.ts";
import { Hearers } from "../shared/hearers.ts";
import { KeptLog } from "../shared/kept-log.ts";
import { lastInteger, lastItem } from "../shared/key-bounds.ts";
import { findEntries, orderedEntries, tallyEntries } from "../shared/ordered/entries.ts";
import type { Ordered } from "../shared/ordered/map.ts";
import type { ItemKey } from "../shared/ordered/records.ts";
import { groupToFill, listDirectory, orderedById, scanGroup } from "../shared/ordered/records.ts";
import { isSameValue } from "../shared/same-value.ts";

type Group = Ordered<ItemKey, Found>;

/**
 * Opens a store that lives in this process and ends with it.
 *
 * @example
 * const store = await open("memory:");
 */
export function memory(): Backend {
  return new MemoryBackend();
}

class MemoryBackend implements Backend {
  readonly name = "memory";
  readonly capabilities: Capabilities = { durable: false, processes: false, tapes: 2 ** 40 };
  readonly #groups: Readonly<Record<Table, Map<number, Group>>>;
  /** The lineage of each tape, by the tape's number. */
  readonly #tapes = new Map<number, number>();
  readonly #directory = orderedById<Listed>();
  readonly #entries = orderedEntries();
  readonly #log = new KeptLog();
  readonly #hearers = new Hearers();

  constructor() {
    const names = Object.keys(tables) as Table[];
    this.#groups = Object.fromEntries(names.map((name) => [name, new Map()])) as Record<Table, Map<number, Group>>;
  }

  async read(reads: readonly Read[]): Promise<readonly Answer[]> {
    return reads.map((read) => {
      if ("get" in read) return copyOf(this.#get(read.get));
      if ("scan" in read) {
        const group = this.#groups[read.scan.table].get(read.scan.group);
        const limit = read.limit ?? Number.POSITIVE_INFINITY;
        return scanGroup(group, read.scan, read.reverse ?? false, limit).map(withCopy);
      }
      if ("find" in read) return findEntries(this.#entries, read.find, read.reverse ?? false);
      if ("tally" in read) return tallyEntries(this.#entries, read.tally);
      if ("log" in read) return this.#log.page(read.log);
      const { prefix = "", after, limit } = read.list;
      return listDirectory(this.#directory, prefix, after, limit).map(withCopy);
    });
  }

  hear(callback: () => void): () => void {
    return this.#hearers.hear(callback);
  }

  async commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    const applied = batches.map((batch) => {
      if (!this.#admits(batch)) return false;
      for (const target of batch.deletes ?? []) this.#delete(target);
      for (const entry of batch.inserts ?? []) this.#put(entry);
      for (const entry of batch.puts ?? []) this.#put(entry);
      for (const entry of batch.entries?.remove ?? []) this.#entries.remove(entry, entry);
      for (const { text, lineage, tape } of batch.entries?.add ?? []) this.#entries.set({ text, lineage, tape });
      for (const line of batch.log?.lines ?? []) this.#log.add(line);
      this.#log.cut(false);
      return true;
    });
    this.#hearers.tell();
    return applied;
  }

  async size(): Promise<{ tables: Readonly<Record<Stored, Size>>; total: undefined }> {
    const sizes: Partial<Record<Stored, Size>> = {
      directory: directorySize(this.#directory),
      entry: textSize(this.#entries),
      log: textSize(this.#log),
    };
    for (const [name, groups] of Object.entries(this.#groups)) sizes[name as Table] = tableSize(groups.values());
    return { tables: sizes as Record<Stored, Size>, total: undefined };
  }

  async compact(): Promise<void> {
    // Deleted records are left to the garbage collector.
    this.#log.cut(true);
  }

  async verify(): Promise<readonly string[]> {
    return [];
  }

  async close(): Promise<void> {
    // Nothing is held outside this object.
  }

  #get(key: Key | DirectoryKey): Value | undefined {
    if (key.table === "directory") return this.#directory.get(key)?.value;
    return this.#groups[key.table].get(key.group)?.get(key)?.value;
  }

  /** Returns whether every check holds, and every inserted key is absent or deleted by the batch itself. */
  #admits({ checks = [], deletes = [], inserts = [] }: Batch): boolean {
    for (const { key, value } of checks) if (!isSameValue(this.#get(key), value)) return false;
    for (const { key } of inserts) {
      if (this.#get(key) !== undefined && !deletes.some((target) => covers(target, key))) return false;
      if (key.table === "meta" && (this.#tapes.get(key.item) ?? key.group) !== key.group) return false;
    }
    return true;
  }

  #put({ key, value }: Entry): void {
    if (key.table === "directory") {
      this.#directory.set({ id: key.id, value });
      return;
    }
    groupToFill(this.#groups[key.table], key.group).set({ item: key.item, part: key.part, value });
    if (key.table === "meta") this.#tapes.set(key.item, key.group);
  }

  #delete(target: Key | DirectoryKey | Range): void {
    if (target.table === "directory") {
      this.#directory.remove(target, target);
      return;
    }
    const groups = this.#groups[target.table];
    const group = groups.get(target.group);
    if (group === undefined) return;
    const removed =
      "item" in target
        ? group.remove(target, target)
        : group.remove(
            { item: target.from ?? 0, part: 0 },
            { item: target.to ?? lastItem(target.table), part: lastInteger },
          );
    if (target.table === "meta") for (const { item } of removed) this.#tapes.delete(item);
    if (group.isEmpty) groups.delete(target.group);
  }
}

/** Copies bytes, so that no reader can change the stored ones. Text is immutable. */
function copyOf<T extends Value | undefined>(value: T): T {
  return (value instanceof Uint8Array ? new Uint8Array(value) : value) as T;
}

function withCopy<Entry extends Found | Listed>(entry: Entry): Entry {
  return { ...entry, value: copyOf(entry.value) };
}

function tableSize(groups: Iterable<Group>): Size {
  let records = 0;
  let bytes = 0;
  for (const group of groups) {
    for (const { value } of group) {
      records++;
      bytes += bytesOf(value);
    }
  }
  return { records, bytes };
}

function directorySize(directory: Iterable<Listed>): Size {
  let records = 0;
  let bytes = 0;
  for (const { id, value } of directory) {
    records++;
    bytes += bytesOf(id) + bytesOf(value);
  }
  return { records, bytes };
}

function textSize(lines: Iterable<{ readonly text: string }>): Size {
  let records = 0;
  let bytes = 0;
  for (const { text } of lines) {
    records++;
    bytes += byteLength(text);
  }
  return { records, bytes };
}

function bytesOf(value: Value): number {
  return typeof value === "string" ? byteLength(value) : value.byteLength;
}

import type { Batch, DirectoryKey, Entry, IndexEntry, Key, LogLine, Range, Value } from "../../../backend.ts";

type RecordKey = Key | DirectoryKey;

/** A batch under construction: whatever plans a part of a commit adds its checks and records to one of these. */
export class BatchBuilder {
  readonly checks: { readonly key: RecordKey; readonly value: Value | undefined }[] = [];
  readonly deletes: (RecordKey | Range)[] = [];
  readonly inserts: Entry[] = [];
  readonly puts: Entry[] = [];
  log: { readonly lineage: number; readonly lines: readonly LogLine[] } | undefined;
  /** Entries of the index that go and come. */
  readonly removed: IndexEntry[] = [];
  readonly added: IndexEntry[] = [];

  /** Requires that the record at `key` still holds `value`; undefined: that it is absent. */
  check(key: RecordKey, value: Value | undefined): void {
    this.checks.push({ key, value });
  }

  delete(key: RecordKey | Range): void {
    this.deletes.push(key);
  }

  /** Writes a record that must be absent. */
  insert(key: RecordKey, value: Value): void {
    this.inserts.push({ key, value });
  }

  /** Writes a record whether or not it exists. */
  put(key: RecordKey, value: Value): void {
    this.puts.push({ key, value });
  }

  /** Changes entries of the index. */
  changeEntries({
    remove,
    add,
  }: {
    readonly remove: readonly IndexEntry[];
    readonly add: readonly IndexEntry[];
  }): void {
    for (const entry of remove) this.removed.push(entry);
    for (const entry of add) this.added.push(entry);
  }

  /** Adds everything of another builder. Long threads have more records than one call of `push` takes arguments. */
  add({ checks, deletes, inserts, puts, removed, added }: BatchBuilder): void {
    for (const check of checks) this.checks.push(check);
    for (const key of deletes) this.deletes.push(key);
    for (const entry of inserts) this.inserts.push(entry);
    for (const entry of puts) this.puts.push(entry);
    this.changeEntries({ remove: removed, add: added });
  }

  /** Returns true if the batch changes no record, whatever it checks. */
  get writesNothing(): boolean {
    const records = this.inserts.length + this.puts.length + this.deletes.length;
    return records + this.removed.length + this.added.length === 0;
  }

  /** Returns a function that takes back everything added after this call. */
  mark(): () => void {
    const [checks, deletes] = [this.checks.length, this.deletes.length];
    const [inserts, puts] = [this.inserts.length, this.puts.length];
    const { log } = this;
    const [removed, added] = [this.removed.length, this.added.length];
    return () => {
      this.log = log;
      this.checks.length = checks;
      this.deletes.length = deletes;
      this.inserts.length = inserts;
      this.puts.length = puts;
      this.removed.length = removed;
      this.added.length = added;
    };
  }

  build(follows?: Batch["follows"]): Batch {
    const { checks, deletes, inserts, puts, removed, added, log } = this;
    return {
      checks,
      deletes,
      inserts,
      puts,
      ...(removed.length + added.length > 0 && { entries: { remove: removed, add: added } }),
      ...(log !== undefined && { log }),
      ...(follows !== undefined && { follows }),
    };
  }
}

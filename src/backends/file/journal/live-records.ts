import { type Size, type Stored, type Table, tables } from "../../../backend.ts";

/** The number of live records and their bytes, by table. */
type Sizes = Record<Stored, { records: number; bytes: number }>;

/** Counts the records of a journal that are still needed, and the bytes of their lines. */
export class LiveRecords {
  readonly #sizes: Sizes = emptySizes();
  /** The bytes of lines that are still needed. */
  bytes = 0;
  /** The number of live records. */
  count = 0;

  get sizes(): Readonly<Record<Stored, Size>> {
    return this.#sizes;
  }

  /** Counts a record of `bytes` in a line of `length`. */
  add(table: Stored, { length }: { readonly length: number }, bytes: number): void {
    this.#sizes[table].records++;
    this.#sizes[table].bytes += bytes;
    this.bytes += length;
    this.count++;
  }

  drop(table: Stored, { length }: { readonly length: number }, bytes: number): void {
    this.#sizes[table].records--;
    this.#sizes[table].bytes -= bytes;
    this.bytes -= length;
    this.count--;
  }
}

export function emptySizes(): Sizes {
  const names = [...(Object.keys(tables) as Table[]), "directory", "entry", "log"] as const;
  return Object.fromEntries(names.map((name) => [name, { records: 0, bytes: 0 }])) as Sizes;
}

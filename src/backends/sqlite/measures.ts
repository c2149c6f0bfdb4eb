import type { Size, Stored, Table } from "../../backend.ts";
import { tables } from "../../backend.ts";
import type { Database } from "./database.ts";

export type TableSizes = Record<Stored, Size>;

const tableNames: readonly Stored[] = [...(Object.keys(tables) as Table[]), "directory", "entry", "log"];

const empty: Size = { records: 0, bytes: 0 };

/** Returns the sizes of a store that does not exist yet. */
export function noSizes(): TableSizes {
  return Object.fromEntries(tableNames.map((name) => [name, empty])) as TableSizes;
}

/** Measures the tables, in one snapshot. */
export function sizesOf(database: Database): TableSizes {
  const { statements } = database;
  statements.beginRead();
  try {
    return Object.fromEntries(
      tableNames.map((name) => {
        if (database.lacks(name)) return [name, empty];
        const { records, bytes } = statements.size(name) as Size;
        return [name, { records, bytes }];
      }),
    ) as TableSizes;
  } finally {
    statements.commit();
  }
}

/** Returns the bytes of all pages of the database, for one that has no file. */
export function pageBytes({ connection }: Database): number {
  const { page_count: count } = connection.prepare("PRAGMA page_count").get() as { readonly page_count: number };
  const { page_size: size } = connection.prepare("PRAGMA page_size").get() as { readonly page_size: number };
  return count * size;
}

/** Returns the faults that SQLite itself finds in the file. */
export function integrityFaults({ connection }: Database): readonly string[] {
  const rows = connection.prepare("PRAGMA integrity_check").all() as readonly { readonly integrity_check: string }[];
  return rows.map(({ integrity_check: fault }) => fault).filter((fault) => fault !== "ok");
}

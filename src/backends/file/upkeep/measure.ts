import { join } from "node:path";
import type { Sizes, Stored } from "../../../backend.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { lineageOfName } from "../format/file-names.ts";
import { emptySizes } from "../journal/live-records.ts";
import type { Snapshots } from "../reading/snapshots.ts";

/** Adds up the sizes of all files. */
export async function measureTotal(fileSystem: FileSystem, directory: string): Promise<{ readonly total: number }> {
  let total = 0;
  for (const name of (await fileSystem.list(directory)) ?? []) {
    total += (await fileSystem.stat(join(directory, name)))?.size ?? 0;
  }
  return { total };
}

/** Counts records journal by journal, and keeps only the last few journals in memory. */
export async function measure(fileSystem: FileSystem, directory: string, snapshots: Snapshots): Promise<Sizes> {
  const tables = emptySizes();
  let total = 0;
  for (const name of (await fileSystem.list(directory)) ?? []) {
    total += (await fileSystem.stat(join(directory, name)))?.size ?? 0;
    const lineage = lineageOfName(name);
    if (lineage === undefined) continue;
    await snapshots.visit(lineage, ({ index }) => {
      for (const [table, { records, bytes }] of Object.entries(index.live.sizes)) {
        tables[table as Stored].records += records;
        tables[table as Stored].bytes += bytes;
      }
    });
  }
  return { tables, total };
}

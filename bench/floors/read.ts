import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";

/** The steps that no read from a newly opened store can do without, each measured with all steps before it. */
export const readSteps = [
  "the state in packs and unsealed rows instead of one row, each of them parsed",
  "their CRC-32",
] as const;

/** Reads all of a store that has one thread by hand: what is parsed is not even put together. Gives the bytes. */
export function readLean(file: string, steps: number): number {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA synchronous = normal");
  let bytes = 0;
  for (const table of ["meta", "net", "tail"]) {
    for (const { value } of database.prepare(`SELECT value FROM ${table}`).all() as { value: string }[]) {
      const json = value.slice(10);
      if (steps > 1 && crc32(json) !== Number.parseInt(value.slice(2, 10), 16)) throw new Error("A record is damaged.");
      JSON.parse(json);
      bytes += json.length;
    }
  }
  database.close();
  return bytes;
}

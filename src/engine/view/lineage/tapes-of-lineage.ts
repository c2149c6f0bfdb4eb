import { type Found, type Key, type Range, type Table, tables } from "../../../backend.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { Meta } from "../../records/meta.ts";

/** Reads the meta records of all tapes of a lineage, dead ones included, by tape. */
export async function metaRecords(context: EngineContext, lineage: number): Promise<readonly Found[]> {
  const [found] = await context.read([{ scan: { table: "meta", lineage, group: lineage } }]);
  return found as readonly Found[];
}

/** Returns a tape that was forked or copied from this one, if there is any. */
export function builderOn(metas: ReadonlyMap<number, Meta>, tape: number): number | undefined {
  for (const [number, meta] of metas) if (meta.origin?.tape === tape) return number;
  return undefined;
}

/** Returns the ranges of all records that a tape has besides its meta record. Large values belong to the lineage. */
export function recordsOf(lineage: number, tape: number): (Key | Range)[] {
  return (Object.keys(tables) as Table[])
    .filter((table) => table !== "meta" && table !== "value")
    .map((table) => ({ table, lineage, group: tape }));
}

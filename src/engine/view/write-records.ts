import type { Found } from "../../backend.ts";
import { unwrapJson } from "../../codec/envelope.ts";
import type { Context } from "../memory/context.ts";
import type { TaskWrites, WriteRecord } from "../records/writes.ts";

/** Reads all write records of a tape. */
export async function writeRecords(
  context: Context,
  { lineage, number: group }: { readonly lineage: number; readonly number: number },
): Promise<readonly WriteRecord[]> {
  const [found] = await context.read([{ scan: { table: "write", lineage, group } }]);
  return (found as readonly Found[]).map((record) => ({
    ...record,
    tasks: unwrapJson(record.value) as readonly TaskWrites[],
  }));
}

import type { Found } from "../../../backend.ts";
import { unwrapJson } from "../../../codec/envelope.ts";
import type { EngineContext } from "../../memory/context.ts";
import { rangeOf, type TapeAddress } from "../../records/keys.ts";
import type { TaskWrites, WriteRecord } from "../../records/writes.ts";

/** Reads all write records of a tape. */
export async function writeRecords(context: EngineContext, tape: TapeAddress): Promise<readonly WriteRecord[]> {
  const [found] = await context.read([{ scan: rangeOf(tape, "write") }]);
  return (found as readonly Found[]).map((record) => ({
    ...record,
    tasks: unwrapJson(record.value) as readonly TaskWrites[],
  }));
}

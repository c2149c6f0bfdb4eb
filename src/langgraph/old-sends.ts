import { TASKS } from "@langchain/langgraph-checkpoint";
import type { Thread } from "../api/thread.ts";
import type { CheckpointInfo } from "../model/checkpoint.ts";
import { formatOf } from "./mapping/bookkeeping.ts";

/** The first version of LangGraph's format in which a checkpoint holds its own sends: before, they are its parent's writes. */
export const firstVersionWithSends = 4;

/** Reads the sends of a checkpoint of an older format from its parent's writes; undefined for newer formats and roots. */
export async function sendsOf(
  thread: Thread<Record<string, unknown>>,
  row: CheckpointInfo,
): Promise<unknown[] | undefined> {
  if (formatOf(row) >= firstVersionWithSends || row.parent === null) return undefined;
  const writes = await thread.writes(row.parent);
  return writes.filter((write) => write.channel === TASKS).map((write) => write.value);
}

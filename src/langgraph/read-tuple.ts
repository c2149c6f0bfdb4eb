import { type Checkpoint, type CheckpointTuple, maxChannelVersion, TASKS } from "@langchain/langgraph-checkpoint";
import { hasSchema } from "../api/adapter.ts";
import type { Thread } from "../api/thread.ts";
import { type Bookkeeping, isOfLangGraph, notOfLangGraph, reserved } from "./mapping/bookkeeping.ts";
import { shownTuple } from "./mapping/checkpoint.ts";
import { firstVersionWithSends, sendsOf } from "./old-sends.ts";
import { fromStored } from "./values/from-stored.ts";

/**
 * Reads the tuple of a checkpoint, by default of the one with the largest id. A checkpoint that LangGraph did not write is
 * refused, or with `passesOver` left out. `firstVersion` is that of a channel in a checkpoint without any.
 */
export async function readTuple(
  handle: Thread<Record<string, unknown>>,
  id: string | undefined,
  firstVersion: number,
  passesOver = false,
): Promise<CheckpointTuple | undefined> {
  const stored = await handle.tuple(id ?? { by: "id" });
  if (stored === undefined) return undefined;
  if (!isOfLangGraph(stored.checkpoint.state)) {
    if (passesOver) return undefined;
    throw notOfLangGraph(handle.id);
  }
  const { checkpoint: info } = stored;
  const kept = (info.state[reserved] as Bookkeeping | undefined)?.sends;
  const tuple = shownTuple(stored, hasSchema(handle));
  if (tuple.checkpoint.v < firstVersionWithSends) {
    const sends = kept ?? (await sendsOf(handle, info));
    if (sends !== undefined) addSends(tuple.checkpoint, sends, firstVersion);
  }
  return tuple;
}

/** Adds the sends to a checkpoint of a format before version 4, as LangGraph expects them. */
function addSends(checkpoint: Checkpoint, sends: readonly unknown[], firstVersion: number): void {
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_values[TASKS] = sends.map(fromStored);
  checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : firstVersion;
}

import type { Checkpoint, CheckpointInfo, ThreadInfo, Write } from "../model/checkpoint.ts";
import type { Change } from "../model/interface/results.ts";
import { type Json, toTagged } from "./tagged-json.ts";

/*
 * The records that --json prints and the inspector's API returns: objects of the public interface, with users' values
 * (state, metadata, arguments, writes) as tagged JSON.
 */

export function checkpointRecord(info: CheckpointInfo): Record<string, unknown> {
  return { ...info, metadata: toTagged(info.metadata) };
}

export function wholeRecord(checkpoint: Checkpoint): Record<string, unknown> {
  const { state, next, interrupts, ...rest } = checkpoint;
  return {
    ...checkpointRecord(rest as CheckpointInfo),
    state: toTagged(state),
    next: toTagged(next),
    interrupts: toTagged(interrupts),
  };
}

export function writeRecord(write: Write): Record<string, unknown> {
  return { ...write, value: toTagged(write.value) };
}

export function threadRecord(info: ThreadInfo): Record<string, unknown> {
  return { ...info, head: checkpointRecord(info.head) };
}

export function changeRecord(change: Change): Record<string, Json> {
  const { path, kind } = change;
  return {
    path: [...path],
    kind,
    ...("before" in change && { before: toTagged(change.before) }),
    ...("after" in change && { after: toTagged(change.after) }),
  };
}

import type { Checkpoint, CheckpointInfo, ThreadInfo, Write } from "../model/checkpoint.ts";
import type { Change } from "../model/interface/results.ts";
import { type Json, toTagged } from "./tagged-json.ts";

/*
 * The records that --json prints and the inspector's API returns: objects of the public interface, with users' values
 * (state, metadata, arguments, writes) as tagged JSON.
 */

/** The fields of an interface as a type of their own, which is also a record. */
type FieldsOf<T> = { readonly [Name in keyof T]: T[Name] };

export function checkpointRecord(info: CheckpointInfo): FieldsOf<CheckpointInfo> {
  return { ...info, metadata: toTagged(info.metadata) as CheckpointInfo["metadata"] };
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

export function threadRecord(info: ThreadInfo): FieldsOf<ThreadInfo> {
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

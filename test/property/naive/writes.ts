import type { Write } from "../../../src/model/checkpoint.ts";
import type { WritesInput } from "../../../src/model/interface/options.ts";
import { clone } from "../clone.ts";
import type { Line } from "./thread.ts";

interface Call {
  readonly time: number;
  /** The number of the call, over all threads. */
  readonly call: number;
}

/** When each was written. */
const calls = new WeakMap<Write, Call>();
let called = 0;

/** Tells when a write was made, and by which call. */
export function calledAt(write: Write): Call {
  return calls.get(write) as Call;
}

const ORPHAN_AGE = 24 * 3_600_000;

/** Saves a task's writes: data that is there stays, control that is there is replaced. */
export function putWrites(
  line: Line,
  id: string,
  input: WritesInput,
  now: number,
): { stored: number; ignored: number } {
  const writes = new Map((line.writes.get(id) ?? []).map((write) => [keyOf(write), write]));
  let ignored = 0;
  called += 1;
  for (const [position, { channel, value, index = position }] of input.writes.entries()) {
    const write: Write = { task: input.task, node: input.node ?? null, index, channel, value: clone(value) };
    calls.set(write, { time: now, call: called });
    if (index >= 0 && writes.has(keyOf(write))) ignored++;
    else writes.set(keyOf(write), write);
  }
  line.writes.set(id, [...writes.values()].sort(byTaskAndIndex));
  return { stored: input.writes.length - ignored, ignored };
}

function keyOf({ task, index }: Write): string {
  return JSON.stringify([task, index]);
}

function byTaskAndIndex(left: Write, right: Write): number {
  return Buffer.compare(Buffer.from(left.task), Buffer.from(right.task)) || left.index - right.index;
}

/** Drops what a compaction drops of a namespace: writes that have waited for their checkpoint too long. */
export function dropOrphans(line: Line, now: number): void {
  const ids = new Set(line.checkpoints.map(({ id }) => id));
  for (const [id, writes] of line.writes) {
    const kept = writes.filter((write) => ids.has(id) || now - calledAt(write).time <= ORPHAN_AGE);
    if (kept.length > 0) line.writes.set(id, kept);
    else line.writes.delete(id);
  }
}

import type { WritesInput } from "../../../src/model/arguments.ts";
import type { Write } from "../../../src/model/checkpoint.ts";
import { clone } from "../clone.ts";
import type { Line } from "./thread.ts";

/** Saves a task's writes: data that is there stays, control that is there is replaced. */
export function putWrites(line: Line, id: string, input: WritesInput): { stored: number; ignored: number } {
  const writes = new Map((line.writes.get(id) ?? []).map((write) => [keyOf(write), write]));
  let ignored = 0;
  for (const [position, { channel, value, index = position }] of input.writes.entries()) {
    const write: Write = { task: input.task, node: input.node ?? null, index, channel, value: clone(value) };
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

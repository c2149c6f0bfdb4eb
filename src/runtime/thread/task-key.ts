import { randomBytes } from "node:crypto";

/** An id that sorts by time (a UUID of version 7), for checkpoints whose writes are saved before they are. */
export function timeOrderedId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  // Version 7; the rest of this field is never all zero, which would look like an id that the store gave.
  bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f) | 0x01;
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** A task's name for the outside world: what is stored under it, and where, in plain ASCII. */
export function taskKey(thread: string | undefined, run: string, namespace: readonly string[], task: string): string {
  return [...(thread === undefined ? [] : [thread]), run, ...namespace, task].map(encodeURIComponent).join("/");
}

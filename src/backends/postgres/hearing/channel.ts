import { createHash } from "node:crypto";

/** Returns the name of the channel for a schema: a channel's name has at most 63 bytes. */
export function channelOf(schema: string): string {
  return `threadmark_${createHash("sha256").update(schema).digest("hex").slice(0, 24)}`;
}

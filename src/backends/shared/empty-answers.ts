import type { Answer, Read } from "../../backend.ts";

/** Answers a read of an empty store. */
export function answerEmpty(read: Read): Answer {
  if ("get" in read) return undefined;
  if ("tally" in read) return 0;
  return "log" in read ? { lines: [], end: "", expired: read.log.after !== "" } : [];
}

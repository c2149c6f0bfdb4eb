import type { Draft } from "../commits/draft/draft.ts";
import type { Tape } from "../memory/tape.ts";
import { encodeMark, type MarkVersion, withVersion } from "../records/marks.ts";
import { checkRecord } from "../records/size-limits.ts";

/** Adds a version to the mark beside a row: the thread shows it from this generation on. */
export function addMark(draft: Draft, tape: Tape, seq: number, version: MarkVersion): void {
  const value = encodeMark(withVersion(tape.marks.get(seq), version));
  checkRecord(draft.context, draft.thread, value, "the replaced checkpoint, with the versions that forks show,");
  draft.putMark(seq, value);
}

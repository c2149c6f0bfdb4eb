import type { LogLine } from "../../backend.ts";
import type { Tape } from "../memory/tape.ts";
import { encodeLines, type LoggedChange } from "../records/store-wide/log.ts";
import type { Draft } from "./draft/draft.ts";
import { headAtHand } from "./draft/draft-view.ts";
import type { Planned } from "./draft/planned.ts";

/*
 * How watchers learn of commits. Changes of a thread are lines of the log, in the commit that makes them. A line for every new
 * row would double the work of a put, so rows are announced: an `active` line says that a thread gets rows, and for a
 * second no other is written for it. A watcher that has read the line reads the thread's rows themselves, for longer than that.
 */

/** A thread's rows are announced once in this many milliseconds, by each process. */
const ANNOUNCED = 1_000;

/**
 * A commit that was acknowledged so many milliseconds after the last announcement is announced by a line of its own. Invariant: it is
 * less than `FOLLOWED`, by a margin for a watcher's own delays.
 */
const LATE = 5_000;

/** Adds the lines of a draft to its batch. */
export function addLogLines(draft: Draft, tape: Tape): void {
  const first = draft.planned[0];
  const changes = draft.told.filter(
    ([kind, namespace, id]) => !(kind === "writes" && draft.carrying.tells(namespace, id)),
  );
  if (first) {
    const now = performance.now();
    if (now - tape.announcedAt > ANNOUNCED) {
      draft.announcedAt = now;
      changes.unshift(activity(first));
    }
  }
  // A line says which rows came before it. Rows that others have added since the tape was last seen would come behind it; rows
  // added while the tape is read and the change planned may.
  if (!first && !draft.fresh && draft.existing) draft.batch.check(tape.key("tail", tape.lastSeq + 1), undefined);
  if (changes.length > 0) draft.batch.log = linesOf(draft, tape, changes);
}

/** Returns a batch that announces rows which took so long to be committed that watchers may have stopped looking for them. */
export function lateAnnouncement(draft: Draft): { readonly log: NonNullable<Draft["batch"]["log"]> } | undefined {
  const tape = draft.target;
  const [first] = draft.planned;
  if (!tape || !first || draft.announcedAt !== undefined) return undefined;
  return performance.now() - tape.announcedAt > LATE ? { log: linesOf(draft, tape, [activity(first)]) } : undefined;
}

function activity({ tail }: Planned): LoggedChange {
  return ["active", "", null, tail.row.seq];
}

function linesOf(
  draft: Draft,
  own: Tape,
  changes: readonly LoggedChange[],
): { readonly lineage: number; readonly lines: readonly LogLine[] } {
  // A fork or copy is told as a change of the new thread.
  const tape = draft.newThread?.tape ?? own;
  const { workflow = headAtHand(draft, "")?.workflow } = draft;
  const texts = encodeLines({
    thread: tape.meta.thread,
    lineage: tape.lineage,
    tape: tape.number,
    ...(workflow !== undefined && { workflow }),
    changes,
  });
  const at = draft.context.clock();
  return { lineage: tape.lineage, lines: texts.map((text) => ({ at, text })) };
}

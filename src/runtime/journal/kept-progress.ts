import type { PutFields } from "../../model/interface/options.ts";
import type { FlowNotes, Position } from "../position/graph-position.ts";
import type { StepProgress } from "../position/step-progress.ts";
import { isQuestion, isRemembered, type Stop } from "../position/stops.ts";

/** Tells whether a position has progress that its own fields do not tell, and that is stored as writes. */
export function hasProgress({ progress }: Position): boolean {
  if (progress.results.size > 0 || progress.answers.size > 0 || progress.gotos.size > 0) return true;
  return [...progress.asked.values()].flat().some((stop) => isMoreThanOpen(progress, stop));
}

/** Tells whether a stop is not fully told by the open questions of its checkpoint. */
export function isMoreThanOpen({ answers }: StepProgress, stop: Stop): boolean {
  return !isQuestion(stop) || stop.until !== undefined || answers.has(stop.id);
}

/** Returns the notes of a checkpoint, with the ids of the steps that its tasks remember by then. */
export function notesToKeep({ notes, progress }: Position): FlowNotes {
  const { kept: _, ...rest } = notes;
  const kept = [...progress.answers.keys()].filter(isRemembered);
  return kept.length === 0 ? rest : { ...rest, kept };
}

/** Returns the metadata of a checkpoint: the notes of the runtime and the trace context, where there are any. */
export function metadataOf(notes: FlowNotes, trace: string | undefined): Pick<PutFields, "metadata"> {
  const flow = Object.keys(notes).length === 0 ? undefined : { flow: notes };
  if (flow === undefined && trace === undefined) return {};
  return { metadata: { ...flow, ...(trace !== undefined && { trace }) } };
}

/** Returns when a worker is to take the thread of a position: at once, at the time that a stop is due, or not at all. */
export function dueOf({ next, notes }: Position): "now" | number | null {
  if (next.length === 0 || notes.paused) return null;
  return notes.idle ? (notes.due ?? null) : "now";
}

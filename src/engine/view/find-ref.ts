import type { CheckpointRef } from "../../model/interface/options.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { findById, findBySeq } from "./find.ts";
import { findByStep } from "./find-by-step.ts";
import type { Shown } from "./row-at.ts";
import { shownRows } from "./shown-rows.ts";

/** Finds the checkpoint of a namespace that a reference names, if the thread shows it. */
export function findRef(
  context: EngineContext,
  tape: Tape,
  namespace: string,
  ref: CheckpointRef,
): Promise<Shown | undefined> {
  if (typeof ref === "string") return findById(context, tape, namespace, ref);
  if ("step" in ref) return findByStep(context, tape, namespace, ref.step);
  if ("seq" in ref) return findBySeq(context, tape, namespace, ref.seq);
  return findByLabel(context, tape, namespace, ref.label);
}

/** Returns true if a row is one that the reference may name. */
export function matchesRef(row: Shown, ref: CheckpointRef): boolean {
  if (typeof ref === "string") return row.id === ref;
  if ("step" in ref) return row.step === ref.step;
  if ("seq" in ref) return row.seq === ref.seq;
  return row.label === ref.label;
}

/** Finds the last committed checkpoint with a label. Reads back to it: labels are not indexed. */
async function findByLabel(
  context: EngineContext,
  tape: Tape,
  namespace: string,
  label: string,
): Promise<Shown | undefined> {
  for await (const row of shownRows(context, tape, { namespace })) if (row.label === label) return row;
  return undefined;
}

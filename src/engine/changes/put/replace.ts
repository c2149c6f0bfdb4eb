import { diff } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import { jsonBytes } from "../../../codec/json-text.ts";
import type { CheckpointRef } from "../../../model/options.ts";
import { ALONE, type Draft } from "../../commits/draft.ts";
import { findPlanned, shownBody, treeToBuildOn } from "../../commits/draft-view.ts";
import type { Change } from "../../commits/lane.ts";
import { notFound } from "../../faults/missing.ts";
import type { Tape } from "../../memory/tape.ts";
import { decodeMarks, encodeMark, type MarkVersion, withVersion } from "../../records/marks.ts";
import { type Row, toRecord } from "../../records/row.ts";
import { checkBody, checkRecord } from "../../records/size-limits.ts";
import { parentOf, type Shown } from "../../view/row-at.ts";
import { bodyOf, type Committed, emptyBody } from "./body.ts";
import type { CapturedPut } from "./capture.ts";

/**
 * Putting an id that exists. The frame stays as it is, since later frames build on it; what is shown instead is kept
 * beside it, as a delta. Forks and copies made earlier go by their generation and keep showing the old version.
 */
export async function planReplace(
  draft: Draft,
  captured: CapturedPut,
  existing: Shown,
  named: Shown | null | undefined,
): Promise<Committed> {
  if (!draft.empty) throw ALONE;
  const tape = await draft.tape();
  const parent = named === undefined ? await parentOf(draft.context, tape, existing) : (named ?? undefined);
  if (parent && parent.seq >= existing.seq) {
    throw new TypeError(
      `Checkpoint ${JSON.stringify(existing.id)} cannot follow ${JSON.stringify(parent.id)}, which was committed after it.`,
    );
  }
  const parentBody = parent ? await shownBody(draft, parent) : emptyBody;
  const { tree } = bodyOf(draft, captured, parentBody);
  const frame = await treeToBuildOn(draft, existing);
  const { fields, parts } = captured;
  const row: Row = {
    seq: existing.seq,
    id: existing.id,
    namespace: existing.namespace,
    // One that is shown: what the frame builds on may have been deleted, and be gone by now.
    parent: parent?.seq ?? 0,
    base: parent?.seq ?? 0,
    step: fields.step ?? (parent ? parent.step + 1 : 0),
    source: fields.source,
    node: fields.node,
    run: fields.run === undefined ? (parent?.run ?? null) : fields.run,
    workflow: fields.workflow === undefined ? (parent?.workflow ?? null) : fields.workflow,
    label: fields.label,
    createdAt: fields.createdAt ?? draft.context.clock(),
    stateVersion: fields.stateVersion ?? parent?.stateVersion ?? 0,
    metadata: fields.metadata,
    pending: (parts.next as unknown[]).length,
    waiting: (parts.interrupts as unknown[]).length,
    tagged: true,
  };
  const change = diff(frame.tree, tree) ?? {};
  const most = frame.most + jsonBytes(change as Json);
  checkBody(draft.context, draft.thread, most, () => tree);
  addMark(draft, tape, row.seq, { generation: tape.meta.generation, row: toRecord(row), change });
  return { row, parent: parent?.id ?? null };
}

function addMark(draft: Draft, tape: Tape, seq: number, version: MarkVersion): void {
  const value = encodeMark(withVersion(tape.marks.get(seq), version));
  checkRecord(draft.context, draft.thread, value, "the replaced checkpoint, with the versions that forks show,");
  draft.puts.push({ key: tape.key("mark", seq), value });
  draft.change({ marks: true });
  draft.closed = true;
  draft.afterwards.push(() => {
    // Read back: what was captured may share nodes with a remembered tree, which the next commit changes in place.
    tape.marks = new Map([...tape.marks, ...decodeMarks([{ item: seq, part: 0, value }])]);
  });
}

/** Changes a checkpoint's label, in this thread only. */
export function labelChange(namespace: string, ref: CheckpointRef, label: string): Change<void> {
  return {
    plan: async (draft) => {
      if (!draft.empty) throw ALONE;
      const row = await findPlanned(draft, namespace, ref);
      if (!row) throw notFound(draft.thread, ref);
      const tape = await draft.tape();
      addMark(draft, tape, row.seq, { generation: tape.meta.generation, label });
    },
  };
}

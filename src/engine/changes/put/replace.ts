import { diff } from "../../../codec/delta/index.ts";
import { mostBytes } from "../../../codec/json-text.ts";
import { mayRefer } from "../../../codec/references.ts";
import { ALONE, type Draft } from "../../commits/draft/draft.ts";
import { shownBody, treeToBuildOn } from "../../commits/draft/draft-view.ts";
import { referDelta } from "../../commits/draft/refer-values.ts";
import { shownEnds } from "../../commits/settle-index.ts";
import { toRecord } from "../../records/row.ts";
import { checkBodySize } from "../../records/size-limits.ts";
import { parentOf, type Shown } from "../../view/row-at.ts";
import { addMark } from "../mark.ts";
import { bodyOf, emptyBody } from "./body.ts";
import type { CapturedPut } from "./capture.ts";
import { newRow, type PlannedRow } from "./row.ts";
import { subjectOf, underSchema } from "./state-version.ts";

/**
 * Plans a put of an id that exists. The frame stays as it is, since later frames build on it; the replacement is kept in a
 * mark beside it, as a delta. Forks and copies made earlier go by their generation and keep showing the old version.
 */
export async function planReplace(
  draft: Draft,
  given: CapturedPut,
  existing: Shown,
  named: Shown | null | undefined,
): Promise<PlannedRow> {
  if (!draft.empty) throw ALONE;
  const tape = await draft.tape();
  const parent = named === undefined ? await parentOf(draft.context, tape, existing) : (named ?? undefined);
  if (parent && parent.seq >= existing.seq) {
    throw new TypeError(
      `Checkpoint ${JSON.stringify(existing.id)} cannot follow ${JSON.stringify(parent.id)}, which was committed after it.`,
    );
  }
  const { versions } = draft.context;
  // Throws for a checkpoint of a newer program.
  versions?.isOlder(subjectOf(draft.thread, existing));
  const captured = versions ? await underSchema(draft, versions, given, parent) : given;
  const parentBody = parent ? await shownBody(draft, parent) : emptyBody;
  const { tree } = bodyOf(draft, captured, parentBody);
  const frame = await treeToBuildOn(draft, existing);
  const { seq, id } = existing;
  // The frame's own parent may have been deleted: a replacement names one that is shown.
  const row = newRow(captured, parent, { seq, id, now: draft.context.clock(), tagged: true });
  const change = diff(frame.tree, tree) ?? {};
  const [stored, text] = referDelta(draft, tape.lineage, change);
  checkBodySize(draft.context, draft.thread, frame.most + mostBytes(text), () => tree);
  draft.tell("put", captured.namespace, id, seq);
  const ends = await shownEnds(draft, tape);
  draft.shown = {
    newest: ends.newest?.seq === seq ? row : ends.newest,
    root: ends.root?.seq === seq ? row : ends.root,
    runs: new Set(row.run === null ? [] : [row.run]),
  };
  addMark(draft, tape, seq, { generation: tape.meta.generation, row: toRecord(row), change: stored });
  // An earlier replacement of the same generation goes, and may have been the last to refer to a large value.
  if (mayRefer(JSON.stringify(tape.marks.get(seq) ?? []))) draft.collect(tape.lineage);
  return { row, parent: parent?.id ?? null };
}

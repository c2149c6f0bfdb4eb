import type { CheckpointRef } from "../../model/interface/options.ts";
import { ALONE } from "../commits/draft/draft.ts";
import { findPlanned } from "../commits/draft/draft-view.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import { notFound } from "../faults/missing.ts";
import { addMark } from "./mark.ts";

/** Changes a checkpoint's label, in this thread only. */
export function labelChange(namespace: string, ref: CheckpointRef, label: string): ThreadChange<void> {
  return {
    plan: async (draft) => {
      if (!draft.empty) throw ALONE;
      const row = await findPlanned(draft, namespace, ref);
      if (!row) throw notFound(draft.thread, ref);
      const tape = await draft.tape();
      draft.tell("label", namespace, row.id, row.seq);
      addMark(draft, tape, row.seq, { generation: tape.meta.generation, label });
    },
  };
}

import { ALONE } from "../commits/draft/draft.ts";
import { plannedHead } from "../commits/draft/draft-view.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import { ifDamaged } from "../faults/damage.ts";
import { endThread, epochOf } from "./end-tape.ts";

/** Deletes a thread. The epoch of its leases is never used again. */
export function deleteThreadChange(): ThreadChange<void> {
  return {
    plan: async (draft) => {
      if (!draft.empty) throw ALONE;
      const tape = draft.existing;
      if (!tape) return;
      // Once it is gone, nobody can look it up.
      draft.workflow = (await plannedHead(draft, "").catch(ifDamaged))?.workflow ?? null;
      draft.tell("delete");
      await endThread(draft, tape, epochOf(tape));
    },
  };
}

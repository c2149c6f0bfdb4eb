import type { DirectoryKey } from "../../backend.ts";
import { ALONE } from "../commits/draft.ts";
import { plannedHead } from "../commits/draft-view.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import { ifDamaged } from "../faults/damage.ts";
import { encodeDirectory } from "../records/directory.ts";
import { rangeOf } from "../records/keys.ts";
import { freeTape } from "./end-tape.ts";

/**
 * Deletes a thread. A tape that forks build on stays without a name until they are gone; otherwise it goes at once, with
 * the tapes that were only kept for it. The epoch of its leases is never used again.
 */
export function deleteThreadChange(): ThreadChange<void> {
  return {
    plan: async (draft) => {
      if (!draft.empty) throw ALONE;
      const tape = draft.existing;
      if (!tape) return;
      const { batch } = draft;
      const key: DirectoryKey = { table: "directory", id: draft.thread };
      if (tape.meta.epoch === 0) batch.delete(key);
      else batch.put(key, encodeDirectory({ epoch: tape.meta.epoch }));
      // Once it is gone, nobody can look it up.
      draft.workflow = (await plannedHead(draft, "").catch(ifDamaged))?.workflow ?? null;
      draft.tell("delete");
      draft.closed = true;
      draft.rereads = true;
      draft.collects.add(tape.lineage);
      if (await freeTape(batch, draft.context, tape)) draft.removeTape();
      else {
        batch.delete(rangeOf(tape, "mail"));
        draft.change({ dead: true, lease: undefined, mail: undefined });
      }
    },
  };
}

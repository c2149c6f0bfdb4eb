import type { DirectoryKey } from "../../backend.ts";
import { ALONE } from "../commits/draft.ts";
import type { ThreadChange } from "../commits/lane.ts";
import { encodeDirectory } from "../records/directory.ts";
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
      draft.closed = true;
      draft.rereads = true;
      if (await freeTape(batch, draft.context, tape)) draft.removeTape();
      else draft.change({ dead: true, lease: undefined });
    },
  };
}

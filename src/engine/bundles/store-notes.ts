import type { BackupReport, BackupResult } from "../../model/interface/results.ts";
import type { Lanes } from "../commits/lanes.ts";
import type { EngineContext } from "../memory/context.ts";
import { STORE_THREAD } from "../records/keys.ts";
import type { Meta } from "../records/meta.ts";

/** The notes of backups and restores that a store keeps, for `stats`. */
interface StoreNotes {
  readonly backup: BackupReport | null;
  readonly restoring?: number;
}

/** Notes in the store that a backup was made. */
export async function noteBackup(context: EngineContext, lanes: Lanes, result: BackupResult): Promise<void> {
  await note(lanes, { backup: { ...result, at: context.clock() } });
}

/** Notes that a restore begins. Until `endRestore`, `verify` and `stats` say that the store is not whole. */
export async function beginRestore(context: EngineContext, lanes: Lanes): Promise<void> {
  await note(lanes, { restoring: context.clock() });
}

export async function endRestore(lanes: Lanes): Promise<void> {
  await note(lanes, { restoring: undefined });
}

async function note(
  lanes: Lanes,
  change: { readonly [K in "backup" | "restoring"]?: Meta[K] | undefined },
): Promise<void> {
  await lanes.of(STORE_THREAD).add({
    plan: async (draft) => {
      await draft.tape();
      draft.change(change);
    },
  });
}

/** Returns the last backup that was noted, and when a restore began that has not ended. */
export async function storeNotes(context: EngineContext): Promise<StoreNotes> {
  const { backup = null, restoring } = (await context.thread(STORE_THREAD))?.meta ?? {};
  return { backup, ...(restoring !== undefined && { restoring }) };
}

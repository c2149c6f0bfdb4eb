import type { BackupReport, BackupResult } from "../../model/interface/results.ts";
import type { Lanes } from "../commits/lanes.ts";
import type { Context } from "../memory/context.ts";
import { STORE_THREAD } from "../upkeep/sweeping/sweeper.ts";

/** Notes in the store that a backup was made, for `stats`. */
export async function noteBackup(context: Context, lanes: Lanes, result: BackupResult): Promise<void> {
  const backup = { ...result, at: context.clock() };
  await lanes.of(STORE_THREAD).add({
    plan: async (draft) => {
      await draft.tape();
      draft.change({ backup });
    },
  });
}

/** Returns the last backup that was noted. */
export async function lastBackup(context: Context): Promise<BackupReport | null> {
  return (await context.thread(STORE_THREAD))?.meta.backup ?? null;
}

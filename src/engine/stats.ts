import type { MeasuredStats, Stats } from "../model/interface/results.ts";
import type { ResumableOptions, StatsOptions } from "../model/interface/store-options.ts";
import { isSmall } from "../model/small-store.ts";
import { storeNotes } from "./bundles/store-notes.ts";
import type { EngineContext } from "./memory/context.ts";
import { threadCount } from "./reads/finding/counts.ts";
import { measureRecords, readThreads } from "./reads/sizes.ts";
import { lastSweep } from "./upkeep/sweeping/sweeper.ts";

const unmeasured: { readonly [Kind in keyof Stats["bytes"]]: null } = {
  directory: null,
  metadata: null,
  tail: null,
  packs: null,
  index: null,
  writes: null,
  values: null,
  entries: null,
  log: null,
  total: null,
};

/** Tells what is known of a store without reading its threads, and of a small store everything. */
export async function storeStats(context: EngineContext, options: StatsOptions): Promise<Stats> {
  const { signal } = options;
  signal?.throwIfAborted();
  const threads = await threadCount(context);
  signal?.throwIfAborted();
  const { total, behind } = (await context.backend.total?.()) ?? {};
  if (isSmall({ threads, bytes: total })) {
    const read = await readThreads(context, options);
    if (isSmall({ threads, bytes: total, checkpoints: read.checkpoints })) return measured(context, read);
  }
  const bytes = { ...unmeasured, total: total ?? null };
  const unread = { threads, checkpoints: null, stateVersions: null };
  return { ...unread, bytes, ...(behind !== undefined && { behind }), ...(await careOf(context)) };
}

/** Reads all threads of a store and measures all its records. */
export async function measureStore(context: EngineContext, options: ResumableOptions): Promise<MeasuredStats> {
  return measured(context, await readThreads(context, options));
}

async function measured(context: EngineContext, read: Awaited<ReturnType<typeof readThreads>>): Promise<MeasuredStats> {
  return { ...read, ...(await measureRecords(context)), ...(await careOf(context)) };
}

/** Returns how a store is looked after. */
async function careOf(context: EngineContext): Promise<Pick<Stats, "sweep" | "backup" | "restoring" | "encryption">> {
  const encryption = (await context.encryption?.report()) ?? null;
  return { sweep: await lastSweep(context), ...(await storeNotes(context)), encryption };
}

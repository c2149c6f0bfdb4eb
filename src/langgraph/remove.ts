import { hasSchema, pruneMarked, storeTime } from "../api/adapter.ts";
import type { Store } from "../api/store.ts";
import type { Thread } from "../api/thread.ts";
import type { CheckpointInfo, Metadata } from "../model/checkpoint.ts";
import type { PruneOptions } from "../model/interface/options.ts";
import type { PruneResult } from "../model/interface/results.ts";
import { prunedSeqs, retentionOf } from "../model/retention/retention.ts";
import { historiesAt } from "./channel-history.ts";
import { type Bookkeeping, formatOf, notesOf, reserved, type StoredHistory, withNotes } from "./mapping/bookkeeping.ts";
import { firstVersionWithSends, sendsOf } from "./old-sends.ts";

/**
 * Removes checkpoints of a LangGraph thread. A remaining checkpoint may read from removed ancestors: the writes of channels
 * that keep only writes, and the sends of formats before version 4. These are first copied into the remaining checkpoint.
 */

type AnyStore = Store<Record<string, unknown>>;

/** Deletes old checkpoints of a thread, by the same rules as `thread.prune`. */
export async function prune(store: AnyStore, id: string, options: PruneOptions): Promise<PruneResult> {
  const thread = store.thread(id);
  const rows = await rowsOf(store, id);
  if (options.dryRun === true || !rows.some(readsAncestors)) return pruneMarked(thread, options);
  const seqs = new Map(rows.map((row) => [`${row.namespace.join("|")} ${row.id}`, row.seq]));
  const gone = prunedSeqs(
    rows.map((row) => ({
      ...row,
      namespace: row.namespace.join("|"),
      parent: seqs.get(`${row.namespace.join("|")} ${row.parent}`) ?? 0,
    })),
    retentionOf(options, storeTime(thread)),
  );
  // The checkpoints are chosen here, not by the store, so that a checkpoint committed meanwhile does not change the choice.
  const { bytesReclaimed } = await pruneMarked(thread, { ...options, dryRun: true });
  return { deleted: await remove(store, id, rows, (row) => gone.has(row.seq)), bytesReclaimed };
}

/** Removes the checkpoints of these runs from a thread. Returns their number. */
export async function deleteRuns(store: AnyStore, id: string, runs: ReadonlySet<string>): Promise<number> {
  const rows = await rowsOf(store, id);
  return remove(store, id, rows, (row) => row.run !== null && runs.has(row.run));
}

/** Returns every checkpoint of a thread, newest first. */
async function rowsOf(store: AnyStore, id: string): Promise<CheckpointInfo[]> {
  const rows: CheckpointInfo[] = [];
  for (const namespace of await store.thread(id).namespaces()) {
    for await (const row of store.thread(id, { namespace }).history()) rows.push(row);
  }
  return rows.sort((left, right) => right.seq - left.seq);
}

/** Tells whether a checkpoint may read from its ancestors. */
export function readsAncestors(row: Pick<CheckpointInfo, "metadata" | "stateVersion">): boolean {
  return formatOf(row) < firstVersionWithSends || (notesOf(row).unset ?? []).length > 0;
}

async function remove(
  store: AnyStore,
  id: string,
  rows: readonly CheckpointInfo[],
  isRemoved: (row: CheckpointInfo) => boolean,
): Promise<number> {
  const byNamespace = new Map<string, CheckpointInfo[]>();
  for (const row of rows) {
    const key = JSON.stringify(row.namespace);
    const list = byNamespace.get(key);
    if (list === undefined) byNamespace.set(key, [row]);
    else list.push(row);
  }
  let count = 0;
  for (const [key, all] of byNamespace) {
    const thread = store.thread(id, { namespace: JSON.parse(key) as string[] });
    const gone = new Set(all.filter(isRemoved).map((row) => row.id));
    if (gone.size === 0) continue;
    const orphans = all.filter((row) => !gone.has(row.id) && row.parent !== null && gone.has(row.parent));
    const channels = new Set(all.flatMap((row) => notesOf(row).unset ?? []));
    for (const row of orphans) await copyFromAncestors(thread, row, channels);
    count += await thread.deleteCheckpoints([...gone]);
  }
  return count;
}

/** Copies into a checkpoint what it reads from its ancestors. */
async function copyFromAncestors(
  thread: Thread<Record<string, unknown>>,
  row: CheckpointInfo,
  channels: ReadonlySet<string>,
): Promise<void> {
  const history = await historyToKeep(thread, row, channels);
  const sends = await sendsOf(thread, row);
  if (Object.keys(history).length === 0 && sends === undefined) return;
  const checkpoint = await thread.get(row.id);
  if (checkpoint === undefined) return;
  const { id, step, source, node, path, next, completed, interrupts, barriers, run, workflow, label } = checkpoint;
  const { createdAt, state } = checkpoint;
  const before = state[reserved] as Bookkeeping;
  const bookkeeping: Bookkeeping = {
    v: formatOf(row),
    ...before,
    ...(sends !== undefined && before.sends === undefined && { sends }),
    ...(Object.keys(history).length > 0 && { history: { ...before.history, ...history } }),
  };
  await thread.put({
    ...{ id, step, source, node, path, next, completed, interrupts, barriers, run, workflow, label },
    createdAt,
    // With a schema the state read is of its version; without one the version stays.
    ...(!hasSchema(thread) && { stateVersion: checkpoint.stateVersion }),
    state: { ...state, [reserved]: bookkeeping },
    metadata: notingHistory(checkpoint, Object.keys(history)),
  });
}

/** Returns the histories of the channels that keep only writes and have no value at a checkpoint. */
async function historyToKeep(
  thread: Thread<Record<string, unknown>>,
  row: CheckpointInfo,
  channels: ReadonlySet<string>,
): Promise<Record<string, StoredHistory>> {
  // LangGraph lists here the channels with writes since their last snapshot, if there are any.
  const counted = row.metadata["counters_since_delta_snapshot"];
  const known = typeof counted === "object" && counted !== null ? new Set(Object.keys(counted)) : channels;
  const { set = [] } = notesOf(row);
  const sought = [...channels].filter((channel) => known.has(channel) && !set.includes(channel));
  const histories = await historiesAt(thread, row.id, sought);
  return Object.fromEntries(
    [...(histories ?? [])].filter(([, history]) => history.writes.length > 0 || Object.hasOwn(history, "seed")),
  );
}

function notingHistory(row: CheckpointInfo, channels: readonly string[]): Metadata {
  const notes = notesOf(row);
  return withNotes(row.metadata, { ...notes, history: [...new Set([...(notes.history ?? []), ...channels])] });
}

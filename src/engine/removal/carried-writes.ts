import type { Json } from "../../codec/json.ts";
import { refersToState, resolveInState } from "../../codec/state-references.ts";
import type { FrameReader } from "../bodies/frame-reader.ts";
import { loadReferring } from "../bodies/load-tree.ts";
import { CUT_TASK } from "../changes/writes.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { Body } from "../records/body.ts";
import type { Row } from "../records/row.ts";
import type { CarriedTask, StoredWrite, TaskWrites } from "../records/writes.ts";
import { ownRow } from "../view/lineage/own-rows.ts";
import { NOW } from "../view/row-at.ts";

/**
 * Returns the writes that removed rows of a tape carry against checkpoints that stay, as entries for records of their own. `rows`
 * are all rows of the tape.
 */
export async function writesPutBack(
  context: EngineContext,
  tape: Tape,
  rows: readonly Row[],
  doomed: ReadonlySet<number> | undefined,
  frames: FrameReader,
): Promise<readonly TaskWrites[]> {
  const entries: TaskWrites[] = [];
  for (const row of rows) {
    if (row.carries === undefined || !doomed?.has(row.seq) || doomed.has(row.seq - 1)) continue;
    const parent = await ownRow(context, tape, row.seq - 1);
    if (!parent) continue;
    const address = { checkpoint: parent.id, ...(parent.namespace !== "" && { namespace: parent.namespace }) };
    const { writes = [] } = await frames.read(tape, row.seq);
    for (const task of await plainTasks(context, tape, row.seq, writes)) {
      entries.push({ ...address, at: row.createdAt, ...task });
    }
    // The thread itself no longer shows the checkpoint, only a fork does: it must not show the writes for another of that id.
    const since = tape.meta.gone?.find(([from, to]) => parent.seq >= from && parent.seq <= to)?.[2];
    if (since !== undefined && tape.isGone(parent.seq, NOW)) {
      entries.push({ ...address, task: CUT_TASK, at: row.createdAt, generation: since, writes: [], cut: true });
    }
  }
  return entries;
}

/** Returns the writes that a row carries without references into its state. */
export async function plainTasks(
  context: EngineContext,
  tape: Tape,
  seq: number,
  tasks: readonly CarriedTask[],
): Promise<readonly CarriedTask[]> {
  if (!tasks.some(({ writes }) => writes.some(([, , value]) => refersToState(value)))) return tasks;
  const { tree } = await loadReferring(context, tape, seq);
  const plain = ([index, channel, value]: StoredWrite): StoredWrite => [
    index,
    channel,
    resolveInState(value, (tree as Body).s as Json),
  ];
  return tasks.map((task) => ({ ...task, writes: task.writes.map(plain) }));
}

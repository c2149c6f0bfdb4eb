import { apply, type Delta, diff, isReplacement, replacedBy } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import { loadShown } from "../bodies/load-tree.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { fromRecord, toRecord } from "../records/row.ts";
import { rowAt, type Shown } from "../view/row-at.ts";
import { BundledValues } from "./bundled-values.ts";
import { exportThread } from "./export-thread.ts";
import type { CheckpointRecord } from "./incoming-thread.ts";

/** Resolves to true if a thread shows exactly the checkpoints that a bundle has of it, oldest first. */
export async function isSameThread(
  store: EngineContext,
  thread: string,
  told: readonly CheckpointRecord[],
): Promise<boolean> {
  // Remembered tapes of its lineage may be of another moment.
  const context = store.fresh();
  const tape = await context.thread(thread);
  if (!tape) return false;
  let seen = 0;
  let same = true;
  const values = new BundledValues();
  for await (const record of exportThread(context, tape)) {
    // The thread was changed meanwhile, and begins again.
    if (record.kind === "void") [seen, same] = [0, true];
    if (record.kind === "value") values.add(record.name, record.value);
    if (record.kind !== "checkpoint" || !same) continue;
    // The frame may be remembered as it is stored.
    const change = values.resolve(structuredClone(record.change));
    same = await isSameCheckpoint(context, tape, { ...record, change }, told[seen]);
    seen += 1;
  }
  return same && seen === told.length;
}

async function isSameCheckpoint(
  context: EngineContext,
  tape: Tape,
  record: CheckpointRecord,
  wanted: CheckpointRecord | undefined,
): Promise<boolean> {
  if (wanted === undefined || record.seq !== wanted.seq || rowText(record) !== rowText(wanted)) return false;
  // All before it are the same, so that equal deltas make equal states; different ones still may.
  const equal = record.row.base === wanted.row.base && JSON.stringify(record.change) === JSON.stringify(wanted.change);
  return equal || leadsThere(context, tape, wanted);
}

/**
 * Returns a row's text without `tagged` and `base`, which depend on how it is stored, and without the ids of its questions,
 * which older bundles lack: its body has them.
 */
function rowText({
  seq,
  row: { tagged: _tagged, base: _base, questions: _questions, ...row },
}: CheckpointRecord): string {
  return JSON.stringify(toRecord(fromRecord(seq, row)));
}

/** Resolves to true if the change, applied to the row's base, gives the body that the thread shows. */
async function leadsThere(
  context: EngineContext,
  tape: Tape,
  { seq, row, change }: CheckpointRecord,
): Promise<boolean> {
  const body = await bodyAt(context, tape, seq);
  const told = await changed(context, tape, row.base ?? row.parent, change);
  return body !== undefined && told !== undefined && diff(body, told) === undefined;
}

async function changed(
  context: EngineContext,
  tape: Tape,
  base: number | undefined,
  change: Delta,
): Promise<Json | undefined> {
  if (isReplacement(change)) return replacedBy(change);
  const before = base === undefined ? undefined : await bodyAt(context, tape, base);
  return before === undefined ? undefined : apply(before, change);
}

async function bodyAt(context: EngineContext, tape: Tape, seq: number): Promise<Json | undefined> {
  const row: Shown | undefined = await rowAt(context, tape, seq);
  return row && (await loadShown(context, tape, row)).tree;
}

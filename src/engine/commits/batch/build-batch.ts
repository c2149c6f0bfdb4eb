import type { Batch, Value } from "../../../backend.ts";
import { finished } from "../../../codec/delta/index.ts";
import { type Tape, UNSEALED } from "../../memory/tape.ts";
import { encodeMeta, type Meta } from "../../records/meta.ts";
import { packRuns } from "../../records/pack/pack-runs.ts";
import { type TailRow, tailBytes } from "../../records/tail.ts";
import { addValues } from "../add-values.ts";
import { addLogLines } from "../announce.ts";
import type { Draft } from "../draft/draft.ts";
import type { Planned } from "../draft/planned.ts";
import { addEntries, hasNewRun, leavesIndex, settleIndex } from "../settle-index.ts";

/** Loaded with the first seal, which few short processes come to. */
let sealing: typeof import("../seal.ts") | undefined;

/** Tells whether a draft has everything that its batch needs, as nearly every put has. If not, see {@link complete}. */
export function isComplete(draft: Draft): boolean {
  const { target: tape, carrying, values, collects } = draft;
  if (tape === undefined || draft.completed) return true;
  if (!carrying.empty || !values.empty || collects.length > 0 || !leavesIndex(draft)) return false;
  return draft.planned.length === 0 || fullRuns(draft, tape).length === 0;
}

/** Adds what a draft's batch needs besides its plans: records of writes, packs, the index, large values. */
export async function complete(draft: Draft): Promise<void> {
  const tape = draft.target as Tape;
  draft.completed = true;
  draft.carrying.settle(draft.batch);
  if (draft.planned.length > 0) {
    tape.checkIntact();
    const runs = fullRuns(draft, tape);
    if (runs.length === 0) insertRows(draft, tape);
    else await sealAndInsertRows(draft, tape, runs);
  }
  if (!leavesIndex(draft)) await settleIndex(draft);
  if (!draft.values.empty) await addValues(draft, tape);
  if (draft.collects.length > 0) await collect(draft, tape);
}

/** Returns everything planned as one batch, or undefined when there is nothing to write. The batch is built once. */
export function batchOf(draft: Draft): Batch | undefined {
  draft.built ??= buildBatch(draft);
  return draft.built;
}

function buildBatch(draft: Draft): Batch | undefined {
  const tape = draft.target;
  if (tape === undefined) return undefined;
  if (!draft.completed) {
    draft.carrying.settle(draft.batch);
    if (draft.planned.length > 0) tape.checkIntact();
    insertRows(draft, tape);
  }
  return withMeta(draft, tape);
}

async function collect(draft: Draft, tape: Tape): Promise<void> {
  const { collectValues } = await import("../collect-values.ts");
  const ending = new Set(draft.removed ? [tape.number] : []);
  for (const lineage of draft.collects) {
    const { values, discarded } = await collectValues(draft.context, draft.batch, lineage, { ending });
    draft.discarded = [...draft.discarded, ...discarded];
    // Readers that have seen a record from before find out that a value which it needs is gone for good reason.
    if (values.size > 0 && lineage === tape.lineage) draft.change({ rewrites: (draft.meta as Meta).rewrites + 1 });
  }
}

function insertRows({ planned, batch }: Draft, tape: Tape): void {
  for (const { tail } of planned) batch.insert(tape.key("tail", tail.row.seq), tail.value);
}

/** A commit seals by itself once the tail has become this many times as long as a pack: sealing beside it did not keep up. */
const BEHIND_ROWS = 4;
const BEHIND_BYTES = 16;

/**
 * Returns the rows that the commit itself has to seal, a run for each pack. Mostly none: the rows of a tail are sealed beside
 * the commits. But rows that come by the hundred go straight into packs, without being written twice.
 */
function fullRuns(draft: Draft, tape: Tape): readonly (readonly TailRow[])[] {
  const { packRows, packBytes } = draft.context;
  const count = tape.tail.length + draft.planned.length;
  const isMany = draft.planned.length >= packRows || count >= BEHIND_ROWS * packRows + UNSEALED;
  if (!isMany && tape.tailLength + draft.length < BEHIND_BYTES * packBytes) return [];
  return packRuns(allRows(draft, tape).slice(0, -UNSEALED), tailBytes, draft.context).full;
}

function allRows({ planned }: Draft, tape: Tape): TailRow[] {
  return [...tape.tail, ...planned.map(({ tail }) => tail)];
}

async function sealAndInsertRows(draft: Draft, tape: Tape, runs: readonly (readonly TailRow[])[]): Promise<void> {
  // New rows that go straight into packs leave no key in the tail by which the commit would find another's: a check must.
  const first = (draft.planned[0] as Planned).tail.row.seq;
  draft.batch.check(tape.key("tail", first), undefined);
  draft.unsealed = allRows(draft, tape).slice(runs.reduce((count, run) => count + run.length, 0));
  for (const { row, value } of draft.unsealed) {
    if (row.seq >= first) draft.batch.insert(tape.key("tail", row.seq), value);
  }
  sealing ??= await import("../seal.ts");
  const { encodingRun, sealRuns } = sealing;
  await sealRuns(
    draft,
    tape,
    runs.map((rows) => finished(encodingRun(draft.context, tape.number, rows))),
  );
}

/** Adds the meta record: inserted, changed, removed, or only checked. */
function withMeta(draft: Draft, tape: Tape): Batch | undefined {
  const { batch, before, created } = draft;
  const changed = created || draft.meta !== tape.meta;
  if (changed || draft.removed || draft.reindexes || hasNewRun(draft)) addEntries(draft, tape);
  if (!changed && batch.writesNothing) return undefined;
  if (draft.told.length > 0 || draft.planned.length > 0) addLogLines(draft, tape);
  if (changed && !draft.removed) draft.metaValue = encodeMeta(draft.meta as Meta);
  if (created) {
    batch.insert(tape.metaKey, draft.metaValue as Value);
    return batch.build();
  }
  batch.check(tape.metaKey, before.metaValue);
  if (draft.removed) batch.delete(tape.metaKey);
  else if (draft.metaValue !== undefined) batch.put(tape.metaKey, draft.metaValue);
  const { interruptions } = before;
  const last = tape.tail.at(-1);
  if (interruptions === undefined || last === undefined) return batch.build();
  return batch.build({ key: tape.key("tail", last.row.seq), value: last.value, interruptions });
}

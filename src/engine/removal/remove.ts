import type { Entry, Key, Range, Value } from "../../backend.ts";
import { rangesOf } from "../../model/retention.ts";
import { metaRecords } from "../changes/delete-thread.ts";
import { ALONE, type Draft } from "../commits/draft.ts";
import type { Change } from "../commits/lane.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { metaKey } from "../records/keys.ts";
import { encodeMark } from "../records/marks.ts";
import { changeMeta, decodeMeta, encodeMeta, type Meta } from "../records/meta.ts";
import { allOwnRows } from "../view/own-rows.ts";
import { isPlain, parentOf, type Shown } from "../view/row-at.ts";
import { nestedLimit, shownRows } from "../view/shown-rows.ts";
import type { Candidate } from "./candidate.ts";
import { withoutIds } from "./indexes.ts";
import { pushAll } from "./push-all.ts";
import { rebasedVersions } from "./removed-rows.ts";
import { reparented } from "./reparent.ts";
import { rewriteTape } from "./rewrite.ts";
import { cutWrites, withoutWrites } from "./writes.ts";

export interface Removed {
  readonly deleted: number;
  readonly bytesReclaimed: number;
}

/**
 * Deletes the checkpoints that `choose` picks from all that the thread shows (newest first). What no fork can see is
 * removed from storage at once; what one may see is hidden here, and goes with the next compaction after the fork.
 */
export function removeChange(
  choose: (rows: readonly Candidate[]) => ReadonlySet<number>,
  dryRun: boolean,
): Change<Removed> {
  return {
    fresh: true,
    plan: async (draft) => {
      if (!draft.empty) throw ALONE;
      const tape = draft.existing;
      if (!tape) return { deleted: 0, bytesReclaimed: 0 };
      // Found before anything is read: reads of this store may add rows of others to the tape while the removal is planned.
      const absent = tape.key("tail", tape.lastSeq + 1);
      const rows = await candidates(draft.context, tape);
      const chosen = choose(rows);
      if (chosen.size === 0) return { deleted: 0, bytesReclaimed: 0 };
      const plan = await planRemoval(draft.context, tape, rows, chosen);
      if (!dryRun) addRemoval(draft, plan, absent);
      return { deleted: chosen.size, bytesReclaimed: Math.max(0, plan.reclaimed) };
    },
  };
}

/** Deletes those of a thread's checkpoints that a test names. */
export function removeWhere(goes: (row: Shown) => boolean): Change<Removed> {
  return removeChange((rows) => new Set(rows.filter(({ row }) => goes(row)).map(({ row }) => row.seq)), false);
}

async function candidates(context: Context, tape: Tape): Promise<Candidate[]> {
  const rows: Candidate[] = [];
  if (!tape.meta.origin && isPlain(tape)) {
    for (const row of await allOwnRows(context, tape)) rows.push({ row, parent: row.parent });
  } else {
    for await (const row of shownRows(context, tape)) rows.push({ row, parent: row.parent });
  }
  const shown = new Set(rows.map(({ row }) => row.seq));
  for (const [index, { row }] of rows.entries()) {
    if (row.parent === 0 || shown.has(row.parent)) continue;
    rows[index] = { row, parent: (await parentOf(context, tape, row))?.seq ?? 0 };
  }
  return rows;
}

interface Removal {
  readonly deletes: (Key | Range)[];
  readonly inserts: Entry[];
  readonly puts: Entry[];
  readonly checks: { readonly key: Key; readonly value: Value | undefined }[];
  readonly meta: Partial<Meta>;
  readonly reclaimed: number;
}

interface Shared {
  /** The greatest seq of this tape that a fork or copy of it may show or build on; 0 when there is none. */
  readonly upTo: number;
  /** Forks whose nested namespaces were delimited by rows that may now go: the limit has to be written down. */
  readonly settled: readonly Entry[];
  readonly checks: readonly { readonly key: Key; readonly value: Value }[];
}

async function sharedRows(context: Context, tape: Tape): Promise<Shared> {
  const { lineage } = tape;
  const found = await metaRecords(context, lineage);
  let upTo = 0;
  const settled: Entry[] = [];
  const checks: { readonly key: Key; readonly value: Value }[] = [];
  for (const { item, value } of found) {
    const meta = decodeMeta(value);
    const { origin } = meta;
    if (origin?.tape !== tape.number) continue;
    if (origin.mode === "all") upTo = Math.max(upTo, origin.upTo);
    else if (origin.mode === "none") upTo = Math.max(upTo, origin.at);
    else {
      const limit = origin.limit ?? (await nestedLimit(context, origin, tape));
      upTo = Math.max(upTo, limit - 1);
      if (origin.limit !== undefined) continue;
      const key = metaKey(lineage, item);
      checks.push({ key, value });
      settled.push({ key, value: encodeMeta(changeMeta(meta, { origin: { ...origin, limit } })) });
    }
  }
  return { upTo, settled, checks };
}

async function planRemoval(
  context: Context,
  tape: Tape,
  rows: readonly Candidate[],
  chosen: ReadonlySet<number>,
): Promise<Removal> {
  const forks = await sharedRows(context, tape);
  const shared = Math.max(forks.upTo, tape.meta.origin?.upTo ?? 0);
  const erased = rows.map(({ row }) => row).filter((row) => chosen.has(row.seq) && row.seq > shared);
  const hidden = rows.map(({ row }) => row).filter((row) => chosen.has(row.seq) && row.seq <= shared);
  const doomed = new Set(erased.map((row) => row.seq));
  const rewrite = await rewriteTape(context, tape, new Map([[tape.number, doomed]]));
  const removal: Removal = {
    deletes: rewrite.deletes,
    inserts: rewrite.inserts,
    puts: [...rewrite.puts, ...forks.settled],
    checks: [...forks.checks],
    meta: { ...rewrite.meta },
    reclaimed: rewrite.reclaimed,
  };
  let reclaimed = rewrite.reclaimed;
  for (const row of erased) if (tape.marks.has(row.seq)) removal.deletes.push(tape.key("mark", row.seq));
  const followed = await reparented(context, tape, rows, chosen);
  for (const [seq, versions] of new Map([...tape.marks, ...followed])) {
    if (doomed.has(seq)) continue;
    const rebased = await rebasedVersions(context, tape, new Map([[tape.number, doomed]]), versions);
    if (rebased === versions && !followed.has(seq)) continue;
    removal.puts.push({ key: tape.key("mark", seq), value: encodeMark(rebased) });
  }
  if (erased.length > 0) {
    const freed = await withoutWrites(context, tape, erased);
    pushAll(removal.deletes, freed.deletes);
    pushAll(removal.puts, freed.puts);
    pushAll(removal.checks, freed.checks);
    reclaimed += freed.reclaimed;
    const index = await withoutIds(context, tape, erased);
    pushAll(removal.deletes, index.deletes);
    pushAll(removal.puts, index.puts);
  }
  const meta: { -readonly [K in keyof Meta]?: Meta[K] } = removal.meta;
  if (followed.size > 0) meta.marks = true;
  if (hidden.length > 0) {
    const generation = tape.meta.generation + 1;
    const all = rows.map(({ row }) => row.seq).sort((left, right) => left - right);
    const ranges = rangesOf(
      new Set(hidden.map((row) => row.seq)),
      all.filter((seq) => !doomed.has(seq)),
    );
    meta.generation = generation;
    meta.gone = [...(tape.meta.gone ?? []), ...ranges.map(([from, to]) => [from, to, generation] as const)];
    meta.removed = tape.meta.removed + hidden.filter((row) => row.seq > (tape.meta.origin?.upTo ?? 0)).length;
    const cut = await cutWrites(context, tape, hidden, generation);
    pushAll(removal.puts, cut.puts);
    pushAll(removal.checks, cut.checks);
  }
  return { ...removal, reclaimed };
}

function addRemoval(draft: Draft, removal: Removal, absent: Key): void {
  draft.checks.push({ key: absent, value: undefined });
  pushAll(draft.deletes, removal.deletes);
  pushAll(draft.inserts, removal.inserts);
  pushAll(draft.puts, removal.puts);
  pushAll(draft.checks, removal.checks);
  draft.change(removal.meta);
  draft.closed = true;
  draft.rereads = true;
}

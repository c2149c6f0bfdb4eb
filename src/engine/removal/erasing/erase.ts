import type { LogLine } from "../../../backend.ts";
import { ThreadmarkError } from "../../../errors.ts";
import type { EraseOptions, EraseResult } from "../../../model/interface/erasure.ts";
import { Attempts } from "../../../platform/attempts.ts";
import { collectValues } from "../../commits/collect-values.ts";
import type { Committer } from "../../commits/group-commit.ts";
import { neverRests } from "../../faults/attempts.ts";
import { ofThread } from "../../faults/damage.ts";
import { threadNotFound } from "../../faults/missing.ts";
import { wasOvertaken } from "../../faults/overtaken.ts";
import { abortable } from "../../memory/abortable.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { Tape } from "../../memory/tape.ts";
import { TAPES } from "../../reads/directory.ts";
import { encodeLines } from "../../records/store-wide/log.ts";
import { nameOf } from "../../records/writes.ts";
import { metaRecords } from "../../view/lineage/tapes-of-lineage.ts";
import { homeOf } from "../../view/row-at.ts";
import { shownRows } from "../../view/shown-rows.ts";
import { type ErasureTarget, LineageErasure } from "./erase-lineage.ts";

/**
 * Takes values out of all records of a thread's lineage, in one commit. Begins again where others have changed the lineage
 * meanwhile; until the commit nothing is changed.
 */
export async function eraseValues(
  context: EngineContext,
  committer: Committer,
  thread: string,
  target: ErasureTarget,
  options: EraseOptions,
): Promise<EraseResult> {
  const { signal } = options;
  signal?.throwIfAborted();
  for (const attempts = new Attempts(); ; ) {
    const result = await attempt(context, committer, thread, target, options).catch((error: unknown) => {
      throw ofThread(error, thread, "nothing was erased, since a record of its lineage is damaged. ");
    });
    if (result) return result;
    if (!(await attempts.again())) throw neverRests(thread, "something was erased from it");
  }
}

async function attempt(
  context: EngineContext,
  committer: Committer,
  thread: string,
  target: ErasureTarget,
  { forks = false, signal }: EraseOptions,
): Promise<EraseResult | undefined> {
  // The store's own memory goes on changing meanwhile.
  const own = context.fresh(abortable(context.backend, signal));
  const found = await own.thread(thread);
  if (!found) throw threadNotFound(thread);
  const { lineage } = found;
  const metas = await metaRecords(own, lineage);
  const tapes = new Map<number, Tape>();
  for (let start = 0; start < metas.length; start += TAPES) {
    const page = metas.slice(start, start + TAPES).map(({ item }) => ({ tape: item, lineage }));
    for (const tape of await own.tapes.refreshAll(page)) if (tape) tapes.set(tape.number, tape);
  }
  const isStale = async (): Promise<boolean> => {
    const now = await metaRecords(own, lineage);
    return now.length !== metas.length || now.some(({ value }, index) => value !== metas[index]?.value);
  };
  // A fork made meanwhile is not among the tapes.
  if (metas.some(({ item, value }) => tapes.get(item)?.metaValue !== value)) return undefined;
  const erasure = new LineageErasure(own, tapes, target);
  try {
    await erasure.plan();
    if (erasure.places.length === 0) return { erased: [] };
    if (!forks) await refuseOthers(own, tapes, thread, erasure);
    const { batch } = erasure;
    const uploaded = await erasure.addValues(lineage);
    const { discarded } = await collectValues(own, batch, lineage);
    batch.log = { lineage, lines: linesOf(own.clock(), forks ? tapes.values() : [found]) };
    signal?.throwIfAborted();
    // A watch that was begun before this change has to see it.
    await context.watches.starting;
    if (!(await committer.commit(batch.build()))) {
      await context.outside.delete(uploaded);
      return undefined;
    }
    context.watches.tell();
    context.values.forget(lineage);
    await context.outside.delete(discarded);
    return { erased: erasure.places.map(({ place }) => place) };
  } catch (error) {
    if (await wasOvertaken(error, isStale)) return undefined;
    throw error;
  }
}

/** Returns the lines of the log that tell watchers, and incremental backups, of threads whose history was changed. */
function linesOf(at: number, tapes: Iterable<Tape>): LogLine[] {
  const lines: LogLine[] = [];
  for (const { meta, lineage, number, lastSeq } of tapes) {
    if (meta.dead) continue;
    const changes = [["erase", "", null, lastSeq]] as const;
    for (const text of encodeLines({ thread: meta.thread, lineage, tape: number, changes })) lines.push({ at, text });
  }
  return lines;
}

/** Throws `CONFLICT` where other threads show a value that is to be erased from this one only. */
async function refuseOthers(
  context: EngineContext,
  tapes: ReadonlyMap<number, Tape>,
  thread: string,
  { places }: LineageErasure,
): Promise<void> {
  const rows = new Set<string>();
  const written = new Set<string>();
  for (const { tape, seq, written: name } of places) {
    if (name !== undefined) written.add(name);
    if (seq !== undefined) rows.add(`${tape.number}:${seq}`);
    else if (tape.meta.thread !== thread && !tape.meta.dead) throw shownElsewhere(thread, tape.meta.thread);
  }
  for (const tape of tapes.values()) {
    if (tape.meta.dead || tape.meta.thread === thread) continue;
    for await (const { seq, namespace, id } of shownRows(context, tape)) {
      const home = await homeOf(context, tape, seq);
      const isWritten = written.has(nameOf({ namespace, checkpoint: id }));
      if (isWritten || rows.has(`${home.number}:${seq}`)) throw shownElsewhere(thread, tape.meta.thread);
    }
  }
}

function shownElsewhere(thread: string, other: string): ThreadmarkError {
  return new ThreadmarkError(
    "CONFLICT",
    `Thread ${JSON.stringify(thread)}: thread ${JSON.stringify(other)} has the value, too, which shares its history. ` +
      "Pass { forks: true } to erase it in all of them, or delete the other first.",
    { thread },
  );
}

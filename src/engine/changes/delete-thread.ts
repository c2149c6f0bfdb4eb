import type { DirectoryKey, Found, Key, Range, Value } from "../../backend.ts";
import { type Table, tables } from "../../backend.ts";
import { ALONE, type Draft } from "../commits/draft.ts";
import type { Change } from "../commits/lane.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { encodeDirectory } from "../records/directory.ts";
import { metaKey } from "../records/keys.ts";
import { changeMeta, decodeMeta, encodeMeta, type Meta } from "../records/meta.ts";

/**
 * Deletes a thread. If forks build on its tape, the tape stays without a name until they are gone; else it goes at
 * once, and with it tapes that were only kept for it. The epoch of its leases is never used again.
 */
export function deleteThreadChange(): Change<void> {
  return {
    plan: async (draft) => {
      if (!draft.empty) throw ALONE;
      const tape = draft.existing;
      if (!tape) return;
      const key: DirectoryKey = { table: "directory", id: draft.thread };
      if (tape.meta.epoch === 0) draft.deletes.push(key);
      else draft.puts.push({ key, value: encodeDirectory({ epoch: tape.meta.epoch }) });
      const { freed, checks } = await endOf(draft.context, tape);
      draft.checks.push(...checks);
      draft.closed = true;
      draft.rereads = true;
      if (!freed) {
        draft.change({ dead: true, lease: undefined });
        return;
      }
      draft.deletes.push(...freed);
      draft.removeTape();
    },
  };
}

/** A thread that has no checkpoints makes way for another of its name. Its epochs are not used again: that is the other's part. */
export async function makeWay(draft: Draft, there: Tape): Promise<void> {
  draft.checks.push({ key: there.metaKey, value: there.metaValue });
  // A checkpoint that somebody has put meanwhile leaves the meta record as it is.
  draft.checks.push({ key: there.key("tail", there.lastSeq + 1), value: undefined });
  const { freed, checks } = await endOf(draft.context, there);
  draft.checks.push(...checks);
  if (freed) draft.deletes.push(there.metaKey, ...freed);
  else {
    const dead = changeMeta(there.meta, { dead: true, lease: undefined });
    draft.puts.push({ key: there.metaKey, value: encodeMeta(dead) });
  }
}

/** What becomes of a tape whose thread ends. */
interface End {
  /**
   * What goes with it, besides its meta record: its records, and tapes that were only kept for it. Undefined where forks or
   * copies build on it: then it has to stay.
   */
  readonly freed: (Key | Range)[] | undefined;
  /** The tape because of which no more goes: should that end at the same moment, nobody would be left to free the rest. */
  readonly checks: readonly { readonly key: Key; readonly value: Value }[];
}

async function endOf(context: Context, tape: Tape): Promise<End> {
  const { lineage } = tape;
  const found = await metaRecords(context, lineage);
  const metas = new Map(found.map((entry) => [entry.item, decodeMeta(entry.value)]));
  const checksOf = (number: number): End["checks"] =>
    found.filter(({ item }) => item === number).map(({ value }) => ({ key: metaKey(lineage, number), value }));
  const freed: (Key | Range)[] = [];
  for (let number = tape.number; ; ) {
    const builder = builderOn(metas, number);
    if (builder !== undefined) return { freed: number === tape.number ? undefined : freed, checks: checksOf(builder) };
    freed.push(...recordsOf(lineage, number));
    if (number !== tape.number) freed.push(metaKey(lineage, number));
    const origin = metas.get(number)?.origin;
    metas.delete(number);
    if (!origin) return { freed, checks: [] };
    if (!metas.get(origin.tape)?.dead) return { freed, checks: checksOf(origin.tape) };
    number = origin.tape;
  }
}

/** The meta records of all tapes of a lineage, dead ones included, by tape. */
export async function metaRecords(context: Context, lineage: number): Promise<readonly Found[]> {
  const [found] = await context.read([{ scan: { table: "meta", lineage, group: lineage } }]);
  return found as readonly Found[];
}

export function isBuiltOn(metas: ReadonlyMap<number, Meta>, tape: number): boolean {
  return builderOn(metas, tape) !== undefined;
}

/** A tape that was forked or copied from this one. */
function builderOn(metas: ReadonlyMap<number, Meta>, tape: number): number | undefined {
  for (const [number, meta] of metas) if (meta.origin?.tape === tape) return number;
  return undefined;
}

/** Everything a tape has besides its meta record. */
export function recordsOf(lineage: number, tape: number): (Key | Range)[] {
  return (Object.keys(tables) as Table[])
    .filter((table) => table !== "meta")
    .map((table) => ({ table, lineage, group: tape }));
}

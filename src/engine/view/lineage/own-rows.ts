import type { Found, Read, Value } from "../../../backend.ts";
import { lowerBound } from "../../../model/seq.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { LoadedPack, Tape } from "../../memory/tape.ts";
import { rangeOf } from "../../records/keys.ts";
import type { Row } from "../../records/row.ts";
import { ownRowAtHand, packRow } from "./at-hand.ts";

/** Returns a physical row of this very tape. */
export async function ownRow(context: EngineContext, tape: Tape, seq: number): Promise<Row | undefined> {
  const known = ownRowAtHand(tape, seq);
  if (known) return known;
  const damage = tape.damageAt(seq);
  if (damage) throw damage;
  const [packs, tail, meta] = (await context.read([
    { scan: rangeOf(tape, "rows", seq), limit: 1 },
    { scan: rangeOf(tape, "tail", seq, seq), limit: 1 },
    { get: tape.metaKey },
  ])) as readonly [readonly Found[], readonly Found[], Value | undefined];
  // Another call has refreshed the tape since this read was sent.
  if (tape.readUnder(meta) === "older") return ownRow(context, tape, seq);
  if (tail.length > 0) {
    // `tape` may be a copy that was forgotten, and is not kept up to date.
    const now = (await context.tapes.refresh(tape.number, tape.lineage)) ?? tape;
    const damaged = now.damageAt(seq);
    if (damaged) throw damaged;
    return now.tailRow(seq)?.row;
  }
  return packs[0] && packRow(tape.addPack(packs[0]), seq);
}

/** Called with the fault of a record that cannot be read; without it the fault is thrown. */
export type OnFault = (error: unknown) => void;

function rethrow(error: unknown): void {
  throw error;
}

/** Upper bound on packs in one read. */
export const PACKS_PER_READ = 64;

/**
 * Yields the rows of one tape, newest first, starting below `before`. The first read is of `ahead` packs, later ones of
 * more, up to `most`.
 */
export async function* ownRows(
  context: EngineContext,
  tape: Tape,
  before: number,
  onFault: OnFault = rethrow,
  ahead = 1,
  most: number = PACKS_PER_READ,
): AsyncGenerator<Row> {
  let next = before;
  for (;;) {
    const { tail, damaged } = tape;
    const entry = tail[lowerBound(tail, next, ({ row }) => row.seq) - 1];
    const damage = damaged.length > 0 ? damaged[lowerBound(damaged, next, ({ seq }) => seq) - 1] : undefined;
    if (damage && damage.seq > (entry?.row.seq ?? 0)) {
      next = damage.seq;
      onFault(damage.error);
      continue;
    }
    if (!entry) break;
    next = entry.row.seq;
    yield entry.row;
  }
  const floor = tape.meta.origin?.upTo ?? 0;
  let limit = Math.min(ahead, most);
  const unread = new Set<number>();
  const add = (found: Found): LoadedPack[] => {
    if (unread.has(found.item)) return [];
    try {
      return [tape.addPack(found)];
    } catch (error) {
      unread.add(found.item);
      onFault(error);
      return [];
    }
  };
  while (next > floor + 1) {
    const loaded = tape.packs[lowerBound(tape.packs, next, (pack) => pack.last) - 1];
    const within = tape.loadedPack(next - 1);
    let packs: readonly LoadedPack[];
    if (within) packs = [within];
    else {
      const reads: Read[] = [
        { scan: rangeOf(tape, "rows", next - 1), limit: 1 },
        { scan: rangeOf(tape, "rows", (loaded?.last ?? 0) + 1, next - 1), reverse: true, limit },
        { get: tape.metaKey },
      ];
      const answers = (await context.read(reads)) as readonly [readonly Found[], readonly Found[], Value | undefined];
      const [around, below, meta] = answers;
      if (tape.readUnder(meta) !== "same") {
        // The last pack may have gone back to the tail, which this walk has already passed.
        const now = await context.tapes.refresh(tape.number, tape.lineage);
        if (now) yield* ownRows(context, now, next, onFault, ahead, most);
        return;
      }
      const seen = new Set<number>();
      const faults = unread.size;
      packs = [...around, ...below]
        .filter((found) => !seen.has(found.item) && seen.add(found.item))
        .flatMap(add)
        .filter((pack) => (pack.rows[0]?.seq ?? next) < next);
      limit = Math.min(limit * 4, most);
      if (packs.length === 0 && unread.size > faults) {
        next = Math.min(next, ...[...unread]);
        continue;
      }
      if (packs.length === 0 && loaded) packs = [loaded];
    }
    if (packs.length === 0) return;
    for (const pack of packs) {
      for (let index = pack.rows.length - 1; index >= 0; index -= 1) {
        const row = pack.rows[index] as Row;
        if (row.seq >= next) continue;
        next = row.seq;
        yield row;
      }
    }
  }
}

/**
 * Returns all packs of one tape, each decoded once as long as nothing is rewritten. A caller that changes them checks
 * the meta record in its commit.
 */
export async function allPacks(context: EngineContext, tape: Tape): Promise<readonly LoadedPack[]> {
  const inMemory = tape.packs.reduce((sum, { rows }) => sum + rows.length, tape.tail.length);
  if (inMemory === tape.count) return tape.packs;
  const reads: Read[] = [{ scan: rangeOf(tape, "rows") }, { get: tape.metaKey }];
  const [found, meta] = (await context.read(reads)) as readonly [readonly Found[], Value | undefined];
  if (tape.readUnder(meta) === "older") return allPacks(context, tape);
  const known = new Map(tape.packs.map((pack) => [pack.last, pack]));
  return found.map((entry) => known.get(entry.item) ?? tape.addPack(entry));
}

/** Reads the packs of one tape up to that of a row. */
export async function readPacksUpTo(context: EngineContext, tape: Tape, seq: number): Promise<void> {
  const reads: Read[] = [
    { scan: rangeOf(tape, "rows", undefined, seq - 1) },
    { scan: rangeOf(tape, "rows", seq), limit: 1 },
    { get: tape.metaKey },
  ];
  const answers = (await context.read(reads)) as readonly [readonly Found[], readonly Found[], Value | undefined];
  const [before, around, meta] = answers;
  if (tape.readUnder(meta) === "older") return;
  tape.addPacks([...before, ...around]);
}

import type { Found, Value } from "../../backend.ts";
import type { EngineContext } from "../memory/context.ts";
import type { LoadedPack, Tape } from "../memory/tape.ts";
import { rangeOf } from "../records/keys.ts";
import { headOf } from "./find.ts";
import { rowAt, type Shown } from "./row-at.ts";
import { shownRows } from "./shown-rows.ts";

/** Returns the last committed checkpoint with this step. */
export async function findByStep(
  context: EngineContext,
  tape: Tape,
  namespace: string,
  step: number,
): Promise<Shown | undefined> {
  const last = namespace === "" ? risenTo(tape) : undefined;
  if (last === undefined) return scan(context, tape, namespace, step);
  const { row } = tape.tail.findLast(({ row }) => row.namespace === "" && row.step === step) ?? {};
  if (row) return rowAt(context, tape, row.seq);
  return step <= last ? bisect(context, tape, step) : undefined;
}

/** Finds the checkpoint with the greatest step, ties to the last committed. */
export async function latestByStep(context: EngineContext, tape: Tape, namespace: string): Promise<Shown | undefined> {
  let best: Shown | undefined = await headOf(context, tape, namespace);
  const last = namespace === "" ? risenTo(tape) : undefined;
  if (last !== undefined && best) {
    for (const { row } of tape.tail.toReversed()) if (row.namespace === "" && row.step > best.step) best = row;
    // No sealed step is greater.
    if (best.step >= last) return rowAt(context, tape, best.seq);
  }
  for await (const row of shownRows(context, tape, { namespace })) if (best && row.step > best.step) best = row;
  return best;
}

/**
 * Returns the greatest sealed step of the root, as long as its steps only rise in the order of commits: then a step is found by halving instead
 * of walking through the history. Labels leave steps as they are; replacements may not.
 */
function risenTo({ meta, marks, damaged }: Tape): number | undefined {
  if (meta.origin || meta.gone || damaged.length > 0) return undefined;
  for (const versions of marks.values()) if (versions.some(({ row }) => row !== undefined)) return undefined;
  return meta.rootStep;
}

async function bisect(context: EngineContext, tape: Tape, step: number): Promise<Shown | undefined> {
  let low = 1;
  let high = tape.meta.sealed;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const pack = tape.loadedPack(middle) ?? (await packFrom(context, tape, middle));
    // Sealed rows are in a pack, unless another store has put the last one back into the tail since.
    if (!pack) return scan(context, tape, "", step);
    const roots = pack.rows.filter((row) => row.namespace === "");
    const [first, last] = [roots[0], roots.at(-1)];
    const start = pack.rows[0]?.seq ?? middle;
    if (!first || !last) return scan(context, tape, "", step);
    if (step < first.step) high = Math.min(start, middle) - 1;
    else if (step > last.step) low = pack.last + 1;
    else {
      const found = roots.find((row) => row.step === step);
      return found && rowAt(context, tape, found.seq);
    }
  }
  return undefined;
}

async function packFrom(context: EngineContext, tape: Tape, seq: number): Promise<LoadedPack | undefined> {
  const reads = [{ scan: rangeOf(tape, "rows", seq), limit: 1 }, { get: tape.metaKey }];
  const [[found], meta] = (await context.read(reads)) as readonly [readonly Found[], Value | undefined];
  if (tape.readUnder(meta) === "older") return packFrom(context, tape, seq);
  return found && tape.addPack(found);
}

/** Walks through the history. */
async function scan(context: EngineContext, tape: Tape, namespace: string, step: number): Promise<Shown | undefined> {
  for await (const row of shownRows(context, tape, { namespace })) if (row.step === step) return row;
  return undefined;
}

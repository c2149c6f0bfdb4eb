import type { Found, Value } from "../../backend.ts";
import type { Context } from "../memory/context.ts";
import type { LoadedPack, Tape } from "../memory/tape.ts";
import { rangeOf } from "../records/keys.ts";
import type { Shown } from "./row-at.ts";
import { shownRows } from "./shown-rows.ts";

/** Returns the last committed checkpoint with this step. */
export async function findByStep(
  context: Context,
  tape: Tape,
  namespace: string,
  step: number,
): Promise<Shown | undefined> {
  const { meta } = tape;
  const rising = namespace === "" && meta.rootStep !== undefined && !meta.origin && !meta.gone && !meta.marks;
  // As long as steps only rise, a sealed step is found by halving instead of walking through the history.
  if (rising && meta.rootStep !== undefined && step <= meta.rootStep && !inTail(tape, step))
    return bisect(context, tape, step);
  for await (const row of shownRows(context, tape, { namespace })) if (row.step === step) return row;
  return undefined;
}

function inTail(tape: Tape, step: number): boolean {
  return tape.tail.some(({ row }) => row.namespace === "" && row.step === step);
}

async function bisect(context: Context, tape: Tape, step: number): Promise<Shown | undefined> {
  let low = 1;
  let high = tape.meta.sealed;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const pack = tape.loadedPack(middle) ?? (await packFrom(context, tape, middle));
    // Sealed rows are in a pack, unless another store has put the last one back into the tail since.
    if (!pack) return scan(context, tape, step);
    const roots = pack.rows.filter((row) => row.namespace === "");
    const [first, last] = [roots[0], roots.at(-1)];
    const start = pack.rows[0]?.seq ?? middle;
    if (!first || !last) return scan(context, tape, step);
    if (step < first.step) high = Math.min(start, middle) - 1;
    else if (step > last.step) low = pack.last + 1;
    else return roots.find((row) => row.step === step);
  }
  return undefined;
}

async function packFrom(context: Context, tape: Tape, seq: number): Promise<LoadedPack | undefined> {
  const reads = [{ scan: rangeOf(tape, "rows", seq), limit: 1 }, { get: tape.metaKey }];
  const [[found], meta] = (await context.read(reads)) as readonly [readonly Found[], Value | undefined];
  if (tape.readUnder(meta) === "older") return packFrom(context, tape, seq);
  return found && tape.addPack(found);
}

/** Walks through the history, where halving ends at a pack without rows of the root. */
async function scan(context: Context, tape: Tape, step: number): Promise<Shown | undefined> {
  for await (const row of shownRows(context, tape, { namespace: "" })) if (row.step === step) return row;
  return undefined;
}

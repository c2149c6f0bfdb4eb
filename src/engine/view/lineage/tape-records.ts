import type { Found, Range, Table } from "../../../backend.ts";
import type { EngineContext } from "../../memory/context.ts";
import { rangeOf, type TapeAddress } from "../../records/keys.ts";

/** Records read at once: they may be large. */
const RECORDS = 64;

/** Yields all records that a tape has in a table. */
export function tapeRecords(context: EngineContext, tape: TapeAddress, table: Table): AsyncGenerator<Found> {
  return recordsIn(context, rangeOf(tape, table), RECORDS);
}

/** Yields all records of a range, some at a time. */
export async function* recordsIn(context: EngineContext, range: Range, page: number): AsyncGenerator<Found> {
  let limit = page;
  for (let from = 0; ; ) {
    const [found] = (await context.read([{ scan: { ...range, from }, limit }])) as readonly [readonly Found[]];
    const last = found.length < limit ? Number.POSITIVE_INFINITY : (found.at(-1) as Found).item;
    // Of the last item there may be more.
    yield* found.filter(({ item }) => item < last);
    if (last === Number.POSITIVE_INFINITY) return;
    limit = last === from ? limit * 4 : page;
    from = last;
  }
}

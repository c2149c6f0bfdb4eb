import type { Listed } from "../../backend.ts";
import { unlessDamaged } from "../faults/damage.ts";
import type { EngineContext } from "../memory/context.ts";
import { decodeDirectory } from "../records/store-wide/directory.ts";
import { directoryPages, type ThreadRange } from "./directory.ts";
import { type FoundThread, threadsAt } from "./thread-info.ts";
import type { TapePlace } from "./thread-summary.ts";

/** Threads looked at together: few at first, since the caller may want no more. */
const FIRST_THREADS = 4;
const THREADS = 50;

/** Yields every thread that shows a checkpoint, in bytewise order of their ids, some at a time. */
export async function* byId(context: EngineContext, range: ThreadRange): AsyncGenerator<readonly FoundThread[]> {
  let size = FIRST_THREADS;
  for await (const page of directoryPages(context, range)) {
    for (let start = 0; start < page.length; ) {
      const group = page.slice(start, start + size);
      start += size;
      size = THREADS;
      yield await threadsAt(context, placesOf(group));
    }
  }
}

/** Returns the tapes that directory records name. A record that cannot be read is passed over: `verify` reports it. */
export function placesOf(listed: readonly Listed[]): TapePlace[] {
  return listed.flatMap(({ id, value }) => {
    const { tape, lineage } = unlessDamaged(() => decodeDirectory(value)) ?? {};
    return tape === undefined || lineage === undefined ? [] : [{ id, tape, lineage }];
  });
}

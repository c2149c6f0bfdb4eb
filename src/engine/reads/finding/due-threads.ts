import type { IndexEntry, Value } from "../../../backend.ts";
import type { DueThread } from "../../../model/checkpoint.ts";
import type { DueOptions } from "../../../model/interface/store-options.ts";
import { unlessDamaged } from "../../faults/damage.ts";
import type { EngineContext } from "../../memory/context.ts";
import { metaKey } from "../../records/keys.ts";
import { decodeMeta } from "../../records/meta.ts";
import { duePrefix, momentText } from "../../records/store-wide/index-entries.ts";

const PAGE = 64;

/**
 * Yields the threads that are due and, unless asked for them, not leased; those that have waited longest first. A damaged
 * thread is passed over: `verify` reports it.
 */
export async function* dueThreads(context: EngineContext, options: DueOptions): AsyncGenerator<DueThread> {
  const { workflow, before = context.clock(), leased = false, limit = Number.POSITIVE_INFINITY, signal } = options;
  const from = duePrefix(workflow ?? "");
  const to = from + momentText(Math.floor(before) + 1);
  let left = limit;
  let after: IndexEntry | undefined;
  while (left > 0) {
    signal?.throwIfAborted();
    const entries = await context.calls.track(async () => {
      const [found] = await context.read([{ find: { from, to, limit: PAGE, ...(after && { after }) } }]);
      return found as readonly IndexEntry[];
    });
    const found = await context.calls.track(() => dueOf(context, entries, workflow, leased));
    for (const one of found) {
      if (left <= 0) return;
      left -= 1;
      yield one;
    }
    after = entries.at(-1);
    if (entries.length < PAGE) return;
  }
}

/** Returns the threads of some entries that are still due and, without `leased`, that nobody has taken. */
async function dueOf(
  context: EngineContext,
  entries: readonly IndexEntry[],
  workflow: string | null,
  leased: boolean,
): Promise<readonly DueThread[]> {
  const metas = await context.read(entries.map(({ lineage, tape }) => ({ get: metaKey(lineage, tape) })));
  const now = context.clock();
  return metas.flatMap((value) => {
    const meta = value === undefined ? undefined : unlessDamaged(() => decodeMeta(value as Value));
    if (meta === undefined) return [];
    const { thread, due, lease, dead, index } = meta;
    const until = lease !== undefined && lease.expires > now ? lease.expires : undefined;
    if (dead || due === undefined || (index?.w ?? null) !== workflow) return [];
    if (until !== undefined) return leased ? [{ thread, due, leasedUntil: until }] : [];
    return [{ thread, due }];
  });
}

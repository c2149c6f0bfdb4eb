import type { Found, Read, TapeRecords, Value } from "../../backend.ts";
import { unlessDamaged } from "../faults/damage.ts";
import type { EngineContext } from "../memory/context.ts";
import { metaKey, rangeOf } from "../records/keys.ts";
import { decodeMeta, isGone, type Meta } from "../records/meta.ts";
import type { Row } from "../records/row.ts";
import { decodeTailSummary } from "../records/tail.ts";
import { NOW } from "../view/row-at.ts";

/** Facts about a thread from its newest records. */
export interface ThreadSummary {
  readonly meta: Meta;
  /** Its newest checkpoint, and the id of that one's parent. */
  readonly head: Row;
  readonly parent: string | null;
  /** How many checkpoints it shows. */
  readonly count: number;
}

/** The newest row, and the one before it, which mostly is its parent. */
const ROWS = 2;

/** The address of a tape whose thread is to be looked at; with `id`, only if it is that thread's. */
export interface TapePlace {
  readonly lineage: number;
  readonly tape: number;
  readonly id?: string;
  /** Its newest records, if they were read with the place. */
  readonly records?: TapeRecords | undefined;
}

/**
 * Looks at threads for a list of them, without reading all their unsealed rows, which can be many and large, and without
 * remembering any: those that are in use are not to be forgotten for a list. Returns a glance for each place; undefined for a
 * thread of which more has to be known, because its newest checkpoints were deleted, or something replaced, forked or failed.
 */
export async function threadSummaries(
  context: EngineContext,
  places: readonly TapePlace[],
): Promise<readonly (ThreadSummary | undefined)[]> {
  const others = places.filter(({ records }) => records === undefined);
  const reads: Read[] = [];
  for (const { lineage, tape } of others) {
    reads.push({ get: metaKey(lineage, tape) });
    reads.push({ scan: rangeOf({ lineage, number: tape }, "tail"), reverse: true, limit: ROWS });
  }
  const answers = reads.length === 0 ? [] : await context.read(reads);
  let next = 0;
  return places.map(({ id, records }) => {
    const meta = records ? records.meta : (answers[next++] as Value | undefined);
    const tail = records ? records.tail : (answers[next++] as readonly Found[]);
    // A damaged record has no summary: reading its tape names the fault.
    return meta === undefined ? undefined : unlessDamaged(() => summaryOf(id, meta, tail));
  });
}

function summaryOf(
  id: string | undefined,
  metaValue: Value,
  [newest, before]: readonly Found[],
): ThreadSummary | undefined {
  const meta = decodeMeta(metaValue);
  if (meta.thread !== (id ?? meta.thread) || meta.dead || meta.origin || meta.marks) return undefined;
  if (meta.index === undefined && (meta.failed || meta.controls)) return undefined;
  if (newest === undefined || isGone(meta, newest.item, NOW)) return undefined;
  const { row: head, count } = decodeTailSummary(newest.item, newest.value);
  if (head.namespace !== "") return undefined;
  const shown = { meta, head, count: count - meta.removed };
  if (head.parent === 0) return { ...shown, parent: null };
  if (before?.item !== head.parent || isGone(meta, before.item, NOW)) return undefined;
  return { ...shown, parent: decodeTailSummary(before.item, before.value).row.id };
}

import type { Found, Listed, Read, Value } from "../../backend.ts";
import { ifDamaged } from "../faults/damage.ts";
import type { Context } from "../memory/context.ts";
import { decodeDirectory } from "../records/directory.ts";
import { metaKey, rangeOf } from "../records/keys.ts";
import { decodeMeta, type Meta } from "../records/meta.ts";
import type { Row } from "../records/row.ts";
import { decodeTailRow } from "../records/tail.ts";

/** Facts about a thread from its newest records. */
export interface Glance {
  readonly meta: Meta;
  /** Its newest checkpoint, and the id of that one's parent. */
  readonly head: Row;
  readonly parent: string | null;
  /** How many checkpoints it shows. */
  readonly count: number;
}

/** The newest row, and the one before it, which mostly is its parent. */
const ROWS = 2;

/**
 * Looks at threads for a list of them, without reading all their unsealed rows, which can be many and large, and without
 * remembering any: those that are in use are not to be forgotten for a list. By id; a thread is missing of which more has
 * to be known, because something of it was deleted, replaced, forked or failed.
 */
export async function glances(context: Context, threads: readonly Listed[]): Promise<ReadonlyMap<string, Glance>> {
  const found = new Map<string, Glance>();
  const ids: string[] = [];
  const reads: Read[] = [];
  for (const { id, value } of threads) {
    const { tape, lineage } = readable(() => decodeDirectory(value)) ?? {};
    if (tape === undefined || lineage === undefined) continue;
    ids.push(id);
    reads.push({ get: metaKey(lineage, tape) });
    reads.push({ scan: rangeOf({ lineage, number: tape }, "tail"), reverse: true, limit: ROWS });
  }
  if (reads.length === 0) return found;
  const answers = await context.read(reads);
  for (const [index, id] of ids.entries()) {
    const meta = answers[2 * index] as Value | undefined;
    const rows = answers[2 * index + 1] as readonly Found[];
    const glance = meta === undefined ? undefined : readable(() => glanceOf(id, meta, rows));
    if (glance) found.set(id, glance);
  }
  return found;
}

function glanceOf(id: string, metaValue: Value, [newest, before]: readonly Found[]): Glance | undefined {
  const meta = decodeMeta(metaValue);
  if (meta.thread !== id || meta.dead || meta.origin || meta.gone || meta.marks || meta.failed) return undefined;
  if (newest === undefined) return undefined;
  const { row: head, count } = decodeTailRow(newest.item, newest.value);
  if (head.namespace !== "") return undefined;
  const shown = { meta, head, count };
  if (head.parent === 0) return { ...shown, parent: null };
  if (before?.item !== head.parent) return undefined;
  return { ...shown, parent: decodeTailRow(before.item, before.value).row.id };
}

/** Returns undefined for a damaged record: reading its tape names the fault. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    return ifDamaged(error);
  }
}

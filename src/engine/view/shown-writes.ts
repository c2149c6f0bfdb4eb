import type { Found, Read } from "../../backend.ts";
import { unwrapJson } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import type { Write } from "../../model/checkpoint.ts";
import { compareBytes, utf8 } from "../../platform/bytes.ts";
import { named } from "../faults/damage.ts";
import { levels } from "../lineage/levels.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { hashStrings } from "../records/hash.ts";
import { rangeOf } from "../records/keys.ts";
import type { Row } from "../records/row.ts";
import { isFor, type TaskWrites, visibleTasks } from "../records/writes.ts";
import { findById } from "./find.ts";

/** A write as stored, its value still encoded. */
export interface EncodedWrite extends Omit<Write, "value"> {
  readonly value: Json;
  /** When it was written. Bundles tell it of control writes, and those of earlier versions of none. */
  readonly at?: number;
}

/**
 * Returns all writes a thread shows for a checkpoint, by task (bytewise) and index. `own` are the records of its own
 * tape, if they were read already.
 */
export async function shownWrites(
  context: Context,
  tape: Tape,
  namespace: string,
  checkpoint: string,
  own?: readonly Found[],
): Promise<EncodedWrite[]> {
  const row = tape.meta.origin ? await findById(context, tape, namespace, checkpoint) : undefined;
  try {
    const all = await shownWritesOf(context, tape, namespace, [{ id: checkpoint, seq: row?.seq }], own && [own]);
    return all.get(checkpoint) ?? [];
  } catch (error) {
    throw named(error, tape.meta.thread, checkpoint);
  }
}

/** Returns the read of one tape's records of a checkpoint's writes. */
export function writesRead(lineage: number, tape: number, namespace: string, checkpoint: string): Read {
  const [item] = hashStrings(namespace, checkpoint);
  return { scan: rangeOf({ lineage, number: tape }, "write", item, item) };
}

/** Returns the writes of several checkpoints: in one read, and another for every fork that lies between. */
export async function shownWritesOf(
  context: Context,
  tape: Tape,
  namespace: string,
  checkpoints: readonly { readonly id: string; readonly seq: number | undefined }[],
  own?: readonly (readonly Found[])[],
): Promise<ReadonlyMap<string, EncodedWrite[]>> {
  const found = new Map(checkpoints.map(({ id }) => [id, new Map<string, EncodedWrite>()]));
  if (checkpoints.length === 0) return new Map();
  let sought = checkpoints;
  for await (const { tape: level, generation } of levels(context, tape)) {
    const { lineage, number, meta } = level;
    const reads = sought.map(({ id }) => writesRead(lineage, number, namespace, id));
    const known = level === tape ? own : undefined;
    const answers = known ?? ((await context.read(reads)) as readonly (readonly Found[])[]);
    sought = sought.filter(({ id, seq }, index) => {
      const cut = addShown(found.get(id) as Map<string, EncodedWrite>, answers[index] ?? [], namespace, id, generation);
      return !cut && meta.origin && seq !== undefined && seq <= meta.origin.upTo;
    });
    if (sought.length === 0) break;
  }
  return new Map([...found].map(([id, writes]) => [id, [...writes.values()].sort(byTaskAndIndex)]));
}

/** Returns the writes of rows of any namespaces, by seq. */
export async function writesOfRows(
  context: Context,
  tape: Tape,
  rows: readonly Row[],
): Promise<ReadonlyMap<number, readonly EncodedWrite[]>> {
  const writes = new Map<number, readonly EncodedWrite[]>();
  for (const namespace of new Set(rows.map((row) => row.namespace))) {
    const own = rows.filter((row) => row.namespace === namespace);
    const found = await shownWritesOf(context, tape, namespace, own);
    for (const { id, seq } of own) writes.set(seq, found.get(id) ?? []);
  }
  return writes;
}

/**
 * Adds the writes of one tape's records, unless a nearer tape has others in their place. Returns true if deeper tapes
 * do not count.
 */
function addShown(
  found: Map<string, EncodedWrite>,
  records: readonly Found[],
  namespace: string,
  checkpoint: string,
  generation: number,
): boolean {
  const address = { namespace, checkpoint };
  const tasks = records.flatMap((record) => unwrapJson(record.value) as readonly TaskWrites[]);
  const own = new Map<string, EncodedWrite>();
  for (const entry of visibleTasks(tasks, address, generation)) {
    for (const [index, channel, value] of entry.writes) {
      const { task, node = null, at } = entry;
      own.set(`${index}:${task}`, { task, node, index, channel, value, at });
    }
  }
  for (const [key, write] of own) if (!found.has(key)) found.set(key, write);
  return tasks.some((entry) => entry.cut && isFor(entry, address) && (entry.generation ?? 0) <= generation);
}

function byTaskAndIndex(left: EncodedWrite, right: EncodedWrite): number {
  return compareBytes(utf8(left.task), utf8(right.task)) || left.index - right.index;
}

import type { Answer, Found, Read, Value } from "../../backend.ts";
import { unwrapJson } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import { refersToState } from "../../codec/state-references.ts";
import type { Write } from "../../model/checkpoint.ts";
import { compareBytes, utf8 } from "../../platform/bytes.ts";
import { named } from "../faults/damage.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { hashStrings } from "../records/hash.ts";
import { rangeOf } from "../records/keys.ts";
import type { Row } from "../records/row.ts";
import { type CarriedTask, isFor, type TaskWrites, visibleTasks } from "../records/writes.ts";
import { carriedIn, type SoughtCheckpoint, whereCarried } from "./carried-writes.ts";
import { findById } from "./find.ts";
import { levels } from "./lineage/levels.ts";

/** A write as stored, its value still encoded. */
export interface EncodedWrite extends Omit<Write, "value"> {
  readonly value: Json;
  /** When it was written. Bundles tell it of control writes, and those of earlier versions of none. */
  readonly at?: number;
  /** The row whose state the value refers to, and a tape that holds or inherits it: see `withStateValues`. */
  readonly carriedBy?: { readonly tape: Tape; readonly seq: number };
}

/**
 * Returns all writes a thread shows for a checkpoint, by task (bytewise) and index. `own` are the records of its own
 * tape, if they were read already.
 */
export async function shownWrites(
  context: EngineContext,
  tape: Tape,
  namespace: string,
  checkpoint: string,
  own?: readonly Found[],
): Promise<EncodedWrite[]> {
  const row = await findById(context, tape, namespace, checkpoint);
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
  context: EngineContext,
  tape: Tape,
  namespace: string,
  checkpoints: readonly SoughtCheckpoint[],
  own?: readonly (readonly Found[])[],
): Promise<ReadonlyMap<string, EncodedWrite[]>> {
  const found = new Map(checkpoints.map(({ id }) => [id, new Map<string, EncodedWrite>()]));
  if (checkpoints.length === 0) return new Map();
  let sought = checkpoints;
  let upTo = Number.POSITIVE_INFINITY;
  for await (const { tape: remembered, generation } of levels(context, tape)) {
    // Of a fork's source only the rows that the fork shows are sure to stay as they are remembered. The row after the last of them
    // may carry writes, and be gone.
    const isLast = sought.some(({ seq }) => seq !== undefined && seq >= upTo);
    const { number, lineage } = remembered;
    const level = isLast ? ((await context.tapes.refresh(number, lineage)) ?? remembered) : remembered;
    const { meta } = level;
    const shownUpTo = upTo;
    upTo = meta.origin?.upTo ?? 0;
    const stored = await storedWrites(context, level, namespace, sought, level === tape ? own : undefined);
    sought = sought.filter((checkpoint, index) => {
      const { id, seq } = checkpoint;
      const shown = found.get(id) as Map<string, EncodedWrite>;
      const { records, carried } = stored[index] as StoredWrites;
      const cut = addShown(shown, records, namespace, id, generation);
      if (carried && seq !== undefined) {
        addCarried(shown, carried, { tape: seq < shownUpTo ? tape : level, seq: seq + 1 }, generation);
      }
      return !cut && meta.origin && seq !== undefined && seq <= meta.origin.upTo;
    });
    if (sought.length === 0) break;
  }
  return new Map([...found].map(([id, writes]) => [id, [...writes.values()].sort(byTaskAndIndex)]));
}

/** The writes against one checkpoint that a tape holds: as records of their own, and in the row that follows it. */
interface StoredWrites {
  readonly records: readonly Found[];
  readonly carried: readonly CarriedTask[] | undefined;
}

/**
 * Reads the writes that one tape holds, or takes those that are in memory.
 *
 * Invariant: what is not in memory is read in one call. A commit may move writes from their record into a row, or back: seen at
 * different moments, they would be in neither.
 */
async function storedWrites(
  context: EngineContext,
  level: Tape,
  namespace: string,
  sought: readonly SoughtCheckpoint[],
  own: readonly (readonly Found[])[] | undefined,
): Promise<readonly StoredWrites[]> {
  const { lineage, number } = level;
  for (let again = false; ; again = true) {
    const places = sought.map((checkpoint) => whereCarried(level, checkpoint, own !== undefined, again));
    const reads = new Map<string, Read>();
    for (const { reads: needed = [] } of places) for (const [name, read] of needed) reads.set(name, read);
    if (own && reads.size === 0) {
      return places.map(({ carried }, index) => ({ records: own[index] ?? [], carried }));
    }
    const scans = sought.map(({ id }) => writesRead(lineage, number, namespace, id));
    const answers = await context.read([...scans, ...reads.values()]);
    const names = [...reads.keys()];
    const answerOf = (name: string): Answer => answers[scans.length + names.indexOf(name)];
    const stored = places.map((place, index): StoredWrites | undefined => {
      const records = answers[index] as readonly Found[];
      if (!place.reads) return { records, carried: place.carried };
      const carried = carriedIn(place, answerOf as (name: string) => Value | readonly Found[] | undefined);
      return carried === "moved" && !again
        ? undefined
        : { records, carried: carried === "moved" ? undefined : carried };
    });
    // A pack that was at its place before was rewritten since: the second time, it is looked for.
    if (!stored.includes(undefined)) return stored as readonly StoredWrites[];
  }
}

/** Returns the writes of rows of any namespaces, by seq. */
export async function writesOfRows(
  context: EngineContext,
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

/** Adds the writes that a row carries, likewise. */
function addCarried(
  found: Map<string, EncodedWrite>,
  tasks: readonly CarriedTask[],
  carriedBy: { readonly tape: Tape; readonly seq: number },
  generation: number,
): void {
  for (const { task, node = null, generation: madeIn = 0, writes } of tasks) {
    if (madeIn > generation) continue;
    for (const [index, channel, value] of writes) {
      const key = `${index}:${task}`;
      if (found.has(key)) continue;
      found.set(key, { task, node, index, channel, value, ...(refersToState(value) && { carriedBy }) });
    }
  }
}

function byTaskAndIndex(left: EncodedWrite, right: EncodedWrite): number {
  return compareBytes(utf8(left.task), utf8(right.task)) || left.index - right.index;
}

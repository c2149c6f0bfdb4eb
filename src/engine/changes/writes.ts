import type { Entry, Key, Value } from "../../backend.ts";
import { refers, unwrapJson, wrap } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import type { LeaseToken } from "../../model/interface/options.ts";
import type { WritesResult } from "../../model/interface/results.ts";
import { shortText } from "../bodies/values/large-parts.ts";
import { ALONE, type Draft } from "../commits/draft/draft.ts";
import { isNewId } from "../commits/draft/draft-view.ts";
import { referValue } from "../commits/draft/refer-values.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { hashStrings } from "../records/hash.ts";
import type { Row } from "../records/row.ts";
import { checkRecord } from "../records/size-limits.ts";
import { versionOf, wrapReferring } from "../records/values.ts";
import { isFor, type StoredWrite, type TaskWrites, visibleTasks } from "../records/writes.ts";
import { decidesStatus } from "../view/head-status.ts";
import { NOW } from "../view/row-at.ts";
import { type EncodedWrite, shownWrites } from "../view/shown-writes.ts";
import { checkLease } from "./lease.ts";

export interface CapturedWrites {
  readonly namespace: string;
  readonly checkpoint: string;
  readonly task: string;
  readonly node: string | null;
  readonly writes: readonly StoredWrite[];
  readonly lease: LeaseToken | undefined;
  /** When they were written, if that was not now. */
  readonly at?: number | undefined;
  /** True if stored control writes stay, as data does, instead of being replaced. */
  readonly keep?: boolean;
}

export function writesChange(captured: CapturedWrites): ThreadChange<WritesResult> {
  return {
    patient: true,
    plan: async (draft) => {
      if (captured.lease) checkLease(draft, captured.lease);
      if (captured.writes.length === 0) return { stored: 0, ignored: 0 };
      return planBlind(draft, captured) ?? (await planOnStored(draft, captured));
    },
  };
}

/**
 * Plans without reading: usually a task writes once, on a thread that is no fork, so that the first attempt takes its record
 * to be absent, and the commit finds out. Returns undefined where storage has to be asked.
 */
function planBlind(draft: Draft, captured: CapturedWrites): WritesResult | undefined {
  const tape = draft.existing;
  if (!tape || draft.fresh || tape.meta.origin || mayBeCarried(draft, tape, captured)) return undefined;
  const key = writeKey(tape, captured);
  draft.carrying.release(draft.batch, key);
  if (draft.batch.inserts.some((entry) => isWrite(entry, key))) return undefined;
  return addWrites(draft, captured, { key, before: undefined }, 0, []);
}

/**
 * Returns true unless it is plain from memory that no row carries writes against this checkpoint. A row that others have added
 * since is noticed by the commit.
 */
function mayBeCarried(draft: Draft, tape: Tape, { namespace, checkpoint }: CapturedWrites): boolean {
  const isIt = (row: Row | undefined): row is Row => row?.id === checkpoint && row.namespace === namespace;
  if (isIt(draft.previous)) return false;
  const index = tape.tail.findLastIndex(({ row }) => isIt(row));
  if (index < 0) return !isNewId(draft, checkpoint);
  const next = tape.tail[index + 1] ?? draft.planned[0]?.tail;
  return next?.row.carries !== undefined;
}

/** Plans the writes of many checkpoints on a tape without rows: nothing of it was forked, replaced or deleted. */
export async function planAllWrites(draft: Draft, tape: Tape, all: readonly CapturedWrites[]): Promise<void> {
  const byKey = new Map<string, CapturedWrites[]>();
  for (const captured of all) {
    const { item, part } = writeKey(tape, captured);
    const name = `${item}:${part}`;
    const others = byKey.get(name);
    if (others) others.push(captured);
    else byKey.set(name, [captured]);
  }
  const records = [...byKey.values()].map((writes) => ({ writes, key: writeKey(tape, writes[0] as CapturedWrites) }));
  // Writes may have arrived before their checkpoint.
  const there = draft.existing ? await draft.context.read(records.map(({ key }) => ({ get: key }))) : [];
  for (const [index, { writes, key }] of records.entries()) {
    const stored = there[index] as Value | undefined;
    let value = stored;
    for (const captured of writes) {
      const { tasks, at } = merge(draft, captured, value, 0, []);
      noteControls(draft, captured, at);
      value = encodeTasks(draft, tape, tasks);
      checkRecord(draft.context, draft.thread, value, `what task ${JSON.stringify(captured.task)} wrote`);
    }
    addRecord(draft, key, stored, value as Value);
  }
}

/** Notes the writes of a draft that may change the status of its thread. */
function noteControls(draft: Draft, { namespace, checkpoint, task, node, writes }: CapturedWrites, at: number): void {
  for (const [index, channel, value] of writes) {
    if (!decidesStatus(index)) continue;
    draft.controls.push({ namespace, checkpoint, task, node, index, channel, value, at });
    if (!draft.meta?.controls) draft.change({ controls: true });
  }
}

async function planOnStored(draft: Draft, captured: CapturedWrites): Promise<WritesResult> {
  const known = draft.existing;
  // Rows that are planned, but not committed, cannot be read.
  if (draft.planned.some(({ tail }) => tail.row.carries !== undefined)) throw ALONE;
  const tape = await draft.tape();
  const key = writeKey(tape, captured);
  draft.carrying.release(draft.batch, key);
  const planned = draft.batch.inserts.find((entry) => isWrite(entry, key));
  let before = planned?.value;
  if (!planned && known && (draft.fresh || known.meta.origin)) {
    if (draft.batch.puts.some((entry) => isWrite(entry, key))) throw ALONE;
    [before] = (await draft.context.read([{ get: key }])) as readonly (Value | undefined)[];
  }
  const since = before !== undefined && known ? await cutOf(draft.context, known, captured) : 0;
  const isApart = known !== undefined && (known.meta.origin !== undefined || mayBeCarried(draft, known, captured));
  const inherited = isApart ? await shownWrites(draft.context, known, captured.namespace, captured.checkpoint) : [];
  return addWrites(draft, captured, { key, before, planned }, since, inherited);
}

/** The record of a task: as it is stored `before`, or `planned` earlier on the same draft. */
interface TaskRecord {
  readonly key: Key;
  readonly before: Value | undefined;
  readonly planned?: Entry | undefined;
}

function addWrites(
  draft: Draft,
  captured: CapturedWrites,
  { key, before, planned }: TaskRecord,
  since: number,
  inherited: readonly EncodedWrite[],
): WritesResult {
  const { tasks, at, result } = merge(draft, captured, before, since, inherited);
  if (result.stored === 0) return result;
  noteControls(draft, captured, at);
  const encode = (): Value => {
    const value = encodeTasks(draft, draft.target as Tape, tasks);
    checkRecord(draft.context, draft.thread, value, `what task ${JSON.stringify(captured.task)} wrote`);
    return value;
  };
  const isNew = !planned && before === undefined && tasks.length === 1;
  // Mostly a row carries the writes, and the record is never made.
  if (!isNew || !draft.carry({ key, entry: tasks[0] as TaskWrites, encode })) {
    const value = encode();
    // A control write that is replaced may have been the last to refer to a large value.
    if (before !== undefined && refers(before)) draft.collect((draft.target as Tape).lineage);
    draft.weigh(value);
    const { inserts } = draft.batch;
    if (planned) inserts[inserts.indexOf(planned)] = { key, value };
    else addRecord(draft, key, before, value);
  }
  draft.tell("writes", captured.namespace, captured.checkpoint);
  return result;
}

/** Encodes the record of a task, with references in place of large values. */
function encodeTasks(draft: Draft, { lineage }: Tape, tasks: readonly TaskWrites[]): Value {
  const json = shortText(tasks as unknown as Json, draft.context.largeFrom);
  if (json !== undefined) return wrap(json, "none", versionOf(json));
  const referred = tasks.map((entry) => ({
    ...entry,
    writes: entry.writes.map(([index, channel, value]) => [index, channel, referValue(draft, lineage, value)]),
  }));
  return wrapReferring(referred);
}

/** Adds a record in place of `before`, which must still be there: writes of other stores leave the meta record alone. */
function addRecord({ batch }: Draft, key: Key, before: Value | undefined, value: Value): void {
  if (before === undefined) batch.insert(key, value);
  else {
    batch.check(key, before);
    batch.put(key, value);
  }
}

function isWrite({ key }: Entry, other: Key): boolean {
  return key.table === "write" && sameKey(key as Key, other);
}

function sameKey(left: Key, right: Key): boolean {
  return left.group === right.group && left.item === right.item && left.part === right.part;
}

function writeKey(tape: Tape, address: Pick<CapturedWrites, "namespace" | "checkpoint" | "task">): Key {
  const { item, part } = placeOf(address.namespace, address.checkpoint, address.task);
  return tape.key("write", item, part);
}

/** Returns the place of a task's record among those of its tape. */
export function placeOf(
  namespace: string,
  checkpoint: string,
  task: string,
): { readonly item: number; readonly part: number } {
  const [item] = hashStrings(namespace, checkpoint);
  const [part] = hashStrings(task);
  return { item, part };
}

/** The part under which the cut of a checkpoint's writes is kept, apart from every task's. */
export const CUT_TASK = "\0cut";

export function cutKey(tape: Tape, address: Pick<CapturedWrites, "namespace" | "checkpoint">): Key {
  return writeKey(tape, { ...address, task: CUT_TASK });
}

/** Returns the generation in which a checkpoint of this id was last deleted: earlier writes were that one's. */
async function cutOf(context: EngineContext, tape: Tape, captured: CapturedWrites): Promise<number> {
  const [value] = (await context.read([{ get: cutKey(tape, captured) }])) as readonly (Value | undefined)[];
  const entries = value === undefined ? [] : (unwrapJson(value) as readonly TaskWrites[]);
  return Math.max(
    0,
    ...entries.filter((entry) => entry.cut && isFor(entry, captured)).map((entry) => entry.generation ?? 0),
  );
}

/** The least time between two calls of a task. */
const TICK = 1 / 1000;

/**
 * Merges captured writes into a task's record: stored data stays as it is, control is replaced.
 *
 * Invariant: of a task's writes, those of a later call have a later time, which tells an answer from an earlier question.
 */
function merge(
  draft: Draft,
  captured: CapturedWrites,
  before: Value | undefined,
  since: number,
  inherited: readonly EncodedWrite[],
): { readonly tasks: readonly TaskWrites[]; readonly at: number; readonly result: WritesResult } {
  const generation = draft.meta?.generation ?? 0;
  const tasks = before === undefined ? [] : (unwrapJson(before) as readonly TaskWrites[]);
  const source = inherited.filter((write) => write.task === captured.task);
  const taken = new Set(source.map((write) => write.index));
  const visible = visibleTasks(tasks, captured, NOW).filter(
    (entry) => entry.task === captured.task && (entry.generation ?? 0) >= since,
  );
  for (const entry of visible) for (const [index] of entry.writes) taken.add(index);
  const times = [...visible, ...source].map(({ at = 0 }) => at + TICK);
  const at = Math.max(captured.at ?? draft.context.clock(), ...times);
  const fresh: StoredWrite[] = [];
  const control = new Set<number>();
  for (const write of captured.writes) {
    const [index] = write;
    if ((index >= 0 || captured.keep) && taken.has(index)) continue;
    taken.add(index);
    if (index >= 0) fresh.push(write);
    else {
      if (control.has(index))
        fresh.splice(
          fresh.findIndex(([other]) => other === index),
          1,
        );
      control.add(index);
      fresh.push(write);
    }
  }
  const kept = tasks
    .map((entry) =>
      entry.task === captured.task && isFor(entry, captured) && (entry.generation ?? 0) === generation && !entry.cut
        ? { ...entry, writes: entry.writes.filter(([index]) => !control.has(index)) }
        : entry,
    )
    .filter((entry) => entry.cut || entry.writes.length > 0);
  const added: TaskWrites = {
    checkpoint: captured.checkpoint,
    ...(captured.namespace !== "" && { namespace: captured.namespace }),
    task: captured.task,
    ...(captured.node !== null && { node: captured.node }),
    at,
    ...(generation !== 0 && { generation }),
    writes: fresh,
  };
  const stored = fresh.length;
  return { tasks: [...kept, added], at, result: { stored, ignored: captured.writes.length - stored } };
}

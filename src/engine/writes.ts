import type { Entry, Found, Key, Read, Value } from "../backend.ts";
import { unwrapJson, wrap } from "../codec/envelope.ts";
import type { Json } from "../codec/json.ts";
import type { LeaseToken } from "../model/arguments.ts";
import type { Write } from "../model/checkpoint.ts";
import { ALONE, type Draft } from "./draft.ts";
import type { Engine } from "./engine.ts";
import { findById } from "./find.ts";
import { hashStrings } from "./hash.ts";
import type { Change } from "./lane.ts";
import { checkLease } from "./lease.ts";
import { named } from "./read.ts";
import type { Row } from "./row.ts";
import type { Tape } from "./tape.ts";
import { NOW } from "./view.ts";

/** An error write at the head makes a thread `failed`. */
export const ERROR_INDEX = -1;

/** One write: index, channel, encoded value. */
type StoredWrite = readonly [index: number, channel: string, value: Json];

/** The writes of one task against one checkpoint, made in one generation. Hashes may collide; a record holds several. */
export interface TaskWrites {
  readonly checkpoint: string;
  readonly namespace?: string;
  readonly task: string;
  readonly node?: string;
  readonly at: number;
  readonly generation?: number;
  readonly writes: readonly StoredWrite[];
  /** The checkpoint was deleted in this generation: what was written before is not shown. */
  readonly cut?: true;
}

export interface CapturedWrites {
  readonly namespace: string;
  readonly checkpoint: string;
  readonly task: string;
  readonly node: string | null;
  readonly writes: readonly StoredWrite[];
  readonly lease: LeaseToken | undefined;
}

export interface WritesResult {
  readonly stored: number;
  readonly ignored: number;
}

export function writesChange(captured: CapturedWrites): Change<WritesResult> {
  return {
    patient: true,
    plan: (draft) => {
      if (captured.lease) checkLease(draft, captured.lease);
      if (captured.writes.length === 0) return { stored: 0, ignored: 0 };
      return planBlind(draft, captured) ?? planSlowly(draft, captured);
    },
  };
}

/**
 * Usually a task writes once, on a thread that is no fork: the first attempt takes its record to be absent, and the commit
 * finds out. Undefined where storage has to be asked.
 */
function planBlind(draft: Draft, captured: CapturedWrites): WritesResult | undefined {
  const tape = draft.existing;
  if (!tape || draft.fresh || tape.meta.origin) return undefined;
  const key = writeKey(tape, captured);
  if (draft.inserts.some((entry) => isWrite(entry, key))) return undefined;
  return addWrites(draft, captured, { key, before: undefined }, 0, []);
}

async function planSlowly(draft: Draft, captured: CapturedWrites): Promise<WritesResult> {
  const known = draft.existing;
  const tape = await draft.tape();
  const key = writeKey(tape, captured);
  const planned = draft.inserts.find((entry) => isWrite(entry, key));
  let before = planned?.value;
  if (!planned && known && (draft.fresh || known.meta.origin)) {
    if (draft.puts.some((entry) => isWrite(entry, key))) throw ALONE;
    [before] = (await draft.engine.read([{ get: key }])) as readonly (Value | undefined)[];
  }
  const since = before !== undefined && known ? await cutOf(draft.engine, known, captured) : 0;
  const inherited = known?.meta.origin
    ? await shownWrites(draft.engine, known, captured.namespace, captured.checkpoint)
    : [];
  return addWrites(draft, captured, { key, before, planned }, since, inherited);
}

/** A task's record: what is stored of it, or `planned` earlier in the same draft. */
interface Place {
  readonly key: Key;
  readonly before: Value | undefined;
  readonly planned?: Entry | undefined;
}

function addWrites(
  draft: Draft,
  captured: CapturedWrites,
  { key, before, planned }: Place,
  since: number,
  inherited: readonly EncodedWrite[],
): WritesResult {
  const { tasks, result } = merge(draft, captured, before, since, inherited);
  const fails = captured.writes.some(([index]) => index === ERROR_INDEX);
  if (fails && !draft.meta?.failed) draft.change({ failed: true });
  if (result.stored === 0) return result;
  const value = wrap(JSON.stringify(tasks));
  if (planned) draft.inserts[draft.inserts.indexOf(planned)] = { key, value };
  else if (before === undefined) draft.inserts.push({ key, value });
  else {
    draft.checks.push({ key, value: before });
    draft.puts.push({ key, value });
  }
  return result;
}

function isWrite({ key }: Entry, other: Key): boolean {
  return key.table === "write" && sameKey(key as Key, other);
}

function sameKey(left: Key, right: Key): boolean {
  return left.group === right.group && left.item === right.item && left.part === right.part;
}

function writeKey(tape: Tape, address: Pick<CapturedWrites, "namespace" | "checkpoint" | "task">): Key {
  const [item] = hashStrings(address.namespace, address.checkpoint);
  const [part] = hashStrings(address.task);
  return tape.key("write", item, part);
}

/** The part under which the cut of a checkpoint's writes is kept, apart from every task's. */
export const CUT_TASK = "\0cut";

export function cutKey(tape: Tape, address: Pick<CapturedWrites, "namespace" | "checkpoint">): Key {
  return writeKey(tape, { ...address, task: CUT_TASK });
}

/** The generation in which a checkpoint of this id was last deleted: what was written before is not this one's. */
async function cutOf(engine: Engine, tape: Tape, captured: CapturedWrites): Promise<number> {
  const [value] = (await engine.read([{ get: cutKey(tape, captured) }])) as readonly (Value | undefined)[];
  const entries = value === undefined ? [] : (unwrapJson(value) as readonly TaskWrites[]);
  return Math.max(
    0,
    ...entries.filter((entry) => entry.cut && isFor(entry, captured)).map((entry) => entry.generation ?? 0),
  );
}

/** Data that is there is left as it is; control is replaced. */
function merge(
  draft: Draft,
  captured: CapturedWrites,
  before: Value | undefined,
  since: number,
  inherited: readonly EncodedWrite[],
): { readonly tasks: readonly TaskWrites[]; readonly result: WritesResult } {
  const generation = draft.meta?.generation ?? 0;
  const tasks = before === undefined ? [] : (unwrapJson(before) as readonly TaskWrites[]);
  const taken = new Set(inherited.filter((write) => write.task === captured.task).map((write) => write.index));
  const visible = visibleTasks(tasks, captured, NOW).filter(
    (entry) => entry.task === captured.task && (entry.generation ?? 0) >= since,
  );
  for (const entry of visible) for (const [index] of entry.writes) taken.add(index);
  const fresh: StoredWrite[] = [];
  const control = new Set<number>();
  for (const write of captured.writes) {
    const [index] = write;
    if (index >= 0 && taken.has(index)) continue;
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
    at: draft.engine.clock(),
    ...(generation !== 0 && { generation }),
    writes: fresh,
  };
  const stored = fresh.length;
  return { tasks: [...kept, added], result: { stored, ignored: captured.writes.length - stored } };
}

function isFor(entry: TaskWrites, address: { readonly namespace: string; readonly checkpoint: string }): boolean {
  return entry.checkpoint === address.checkpoint && (entry.namespace ?? "") === address.namespace;
}

/** The entries for a checkpoint that a view of this generation sees, oldest first, and none from before a deletion. */
function visibleTasks(
  tasks: readonly TaskWrites[],
  address: { readonly namespace: string; readonly checkpoint: string },
  generation: number,
): TaskWrites[] {
  const seen = tasks.filter((entry) => isFor(entry, address) && (entry.generation ?? 0) <= generation);
  const cut = Math.max(-1, ...seen.filter((entry) => entry.cut).map((entry) => entry.generation ?? 0));
  return seen.filter((entry) => !entry.cut && (entry.generation ?? 0) >= cut);
}

/** A write as stored, its value still encoded. */
export interface EncodedWrite extends Omit<Write, "value"> {
  readonly value: Json;
}

/** All writes a thread shows for a checkpoint, by task (bytewise) and index. `own` is what its own tape has of them. */
export async function shownWrites(
  engine: Engine,
  tape: Tape,
  namespace: string,
  checkpoint: string,
  own?: readonly Found[],
): Promise<EncodedWrite[]> {
  const row = tape.meta.origin ? await findById(engine, tape, namespace, checkpoint) : undefined;
  try {
    const all = await shownWritesOf(engine, tape, namespace, [{ id: checkpoint, seq: row?.seq }], own && [own]);
    return all.get(checkpoint) ?? [];
  } catch (error) {
    throw named(error, tape.meta.thread, checkpoint);
  }
}

/** Reads what one tape has of a checkpoint's writes. */
export function writesRead(lineage: number, tape: number, namespace: string, checkpoint: string): Read {
  const [item] = hashStrings(namespace, checkpoint);
  return { scan: { table: "write", lineage, group: tape, from: item, to: item } };
}

/** The same for several checkpoints: one read, and another for every fork that lies between. */
export async function shownWritesOf(
  engine: Engine,
  tape: Tape,
  namespace: string,
  checkpoints: readonly { readonly id: string; readonly seq: number | undefined }[],
  own?: readonly (readonly Found[])[],
): Promise<ReadonlyMap<string, EncodedWrite[]>> {
  const found = new Map(checkpoints.map(({ id }) => [id, new Map<string, EncodedWrite>()]));
  let sought = checkpoints;
  let level = tape;
  let generation = NOW;
  while (sought.length > 0) {
    const { lineage, number, meta } = level;
    const reads = sought.map(({ id }) => writesRead(lineage, number, namespace, id));
    const known = level === tape ? own : undefined;
    const answers = known ?? ((await engine.read(reads)) as readonly (readonly Found[])[]);
    const deeper = sought.filter(({ id, seq }, index) => {
      const cut = addShown(found.get(id) as Map<string, EncodedWrite>, answers[index] ?? [], namespace, id, generation);
      return !cut && meta.origin && seq !== undefined && seq <= meta.origin.upTo;
    });
    if (!meta.origin) break;
    sought = deeper;
    generation = meta.origin.generation;
    if (sought.length > 0) level = await engine.sourceOf(level, meta.origin);
  }
  return new Map([...found].map(([id, writes]) => [id, [...writes.values()].sort(byTaskAndIndex)]));
}

/** The writes of rows of any namespaces, by seq. */
export async function writesOfRows(
  engine: Engine,
  tape: Tape,
  rows: readonly Row[],
): Promise<ReadonlyMap<number, readonly EncodedWrite[]>> {
  const writes = new Map<number, readonly EncodedWrite[]>();
  for (const namespace of new Set(rows.map((row) => row.namespace))) {
    const own = rows.filter((row) => row.namespace === namespace);
    const found = await shownWritesOf(engine, tape, namespace, own);
    for (const { id, seq } of own) writes.set(seq, found.get(id) ?? []);
  }
  return writes;
}

/** Adds what one tape's records hold for a checkpoint, unless a nearer tape had a word on it; true: nothing deeper counts. */
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
      own.set(`${index}:${entry.task}`, { task: entry.task, node: entry.node ?? null, index, channel, value });
    }
  }
  for (const [key, write] of own) if (!found.has(key)) found.set(key, write);
  return tasks.some((entry) => entry.cut && isFor(entry, address) && (entry.generation ?? 0) <= generation);
}

function byTaskAndIndex(left: EncodedWrite, right: EncodedWrite): number {
  return Buffer.compare(Buffer.from(left.task), Buffer.from(right.task)) || left.index - right.index;
}

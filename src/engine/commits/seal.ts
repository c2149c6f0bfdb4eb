import type { Key, Value } from "../../backend.ts";
import type { Pieces } from "../../codec/delta/index.ts";
import { refers, unwrapJson, wrapJson } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import { addNames } from "../../codec/references.ts";
import { timeOfAddressed } from "../../model/id.ts";
import { announce } from "../../platform/diagnostics.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { hashStrings } from "../records/hash.ts";
import { withHead } from "../records/heads.ts";
import { PACK_TABLES, rangeOf } from "../records/keys.ts";
import type { Meta } from "../records/meta.ts";
import { type EncodedPack, encodingPack } from "../records/pack/encode.ts";
import type { Frame } from "../records/pack/pack.ts";
import type { Row } from "../records/row.ts";
import { type TailRow, tailChange } from "../records/tail.ts";
import type { Draft } from "./draft/draft.ts";

/** Rows that follow each other, and the pack that takes their place. */
export interface SealedRun {
  readonly rows: readonly TailRow[];
  readonly pack: EncodedPack;
}

/** Encodes the pack of some rows, in pieces. */
export function* encodingRun(context: EngineContext, tape: number, rows: readonly TailRow[]): Pieces<SealedRun> {
  const frames: Frame[] = [];
  const names = new Map<string, number>();
  for (const { row, value, change = tailChange(value), carried } of rows) {
    frames.push({ row, change, writes: carried });
    // Few records refer to large values; walking the others, full frames among them, would take longer than the rest of the seal.
    if (refers(value)) addNames([change, carried ?? null] as unknown as Json, names);
    yield;
  }
  return { rows, pack: yield* encodingPack(tape, frames, context.compression, names) };
}

/** Moves the oldest rows of the tail into their packs. */
export async function sealRuns(draft: Draft, tape: Tape, runs: readonly SealedRun[]): Promise<void> {
  const before = draft.meta as Meta;
  const sealed = runs.flatMap(({ rows }) => rows);
  const last = sealed.at(-1) as TailRow;
  let { rootFull } = before;
  for (const { pack } of runs) {
    for (const table of PACK_TABLES) {
      draft.batch.insert(tape.key(table, pack.last), pack[table]);
    }
    rootFull = pack.full.get("") ?? rootFull;
  }
  announce("seal", { thread: draft.thread, rows: sealed.length, packs: runs.length });
  const from = (sealed[0] as TailRow).row.seq;
  draft.batch.delete(rangeOf(tape, "tail", from, last.row.seq));
  const supplied: Row[] = [];
  for (const { row } of sealed) if (timeOfAddressed(row.id, tape.number, row.seq) === undefined) supplied.push(row);
  draft.change({
    rootStep: risingStep(before, sealed),
    sealed: last.row.seq,
    rootSealed: last.root || before.rootSealed,
    rootFull,
    greatestId: greatestOf(before.greatestId, supplied),
  });
  await addToIndexes(draft, [...idEntries(tape, supplied), ...headEntries(tape, sealed)]);
}

/** Returns the last step of the root, if steps have only risen so far; undefined once they have not. */
function risingStep(meta: Meta, sealed: readonly TailRow[]): number | undefined {
  let last = meta.rootSealed === 0 ? Number.NEGATIVE_INFINITY : (meta.rootStep ?? Number.POSITIVE_INFINITY);
  for (const { row } of sealed) {
    if (row.namespace !== "") continue;
    if (row.step <= last) return undefined;
    last = row.step;
  }
  return Number.isFinite(last) ? last : undefined;
}

function greatestOf(greatest: string | undefined, rows: readonly Row[]): string | undefined {
  return rows.reduce((most, { id }) => (most === undefined || id > most ? id : most), greatest);
}

/** An addition to a record of an index. */
interface IndexEntry {
  readonly key: Key;
  add(before: unknown): unknown;
}

/** Returns index entries for sealed rows with supplied ids, which do not contain an address and are no longer found in the tail. */
function idEntries(tape: Tape, supplied: readonly Row[]): IndexEntry[] {
  return supplied.map(({ namespace, id, seq }) => ({
    key: tape.key("id", ...hashStrings(namespace, id)),
    add: (before) => [...((before ?? []) as number[]), seq],
  }));
}

function headEntries(tape: Tape, sealed: readonly TailRow[]): IndexEntry[] {
  const heads = new Map<string, { readonly seq: number; readonly greatestId: string }>();
  for (const { row } of sealed) {
    if (row.namespace === "") continue;
    const greatest = heads.get(row.namespace)?.greatestId ?? "";
    heads.set(row.namespace, { seq: row.seq, greatestId: greatest > row.id ? greatest : row.id });
  }
  return [...heads].map(([namespace, { seq, greatestId }]) => ({
    key: tape.key("head", ...hashStrings(namespace)),
    add: (before) => withHead(before, namespace, seq, greatestId),
  }));
}

/** Adds entries to the records of the indexes. Hashes may collide: a record that several entries belong to is written once. */
async function addToIndexes(draft: Draft, entries: readonly IndexEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const byKey = new Map<string, [IndexEntry, ...IndexEntry[]]>();
  for (const entry of entries) {
    const { table, item, part } = entry.key;
    const name = `${table}:${item}:${part}`;
    const others = byKey.get(name);
    if (others === undefined) byKey.set(name, [entry]);
    else others.push(entry);
  }
  const records = [...byKey.values()];
  const found = await draft.context.read(records.map(([{ key }]) => ({ get: key })));
  for (const [position, additions] of records.entries()) {
    const before = found[position] as Value | undefined;
    let value: unknown = before === undefined ? undefined : unwrapJson(before);
    for (const { add } of additions) value = add(value);
    draft.batch.put(additions[0].key, wrapJson(value));
  }
}

import type { Key, Value } from "../../backend.ts";
import { unwrapJson, wrapJson } from "../../codec/envelope.ts";
import { timeOfAddressed } from "../../model/id.ts";
import type { Tape } from "../memory/tape.ts";
import { hashStrings } from "../records/hash.ts";
import { withHead } from "../records/heads.ts";
import { PACK_TABLES, rangeOf } from "../records/keys.ts";
import type { Meta } from "../records/meta.ts";
import { encodePack } from "../records/pack/encode.ts";
import type { Row } from "../records/row.ts";
import { type TailRow, tailChange } from "../records/tail.ts";
import type { Draft } from "./draft.ts";

/** Moves the oldest rows of the tail into packs, one for each run. */
export async function sealRows(draft: Draft, tape: Tape, runs: readonly (readonly TailRow[])[]): Promise<void> {
  const before = draft.meta as Meta;
  const sealed = runs.flat();
  const last = sealed.at(-1) as TailRow;
  let { rootFull } = before;
  for (const run of runs) {
    const frames = run.map(({ row, value, change = tailChange(value) }) => ({ row, change }));
    const pack = encodePack(tape.number, frames, draft.context.compression);
    for (const table of PACK_TABLES) {
      draft.batch.insert(tape.key(table, pack.last), pack[table]);
    }
    rootFull = pack.full.get("") ?? rootFull;
  }
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

/** Indexes the sealed rows whose supplied id does not tell their address: looking through the tail no longer finds them. */
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

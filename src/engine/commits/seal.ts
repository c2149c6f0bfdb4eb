import type { DirectoryKey, Entry, Key, Range, Value } from "../../backend.ts";
import { unwrapJson, wrapJson } from "../../codec/envelope.ts";
import { timeOfAddressed } from "../../model/id.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { hashStrings } from "../records/hash.ts";
import { withHead } from "../records/heads.ts";
import { PACK_TABLES, rangeOf } from "../records/keys.ts";
import type { Meta } from "../records/meta.ts";
import { encodePack } from "../records/pack/encode.ts";
import type { Row } from "../records/row.ts";
import { type TailRow, tailChange } from "../records/tail.ts";

/** The part of a draft that a seal adds to. */
interface SealingDraft {
  readonly context: Context;
  readonly meta: Meta | undefined;
  readonly inserts: Entry[];
  readonly deletes: (Key | DirectoryKey | Range)[];
  readonly puts: Entry[];
  change(change: { readonly [K in keyof Meta]?: Meta[K] | undefined }): void;
}

/** Moves the oldest rows of the tail into packs, one for each run. A promise only where an index has to be read. */
export function sealRows(
  draft: SealingDraft,
  tape: Tape,
  runs: readonly (readonly TailRow[])[],
): Promise<void> | undefined {
  const before = draft.meta as Meta;
  const sealed = runs.flat();
  const last = sealed.at(-1) as TailRow;
  let { rootFull } = before;
  for (const run of runs) {
    const frames = run.map(({ row, value, change = tailChange(value) }) => ({ row, change }));
    const pack = encodePack(tape.number, frames, draft.context.compression);
    for (const table of PACK_TABLES) {
      draft.inserts.push({ key: tape.key(table, pack.last), value: pack[table] });
    }
    rootFull = pack.full.get("") ?? rootFull;
  }
  const from = (sealed[0] as TailRow).row.seq;
  draft.deletes.push(rangeOf(tape, "tail", from, last.row.seq));
  const supplied: Row[] = [];
  for (const { row } of sealed) if (timeOfAddressed(row.id, tape.number, row.seq) === undefined) supplied.push(row);
  draft.change({
    rootStep: risingStep(before, sealed),
    sealed: last.row.seq,
    rootSealed: last.root || before.rootSealed,
    rootFull,
    greatestId: greatestOf(before.greatestId, supplied),
  });
  return index(draft, [...idEntries(tape, supplied), ...headEntries(tape, sealed)]);
}

/** The last step of the root, if steps still only rise; undefined once they have not. */
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

/** What one row adds to a record of an index. */
interface IndexEntry {
  readonly key: Key;
  add(before: unknown): unknown;
}

/** Sealed rows are no longer found by looking through the tail; those whose id does not tell where get an index. */
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

/** Hashes may collide: what several entries add to one record is read and written once. */
function index(draft: SealingDraft, entries: readonly IndexEntry[]): Promise<void> | undefined {
  if (entries.length === 0) return undefined;
  const byKey = new Map<string, [IndexEntry, ...IndexEntry[]]>();
  for (const entry of entries) {
    const { table, item, part } = entry.key;
    const place = `${table}:${item}:${part}`;
    const others = byKey.get(place);
    if (others === undefined) byKey.set(place, [entry]);
    else others.push(entry);
  }
  const records = [...byKey.values()];
  return draft.context.read(records.map(([{ key }]) => ({ get: key }))).then((found) => {
    for (const [position, additions] of records.entries()) {
      const before = found[position] as Value | undefined;
      let value: unknown = before === undefined ? undefined : unwrapJson(before);
      for (const { add } of additions) value = add(value);
      draft.puts.push({ key: additions[0].key, value: wrapJson(value) });
    }
  });
}

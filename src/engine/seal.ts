import type { Key, Value } from "../backend.ts";
import { unwrapJson, wrap } from "../codec/envelope.ts";
import { idAddress } from "../model/id.ts";
import type { Draft } from "./draft.ts";
import { hashStrings } from "./hash.ts";
import type { Meta } from "./meta.ts";
import { encodePack } from "./pack.ts";
import { type TailRow, type Tape, tailChange } from "./tape.ts";

/** Rows of a tail before they are sealed into a pack. */
export const PACK_ROWS = 64;

/** Moves rows from the tail into packs, as part of a draft. */
export async function sealRows(draft: Draft, tape: Tape, sealed: readonly TailRow[]): Promise<void> {
  const before = draft.meta as Meta;
  const last = sealed.at(-1) as TailRow;
  let { rootFull } = before;
  for (let start = 0; start < sealed.length; start += PACK_ROWS) {
    const frames = sealed.slice(start, start + PACK_ROWS).map(({ row, value }) => ({ row, change: tailChange(value) }));
    const pack = encodePack(tape.number, frames, draft.engine.compression);
    for (const table of ["rows", "net", "steps"] as const) {
      draft.inserts.push({ key: tape.key(table, pack.last), value: pack[table] });
    }
    rootFull = pack.full.get("") ?? rootFull;
  }
  const from = (sealed[0] as TailRow).row.seq;
  draft.deletes.push({ table: "tail", lineage: tape.lineage, group: tape.number, from, to: last.row.seq });
  const greatestId = await indexIds(draft, tape, sealed);
  await indexHeads(draft, tape, sealed);
  draft.change({
    rootStep: risingStep(before, sealed),
    sealed: last.row.seq,
    rootSealed: last.root || before.rootSealed,
    rootFull,
    greatestId,
  });
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

/** Sealed rows are no longer found by looking through the tail; those whose id does not tell where get an index. */
async function indexIds(draft: Draft, tape: Tape, sealed: readonly TailRow[]): Promise<string | undefined> {
  let greatest = draft.meta?.greatestId;
  const supplied = new Map<string, { readonly key: Key; readonly seqs: number[] }>();
  for (const { row } of sealed) {
    const address = idAddress(row.id);
    if (address && address.tape === tape.number && address.seq === row.seq) continue;
    const [item, part] = hashStrings(row.namespace, row.id);
    const entry = supplied.get(`${item}:${part}`) ?? { key: tape.key("id", item, part), seqs: [] };
    entry.seqs.push(row.seq);
    supplied.set(`${item}:${part}`, entry);
    if (greatest === undefined || row.id > greatest) greatest = row.id;
  }
  const entries = [...supplied.values()];
  if (entries.length === 0) return greatest;
  const found = await draft.engine.read(entries.map(({ key }) => ({ get: key })));
  for (const [index, { key, seqs }] of entries.entries()) {
    const before = found[index] === undefined ? [] : (unwrapJson(found[index] as Value) as number[]);
    draft.puts.push({ key, value: wrap(JSON.stringify([...before, ...seqs])) });
  }
  return greatest;
}

async function indexHeads(draft: Draft, tape: Tape, sealed: readonly TailRow[]): Promise<void> {
  const heads = new Map<string, number>();
  for (const { row } of sealed) if (row.namespace !== "") heads.set(row.namespace, row.seq);
  if (heads.size === 0) return;
  const keys = [...heads.keys()].map((namespace) => tape.key("head", ...hashStrings(namespace)));
  const found = await draft.engine.read(keys.map((key) => ({ get: key })));
  for (const [index, [namespace, seq]] of [...heads].entries()) {
    const before = found[index] === undefined ? {} : (unwrapJson(found[index] as Value) as Record<string, number>);
    draft.puts.push({ key: keys[index] as Key, value: wrap(JSON.stringify({ ...before, [namespace]: seq })) });
  }
}

import type { Found, Table, Value } from "../../backend.ts";
import { isReplacement } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import { jsonBytes } from "../../codec/json-text.ts";
import type { CheckpointSize, ThreadSize } from "../../model/arguments.ts";
import { FrameReader } from "../bodies/frame-reader.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { rangeOf } from "../records/keys.ts";
import { decodeRows } from "../records/pack/rows.ts";
import { decodeTailRow } from "../records/tail.ts";
import { homeOf, type Shown } from "../view/row-at.ts";

const PAGE = 64;

/** Reads every record of the thread's own tape once and adds up what it takes. */
export async function sizeOfThread(context: Context, tape: Tape): Promise<ThreadSize> {
  const growth = new Map<number, number>();
  const grow = (at: number, bytes: number): void => void growth.set(at, (growth.get(at) ?? 0) + bytes);
  const sealedAt = new Map<number, number>();
  const tail = await sum("tail", ({ item, value }, bytes) => grow(decodeTailRow(item, value).row.createdAt, bytes));
  const rows = await sum("rows", ({ item, value }, bytes) => {
    const at = decodeRows(tape.number, value).at(-1)?.createdAt ?? 0;
    sealedAt.set(item, at);
    grow(at, bytes);
  });
  const inPack = ({ item }: Found, bytes: number): void => grow(sealedAt.get(item) ?? 0, bytes);
  const packs = rows + (await sum("net", inPack)) + (await sum("steps", inPack));
  const [meta] = await context.read([{ get: tape.metaKey }]);
  const metadata = byteLength(meta as Value | undefined) + (await sum("mark"));
  const index = (await sumWide("id")) + (await sumWide("head"));
  const writes = await sumWide("write");
  return {
    bytes: { metadata, tail, packs, index, writes, total: metadata + tail + packs + index + writes },
    growth: [...growth].sort(([left], [right]) => left - right).map(([at, bytes]) => ({ at, bytes })),
  };

  async function sum(table: Table, each: (found: Found, bytes: number) => void = () => {}): Promise<number> {
    let total = 0;
    for (let from = 0; ; ) {
      const scan = rangeOf(tape, table, from);
      const [page] = (await context.read([{ scan, limit: PAGE }])) as readonly [readonly Found[]];
      for (const found of page) {
        const bytes = byteLength(found.value);
        total += bytes;
        each(found, bytes);
      }
      if (page.length < PAGE) return total;
      from = (page.at(-1) as Found).item + 1;
    }
  }

  /** Keys of wide tables share items, so that a page could not go on after its last item. */
  async function sumWide(table: Table): Promise<number> {
    const [found] = (await context.read([{ scan: rangeOf(tape, table) }])) as readonly [readonly Found[]];
    return found.reduce((total, { value }) => total + byteLength(value), 0);
  }
}

/** What one checkpoint's frame takes, as a delta by itself: in a pack it may take less. */
export async function sizeOfCheckpoint(context: Context, tape: Tape, row: Shown): Promise<CheckpointSize> {
  const home = await homeOf(context, tape, row.seq);
  const change = row.replacedBy ?? (await new FrameReader(context).read(home, row.seq)).change;
  const bytes = jsonBytes(change as Json);
  return { bytes, full: isReplacement(change), inherited: home !== tape && row.replacedBy === undefined };
}

function byteLength(value: Value | undefined): number {
  if (value === undefined) return 0;
  return typeof value === "string" ? Buffer.byteLength(value) : value.byteLength;
}

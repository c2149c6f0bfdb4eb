import type { Found, Table, Value } from "../../backend.ts";
import { isReplacement } from "../../codec/delta/index.ts";
import { refers, unwrap } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import { jsonBytes } from "../../codec/json-text.ts";
import { namesIn } from "../../codec/references.ts";
import type { CheckpointSize, MeasuredStats, ThreadSize } from "../../model/interface/results.ts";
import type { ResumableOptions } from "../../model/interface/store-options.ts";
import { byteLength } from "../../platform/bytes.ts";
import { FrameReader } from "../bodies/frame-reader.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { rangeOf } from "../records/keys.ts";
import { decodeRows, valuesOfPack } from "../records/pack/rows.ts";
import { decodeTailRow } from "../records/tail.ts";
import { homeOf, type Shown } from "../view/row-at.ts";
import { byId } from "./list-threads.ts";

const PAGE = 64;

/** Reads every record of the thread's own tape once and adds up what it takes. */
export async function sizeOfThread(context: EngineContext, tape: Tape): Promise<ThreadSize> {
  const growth = new Map<number, number>();
  const grow = (at: number, bytes: number): void => void growth.set(at, (growth.get(at) ?? 0) + bytes);
  const sealedAt = new Map<number, number>();
  const large = new Map<string, number>();
  const tail = await sum("tail", ({ item, value }, bytes) => grow(decodeTailRow(item, value).row.createdAt, bytes));
  const rows = await sum("rows", ({ item, value }, bytes) => {
    for (const [name, length] of valuesOfPack(value)) large.set(name, length);
    const at = decodeRows(tape.number, value).at(-1)?.createdAt ?? 0;
    sealedAt.set(item, at);
    grow(at, bytes);
  });
  const inPack = ({ item }: Found, bytes: number): void => grow(sealedAt.get(item) ?? 0, bytes);
  const packs = rows + (await sum("net", inPack)) + (await sum("steps", inPack));
  const [meta] = await context.read([{ get: tape.metaKey }]);
  const metadata = bytesOf(meta as Value | undefined) + (await sum("mark"));
  const index = (await sumWide("id")) + (await sumWide("head"));
  const writes = (await sumWide("write")) + (await sumWide("mail"));
  const values = [...large.values()].reduce((left, right) => left + right, 0);
  const total = metadata + tail + packs + index + writes + values;
  return {
    bytes: { metadata, tail, packs, index, writes, values, total },
    growth: [...growth].sort(([left], [right]) => left - right).map(([at, bytes]) => ({ at, bytes })),
  };

  async function sum(table: Table, each: (found: Found, bytes: number) => void = () => {}): Promise<number> {
    let total = 0;
    for (let from = 0; ; ) {
      const scan = rangeOf(tape, table, from);
      const [page] = (await context.read([{ scan, limit: PAGE }])) as readonly [readonly Found[]];
      for (const found of page) {
        const bytes = bytesOf(found.value);
        total += bytes;
        if (table === "tail" || table === "mark") addReferences(found.value);
        each(found, bytes);
      }
      if (page.length < PAGE) return total;
      from = (page.at(-1) as Found).item + 1;
    }
  }

  function addReferences(value: Value): void {
    if (refers(value)) for (const [name, length] of namesIn(unwrap(value))) large.set(name, length);
  }

  /** Adds up a wide table in one read: its keys share items, so that a page could not go on after its last item. */
  async function sumWide(table: Table): Promise<number> {
    const [found] = (await context.read([{ scan: rangeOf(tape, table) }])) as readonly [readonly Found[]];
    if (table === "write") for (const { value } of found) addReferences(value);
    return found.reduce((total, { value }) => total + bytesOf(value), 0);
  }
}

/** Measures a checkpoint's frame as a delta by itself: in a pack it may take less. */
export async function sizeOfCheckpoint(context: EngineContext, tape: Tape, row: Shown): Promise<CheckpointSize> {
  const home = await homeOf(context, tape, row.seq);
  const change = row.replacedBy ?? (await new FrameReader(context).read(home, row.seq)).change;
  const bytes = jsonBytes(change as Json);
  return { bytes, full: isReplacement(change), inherited: home !== tape && row.replacedBy === undefined };
}

function bytesOf(value: Value | undefined): number {
  if (value === undefined) return 0;
  return typeof value === "string" ? byteLength(value) : value.byteLength;
}

/** Reads all threads and counts them, their checkpoints and the versions of their heads. */
export async function readThreads(
  context: EngineContext,
  { progress, signal, after }: ResumableOptions,
): Promise<Pick<MeasuredStats, "threads" | "checkpoints" | "stateVersions">> {
  signal?.throwIfAborted();
  let threads = 0;
  let checkpoints = 0;
  const stateVersions: Record<number, number> = {};
  for await (const page of byId(context, after === undefined ? {} : { after })) {
    for (const { info } of page) {
      signal?.throwIfAborted();
      threads += 1;
      checkpoints += info.checkpoints;
      const { stateVersion } = info.head;
      stateVersions[stateVersion] = (stateVersions[stateVersion] ?? 0) + 1;
      progress?.(threads, info.id);
    }
  }
  signal?.throwIfAborted();
  return { threads, checkpoints, stateVersions };
}

/** Measures all records of a store, by kind. */
export async function measureRecords({ backend }: EngineContext): Promise<Pick<MeasuredStats, "bytes" | "behind">> {
  const { tables, total, behind } = await backend.size();
  const bytes = {
    directory: tables.directory.bytes,
    metadata: tables.meta.bytes + tables.mark.bytes,
    tail: tables.tail.bytes,
    packs: tables.rows.bytes + tables.net.bytes + tables.steps.bytes,
    index: tables.id.bytes + tables.head.bytes,
    writes: tables.write.bytes + tables.mail.bytes,
    values: tables.value.bytes,
    entries: tables.entry.bytes,
    log: tables.log.bytes,
  };
  const sum = Object.values(bytes).reduce((left, right) => left + right, 0);
  return { bytes: { ...bytes, total: total ?? sum }, ...(behind !== undefined && { behind }) };
}

import type { LogRange } from "../../../backend.ts";
import { parsePosition, type ShardPage } from "../../shared/merged-log.ts";
import type { KeyLayout } from "../layout.ts";
import type { ShardReads } from "./shard-reads.ts";

/** The fields of a line are its `at` and its text, and `u` and the server's time in microseconds. */
type StreamEntry = readonly [id: Buffer, fields: readonly [at: Buffer, text: Buffer, u: Buffer, time: Buffer]];

/** Asks a shard for its part of a page. */
export function askForLines(
  reads: ShardReads,
  layout: KeyLayout,
  shard: number,
  { after, limit, newest }: LogRange,
): () => ShardPage {
  const key = layout.key(shard, "g");
  const count = parsePosition(after, layout.shards)?.[shard];
  const least = `(${count ?? 0}-0`;
  const isWanted = count !== undefined && limit > 0;
  const lines = isWanted
    ? newest
      ? reads.add("XREVRANGE", key, "+", least, "COUNT", String(limit))
      : reads.add("XRANGE", key, least, "+", "COUNT", String(limit))
    : () => [];
  const first = reads.add("XRANGE", key, "-", "+", "COUNT", "1");
  const last = reads.add("XREVRANGE", key, "+", "-", "COUNT", "1");
  return () => {
    const found = lines() as readonly StreamEntry[];
    return {
      lines: (newest ? found.toReversed() : found).map(lineOf),
      first: numberOf(first() as readonly StreamEntry[]),
      last: numberOf(last() as readonly StreamEntry[]),
    };
  };
}

function lineOf([id, [at, text, , time]]: StreamEntry): ShardPage["lines"][number] {
  return {
    number: Number.parseInt(id.toString(), 10),
    at: Number(at.toString()),
    text: text.toString(),
    time: Number(time.toString()),
  };
}

function numberOf([entry]: readonly StreamEntry[]): number {
  return entry === undefined ? 0 : Number.parseInt(entry[0].toString(), 10);
}

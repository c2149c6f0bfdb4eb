import { setTimeout as sleep } from "node:timers/promises";
import type { Size, Stored } from "../../backend.ts";
import { logBounds, tables } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { ServerFailure } from "../shared/failure.ts";
import type { Host } from "./connection/address.ts";
import type { Servers } from "./connection/servers.ts";
import { slotOf } from "./crc16.ts";
import { type KeyLayout, keyLength, lineagePattern, tableNames } from "./layout.ts";
import { Script } from "./script.ts";
import { type Locks, parsed } from "./writing/locks.ts";

/** Members that one call of a script looks at. */
const chunk = "1000";

/** Counts the members of a lineage by table. Arguments: where to begin, how many. Answers where to go on, then numbers, counts and bytes. */
const measureScript = new Script(`
local first, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local members = redis.call('ZRANGE', KEYS[1], first, first + most - 1)
local counts, bytes = {}, {}
for _, member in ipairs(members) do
  local number = string.byte(member, 1)
  counts[number] = (counts[number] or 0) + 1
  bytes[number] = (bytes[number] or 0) + #member
end
local answer = { #members < most and -1 or first + most }
for number, count in pairs(counts) do
  answer[#answer + 1] = number
  answer[#answer + 1] = count
  answer[#answer + 1] = bytes[number]
end
return answer
`);

/** Counts the members of a sorted set and their bytes. */
const totalScript = new Script(`
local first, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local members = redis.call('ZRANGE', KEYS[1], first, first + most - 1)
local bytes = 0
for _, member in ipairs(members) do bytes = bytes + #member end
return { #members < most and -1 or first + most, #members, bytes }
`);

/** Counts the lines of a log and their bytes, behind a line. Answers the number of the last line looked at. */
const logScript = new Script(`
local lines = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', ARGV[2])
local bytes = 0
for _, line in ipairs(lines) do bytes = bytes + #line[2][2] end
return { #lines < tonumber(ARGV[2]) and '' or lines[#lines][1], #lines, bytes }
`);

const empty: Size = { records: 0, bytes: 0 };
const ownNames: readonly Stored[] = ["directory", "entry", "log"];

type Sizes = Record<Stored, Size>;

function plus(sizes: Sizes, name: Stored, records: number, bytes: number): void {
  const before = sizes[name];
  sizes[name] = { records: before.records + records, bytes: before.bytes + bytes };
}

export function noSizes(): Sizes {
  return Object.fromEntries([...Object.keys(tables), ...ownNames].map((name) => [name, empty])) as Sizes;
}

/** Counts the records of a store by table, lineage by lineage and shard by shard, and those of no known table. */
export async function measured(
  servers: Servers,
  layout: KeyLayout,
  prefix: string,
): Promise<{ readonly sizes: Sizes; readonly unknown: number }> {
  const sizes = noSizes();
  let unknown = 0;
  for await (const key of lineageKeys(servers, prefix)) {
    for (let at = 0; at >= 0; ) {
      const start = String(at);
      const slot = slotOf(key.slice(1, key.indexOf("}")));
      const answer = await servers.at(slot, (link) => measureScript.run(link, [key], [start, chunk]));
      const [next, ...counts] = answer as readonly [number, ...number[]];
      at = next;
      for (let index = 0; index < counts.length; index += 3) {
        const [number, count, bytes] = counts.slice(index, index + 3) as [number, number, number];
        const table = tableNames[number];
        if (table === undefined) unknown += count;
        else plus(sizes, table, count, bytes - count * (keyLength(table) + 1));
      }
    }
  }
  for (let shard = 0; shard < layout.shards; shard++) await measureShard(servers, layout, shard, sizes);
  return { sizes, unknown };
}

async function measureShard(servers: Servers, layout: KeyLayout, shard: number, sizes: Sizes): Promise<void> {
  const slot = layout.slotOf(shard);
  // Behind an id there are a NUL and the type; behind the text of an entry a NUL and two numbers.
  for (const [name, key, extra] of [
    ["directory", "d", 2],
    ["entry", "e", 13],
  ] as const) {
    for (let at = 0; at >= 0; ) {
      const args = [String(at), chunk];
      const answer = await servers.at(slot, (link) => totalScript.run(link, [layout.key(shard, key)], args));
      const [next, count, bytes] = answer as readonly [number, number, number];
      plus(sizes, name, count, bytes - count * extra);
      at = next;
    }
  }
  for (let after = "0-0"; after !== ""; ) {
    const args = [after, chunk];
    const answer = await servers.at(slot, (link) => logScript.run(link, [layout.key(shard, "g")], args));
    const [last, count, bytes] = answer as readonly [Buffer, number, number];
    plus(sizes, "log", count, bytes);
    after = last.toString();
  }
}

/** Yields the keys of all lineages, in no order. A key may come twice while the server moves its table of keys. */
async function* lineageKeys(servers: Servers, prefix: string): AsyncGenerator<string> {
  for (const host of await servers.masters()) {
    let cursor = "0";
    do {
      const answer = await servers.ask(host, ["SCAN", cursor, "MATCH", lineagePattern(prefix), "COUNT", "1000"]);
      const [next, keys] = answer as readonly [Buffer, readonly Buffer[]];
      for (const name of new Set(keys.map(String))) yield name;
      cursor = next.toString();
    } while (cursor !== "0");
  }
}

/** Cuts the logs to their bounds, and removes what batches of two shards left that were stopped halfway. */
export async function tidy(servers: Servers, layout: KeyLayout, locks: Locks): Promise<void> {
  for (let shard = 0; shard < layout.shards; shard++) {
    await cutLog(servers, layout, shard);
    await finishLocked(servers, layout, shard, locks);
  }
  for (let shard = 0; shard < layout.shards; shard++) await dropDecisions(servers, layout, shard);
}

type Line = readonly [id: Buffer, fields: readonly [at: Buffer, text: Buffer]];

async function cutLog(servers: Servers, layout: KeyLayout, shard: number): Promise<void> {
  const key = layout.key(shard, "g");
  const send = (...args: readonly string[]): Promise<unknown> =>
    servers.at(layout.slotOf(shard), (link) => link.send(args));
  const [newest] = (await send("XREVRANGE", key, "+", "-", "COUNT", "1")) as readonly Line[];
  if (newest === undefined) return;
  const horizon = Number(newest[1][0].toString()) - logBounds.milliseconds;
  await send("XTRIM", key, "MAXLEN", String(Math.ceil(logBounds.lines / layout.shards)));
  for (;;) {
    const lines = (await send("XRANGE", key, "-", "+", "COUNT", "1000")) as readonly Line[];
    const kept = lines.find(([, [at]]) => Number(at.toString()) >= horizon) ?? lines.at(-1);
    if (kept === undefined || kept === lines[0]) return;
    await send("XTRIM", key, "MINID", kept[0].toString());
  }
}

async function finishLocked(servers: Servers, layout: KeyLayout, shard: number, locks: Locks): Promise<void> {
  const found = await servers.at(layout.slotOf(shard), (link) => link.send(["HGETALL", layout.key(shard, "k")]));
  const fields = found as readonly Buffer[];
  for (let at = 0; at < fields.length; at += 2) {
    const [id, lock] = [String(fields[at]), fields[at + 1] as Buffer];
    await locks.resolve(layout, id, [lock, Buffer.from(String(Date.now()))]);
  }
}

/** Decisions are kept for so long, since a batch that was given up may still be under way: it is refused after a minute. */
const decisionMilliseconds = 15 * 60 * 1000;

async function dropDecisions(servers: Servers, layout: KeyLayout, shard: number): Promise<void> {
  const key = layout.key(shard, "x");
  const slot = layout.slotOf(shard);
  const fields = (await servers.at(slot, (link) => link.send(["HGETALL", key]))) as readonly Buffer[];
  for (let at = 0; at < fields.length; at += 2) {
    const [, committed, time, id] = /^(?:(c)|a)(\d+)(?: (.*))?$/s.exec(String(fields[at + 1])) ?? [];
    if (Date.now() - Number(time) < decisionMilliseconds) continue;
    if (committed !== undefined && (await isLockedBy(servers, layout, id as string, String(fields[at])))) continue;
    await servers.at(slot, (link) => link.send(["HDEL", key, String(fields[at])]));
  }
}

async function isLockedBy(servers: Servers, layout: KeyLayout, id: string, batch: string): Promise<boolean> {
  const shard = layout.shardOfThread(id);
  const slot = layout.slotOf(shard);
  const lock = await servers.at(slot, (link) => link.send(["HGET", layout.key(shard, "k"), id]));
  return Buffer.isBuffer(lock) && parsed(lock).name === batch;
}

const rewriteMilliseconds = 60_000;

/** Has every server write its append-only file anew: until then, deleted values stay in it. */
export async function rewriteFiles(servers: Servers): Promise<void> {
  for (const host of await servers.masters()) {
    const since = performance.now();
    for (let begun = false; ; await sleep(20)) {
      const { enabled, busy, saving } = await persistence(servers, host);
      if (!enabled || (begun && !busy)) break;
      if (performance.now() - since > rewriteMilliseconds) throw busyRewriting(servers.address);
      if (begun || busy || saving) continue;
      try {
        await servers.ask(host, ["BGREWRITEAOF"]);
        begun = true;
      } catch (error) {
        if (!(error instanceof ServerFailure && /in progress/i.test(error.message))) throw error;
      }
    }
  }
}

function busyRewriting(address: string): ThreadmarkError {
  return new ThreadmarkError(
    "BUSY",
    `${address}: the server is still writing its append-only file anew. Deleted values stay in the old one until it is done; run compact() again later.`,
  );
}

async function persistence(
  servers: Servers,
  host: Host,
): Promise<{ readonly enabled: boolean; readonly busy: boolean; readonly saving: boolean }> {
  const text = String(await servers.ask(host, ["INFO", "persistence"]));
  const isOne = (name: string): boolean => text.includes(`${name}:1`);
  return {
    enabled: isOne("aof_enabled"),
    busy: isOne("aof_rewrite_in_progress") || isOne("aof_rewrite_scheduled"),
    saving: isOne("rdb_bgsave_in_progress"),
  };
}

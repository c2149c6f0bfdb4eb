import type { Batch, DirectoryKey, Key, Range } from "../../../backend.ts";
import type { Argument } from "../connection/connection.ts";
import type { Link, Servers } from "../connection/servers.ts";
import { idText, type KeyLayout, memberOf } from "../layout.ts";
import { Script } from "../script.ts";

/*
 * A batch whose lineage and directory entry are in two slots of a cluster is applied in steps:
 *
 * 1. The directory entry is judged and locked. The lock holds the change that is to come, and the shard that decides.
 * 2. The lineage's shard judges and applies the rest, and notes that it did: from then on the batch is committed.
 * 3. The change in the lock is made, or given up, and the lock removed. 4. The note is removed.
 *
 * Anybody who meets a lock asks the shard that decides. A committed batch is finished; an undecided one is given up once it is
 * old, by a note in that shard, so that it cannot be committed later. Until then readers take the previous value and
 * writers wait.
 */

/** Milliseconds after which others give an undecided batch up. */
const oldMilliseconds = 5_000;

/** Keys: the directory, its locks. Arguments: the thread, the lock, checks. Answers the time, 0, or the lock that is there. */
const lockScript = new Script(`
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local held = redis.call('HGET', KEYS[2], ARGV[1])
if held then return { held, now } end
local i = 3
while i <= #ARGV do
  local value = ARGV[i + 1]
  if ARGV[i] == 'C' and not redis.call('ZSCORE', KEYS[1], value) then return 0 end
  if ARGV[i] == 'N' and redis.call('ZLEXCOUNT', KEYS[1], '[' .. value, '(' .. value .. '\\255') > 0 then return 0 end
  i = i + 2
end
redis.call('HSET', KEYS[2], ARGV[1], now .. ' ' .. ARGV[2])
return now
`);

/** Keys: the directory, its locks. Arguments: the thread, its bytes, the batch, whether it was committed. */
const finishScript = new Script(`
local held = redis.call('HGET', KEYS[2], ARGV[1])
if not held then return 0 end
local head, change, member = string.match(held, '^%d+ (%S+) %d+ (%a)\\n(.*)$')
if head ~= ARGV[3] then return 0 end
if ARGV[4] == '1' and change ~= 'n' then
  redis.call('ZREMRANGEBYLEX', KEYS[1], '[' .. ARGV[2], '(' .. ARGV[2] .. '\\255')
  if change == 'p' then redis.call('ZADD', KEYS[1], 0, member) end
end
redis.call('HDEL', KEYS[2], ARGV[1])
return 1
`);

/** Keys: the decisions. Arguments: the batch, whether it is old. Answers 1 for committed, 0 for given up, 2 for undecided. */
const judgeScript = new Script(`
local decided = redis.call('HGET', KEYS[1], ARGV[1])
if decided then return string.sub(decided, 1, 1) == 'c' and 1 or 0 end
if ARGV[2] ~= '1' then return 2 end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], ARGV[1], string.format('a%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
return 0
`);

/** A lock that is in the way, and the time of the server that has it. */
export type HeldLock = readonly [lock: Buffer, now: Buffer];

/** The change of a directory entry, and the checks that it depends on. */
export interface DirectoryChange {
  readonly checks: readonly Argument[];
  /** `p` and the new member, `d` to delete, `n` for nothing. */
  readonly change: "p" | "d" | "n";
  readonly member: Argument;
}

/** Parts a batch into the change of its directory entry and the rest. */
export function partedBatch(batch: Batch, id: string): readonly [DirectoryChange, Batch] {
  const { checks = [], deletes = [], inserts = [], puts = [] } = batch;
  const isEntry = (key: Key | DirectoryKey | Range): boolean => key.table === "directory";
  const text = idText(id);
  const list: Argument[] = [];
  for (const { key, value } of checks) {
    if (isEntry(key)) list.push(value === undefined ? "N" : "C", value === undefined ? text : memberOf(text, value));
  }
  const isDeleted = deletes.some(isEntry);
  if (!isDeleted && inserts.some(({ key }) => isEntry(key))) list.push("N", text);
  const last = [...inserts, ...puts].findLast(({ key }) => isEntry(key));
  const rest: Batch = {
    ...batch,
    checks: checks.filter(({ key }) => !isEntry(key)),
    deletes: deletes.filter((key) => !isEntry(key)),
    inserts: inserts.filter(({ key }) => !isEntry(key)),
    puts: puts.filter(({ key }) => !isEntry(key)),
  };
  const change = last !== undefined ? "p" : isDeleted ? "d" : "n";
  return [{ checks: list, change, member: last ? memberOf(text, last.value) : "" }, rest];
}

/** The locks of directory entries. */
export class Locks {
  readonly #servers: Servers;
  readonly #durable: (link: Link) => Promise<void>;

  constructor(servers: Servers, durable: (link: Link) => Promise<void>) {
    this.#servers = servers;
    this.#durable = durable;
  }

  /** Locks an entry for a batch. Resolves to the time of the lock, to undefined if a check fails, or to the lock in the way. */
  async lock(
    layout: KeyLayout,
    id: string,
    batch: string,
    decides: number,
    { checks, change, member }: DirectoryChange,
  ): Promise<string | undefined | HeldLock> {
    const lock = joined(`${batch} ${decides} ${change}\n`, member);
    return this.#servers.at(layout.slotOf(layout.shardOfThread(id)), async (link) => {
      const answer = await lockScript.run(link, keysOf(layout, id), [id, lock, ...checks]);
      if (answer === 0) return undefined;
      if (Array.isArray(answer)) {
        const held = answer as unknown as HeldLock;
        const { name, time } = parsed(held[0]);
        // The answer to an earlier attempt was lost.
        if (name !== batch) return held;
        await this.#durable(link);
        return String(time);
      }
      await this.#durable(link);
      return (answer as Buffer).toString();
    });
  }

  /** Makes the change that a lock holds, or gives it up, and removes the lock. */
  async finish(layout: KeyLayout, id: string, batch: string, committed: boolean): Promise<void> {
    await this.#servers.at(layout.slotOf(layout.shardOfThread(id)), async (link) => {
      const args = [id, idText(id), batch, committed ? "1" : "0"];
      if ((await finishScript.run(link, keysOf(layout, id), args)) === 1) await this.#durable(link);
    });
  }

  /** Finds out about a lock in the way, and removes it if it can. Resolves to false if its batch is still under way. */
  async resolve(layout: KeyLayout, id: string, [lock, now]: HeldLock): Promise<boolean> {
    const { name, decides, time } = parsed(lock);
    const isOld = Number(now.toString()) - time > oldMilliseconds;
    const outcome = await this.#servers.at(layout.slotOf(decides), async (link) => {
      const answer = await judgeScript.run(link, [layout.key(decides, "x")], [name, isOld ? "1" : "0"]);
      if (answer === 0) await this.#durable(link);
      return answer;
    });
    if (outcome === 2) return false;
    await this.finish(layout, id, name, outcome === 1);
    return true;
  }
}

function keysOf(layout: KeyLayout, id: string): readonly string[] {
  const shard = layout.shardOfThread(id);
  return [layout.key(shard, "d"), layout.key(shard, "k")];
}

function joined(start: string, rest: Argument): Argument {
  return typeof rest === "string" ? start + rest : Buffer.concat([Buffer.from(start), rest]);
}

/** Returns the batch of a lock, the shard that decides about it, and when it was locked. */
export function parsed(lock: Buffer): { readonly name: string; readonly decides: number; readonly time: number } {
  const [time, name, decides] = lock.toString("latin1", 0, lock.indexOf(10)).split(" ") as [string, string, string];
  return { name, decides: Number(decides), time: Number(time) };
}

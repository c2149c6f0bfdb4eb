import type { Batch, Key, Value } from "../../../backend.ts";
import type { Argument } from "../connection/connection.ts";
import { keyBytes, memberOf } from "../layout.ts";
import { Script } from "../script.ts";

/**
 * Judges and applies steps, each by itself. A step is a batch that checks some records of a lineage and inserts others, as most
 * commits do. Keys: the lineage of each step. Arguments of a step: a text of two bytes, which count its checks and its inserts;
 * the members to be there; the members to insert, whose keys must be absent. The key of a wide table (from 7 on) takes 14 bytes,
 * of another 10. Answers 1 for applied or 0 for refused, for each step.
 */
export const stepsScript: Script = new Script(`
local answers, i = {}, 1
for number, lineage in ipairs(KEYS) do
  local checks, inserts = string.byte(ARGV[i], 1, 2)
  local first = i + 1 + checks
  local applied = 1
  i = first + inserts
  for at = first - checks, first - 1 do
    if not redis.call('ZSCORE', lineage, ARGV[at]) then applied = 0 end
  end
  for at = first, i - 1 do
    local key = string.sub(ARGV[at], 1, string.byte(ARGV[at]) >= 7 and 14 or 10)
    if redis.call('ZLEXCOUNT', lineage, '[' .. key, '(' .. key .. '\\255') > 0 then applied = 0 end
  end
  if applied == 1 then
    for at = first, i - 1 do redis.call('ZADD', lineage, 0, ARGV[at]) end
  end
  answers[number] = applied
end
return answers
`);

/** The most checks and inserts of a step: their counts are characters of one byte. */
const mostRecords = 127;
/** Steps are sent together up to this length, so that no call holds others up for long. */
const mostLength = 1 << 20;
const mostSteps = 64;

/** Returns whether a batch is a step. A step carries no token: it is recognised by its records. */
function isStep({ checks = [], deletes = [], inserts = [], puts = [], entries, log }: Batch): boolean {
  if (deletes.length + puts.length > 0 || entries !== undefined || log !== undefined) return false;
  if (inserts.length === 0 || inserts.length > mostRecords || checks.length >= mostRecords) return false;
  for (const { key, value } of checks) if (key.table === "directory" || value === undefined) return false;
  for (const { key } of inserts) if (key.table === "directory" || key.table === "meta") return false;
  return inserts.length === 1 || !hasTwice(inserts.map(({ key }) => key as Key));
}

/** A call to a server: steps that are sent together, or one other batch. */
export interface Call {
  readonly areSteps: boolean;
  readonly batches: Batch[];
  /** The places of the batches in the commit. */
  readonly places: number[];
  length: number;
}

/** Parts the batches of a commit into calls. `serverOf` tells apart the lineages that cannot be in one call. */
export function callsOf(batches: readonly Batch[], serverOf: (lineage: number) => number): readonly Call[] {
  const calls: Call[] = [];
  const open = new Map<number, Call>();
  for (const [place, batch] of batches.entries()) {
    const length = lengthOf(batch);
    const areSteps = length <= mostLength && isStep(batch);
    const server = areSteps ? serverOf(lineageOf(batch)) : -1;
    const last = open.get(server);
    if (areSteps && last && last.length + length <= mostLength && last.batches.length < mostSteps) {
      last.batches.push(batch);
      last.places.push(place);
      last.length += length;
      continue;
    }
    const call: Call = { areSteps, batches: [batch], places: [place], length };
    calls.push(call);
    if (areSteps) open.set(server, call);
  }
  return calls;
}

function lengthOf({ inserts = [] }: Batch): number {
  let length = 0;
  for (const { value } of inserts) length += value.length;
  return length;
}

/** Returns the lineage of a step. */
export function lineageOf({ inserts = [] }: Batch): number {
  const [first] = inserts;
  return (first as { readonly key: Key }).key.lineage;
}

function hasTwice(keys: readonly Key[]): boolean {
  return new Set(keys.map(({ table, group, item, part }) => `${table}:${group}:${item}:${part}`)).size < keys.length;
}

/** Adds the arguments of a step. */
export function addStep(args: Argument[], { checks = [], inserts = [] }: Batch): void {
  args.push(String.fromCharCode(checks.length, inserts.length));
  for (const { key, value } of checks) args.push(memberOf(keyBytes(key as Key), value as Value));
  for (const { key, value } of inserts) args.push(memberOf(keyBytes(key as Key), value));
}

import type { Batch, DirectoryKey, Entry, Key, Value } from "../../../backend.ts";
import type { Argument } from "../connection/connection.ts";
import { keyText, memberOf } from "../layout.ts";
import { Script } from "../script.ts";
import { type Scope, scopeOf } from "./operations.ts";

/**
 * Judges and applies steps, each by itself. A step is a batch that checks some records of a lineage and inserts others, as most
 * commits do. Keys: the lineage of each step. Arguments of a step: a text of two bytes, which count its checks and its inserts;
 * the members to be there; the members to insert, whose keys must be absent. The key of a wide table (from 7 on) takes 17 characters,
 * of another 12. Answers 1 for applied or 0 for refused, for each step.
 */
export const stepsScript: Script = new Script(`
local call, sub, byte, args = redis.call, string.sub, string.byte, ARGV
local answers, i = {}, 1
for number, lineage in ipairs(KEYS) do
  local checks, inserts = byte(args[i], 1, 2)
  local first = i + 1 + checks
  local applied = 1
  i = first + inserts
  for at = first - checks, first - 1 do
    if not call('ZSCORE', lineage, args[at]) then applied = 0 end
  end
  for at = first, i - 1 do
    local key = sub(args[at], 1, byte(args[at]) >= 7 and 17 or 12)
    if call('ZLEXCOUNT', lineage, '[' .. key, '(' .. key .. '\\127') > 0 then applied = 0 end
  end
  if applied == 1 then
    for at = first, i - 1 do call('ZADD', lineage, '0', args[at]) end
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
function isStep({ checks = [], deletes = [], inserts = [], puts = [], entries, log, follows }: Batch): boolean {
  if (deletes.length + puts.length > 0 || entries !== undefined || log !== undefined) return false;
  if (inserts.length === 0 || inserts.length > mostRecords || checks.length >= mostRecords) return false;
  const [{ key: first }] = inserts as [Entry];
  if (first.table === "directory") return false;
  const isOwn = (key: Key | DirectoryKey): boolean => key.table !== "directory" && key.lineage === first.lineage;
  for (const { key, value } of checks) if (!isOwn(key) || value === undefined) return false;
  for (const { key } of inserts) if (!isOwn(key) || key.table === "meta") return false;
  if (follows !== undefined && !isOwn(follows.key)) return false;
  return inserts.length === 1 || !hasTwice(inserts.map(({ key }) => key as Key));
}

/** A call to a server: steps that are sent together, or one other batch. */
export interface ServerCall {
  /** The scope of a batch that is no step. */
  readonly scope: Scope | undefined;
  readonly batches: Batch[];
  /** The places of the batches in the commit. */
  readonly places: number[];
  length: number;
}

/** Parts the batches of a commit into calls. `serverOf` tells apart the lineages that cannot be in one call. */
export function callsOf(batches: readonly Batch[], serverOf: (lineage: number) => number): readonly ServerCall[] {
  const calls: ServerCall[] = [];
  const open = new Map<number, ServerCall>();
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
    const scope = areSteps ? undefined : scopeOf(batch);
    const call: ServerCall = { scope, batches: [batch], places: [place], length };
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
  for (const { key, value } of checks) args.push(memberOf(keyText(key as Key), value as Value));
  for (const { key, value } of inserts) args.push(memberOf(keyText(key as Key), value));
}

import type { Found, Value } from "../../backend.ts";
import { unwrap } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import { REFERENCE_BYTES } from "../../codec/json-text.ts";
import { namesIn } from "../../codec/references.ts";
import type { RewriteCost } from "../../model/retention/rewriting.ts";
import { loadTree } from "../bodies/load-tree.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { loadedEntry } from "../memory/tree-cache.ts";
import { rangeOf } from "../records/keys.ts";
import { valuesOfPack } from "../records/pack/rows.ts";
import type { Row } from "../records/row.ts";
import { collectionsKey } from "../records/values.ts";

/**
 * Estimates what it costs to take rows out of a tape. `own` are all rows of the tape, oldest first. Frames are not read: the
 * unsealed rows tell how long others are, and the newest state of a namespace how long a full frame is.
 */
export async function rewriteCost(
  context: EngineContext,
  tape: Tape,
  own: readonly Row[],
  doomed: ReadonlySet<number>,
): Promise<RewriteCost> {
  const namespaces = namespacesToRewrite(own, doomed);
  if (namespaces.size === 0) return { removed: 0, written: 0 };
  const lengths = tape.tail.map(({ value }) => value.length).sort((left, right) => left - right);
  const usual = lengths[(lengths.length - 1) >> 1] ?? 0;
  const removed = doomed.size * usual + (await valuesOf(context, tape, own, doomed));
  // A state that is larger than this is not measured any further.
  const limit = Math.max(removed, context.rewriteBytes) + 1;
  let written = 0;
  for (const namespace of namespaces) {
    const head = own.findLast((row) => row.namespace === namespace && !doomed.has(row.seq));
    if (head && written < limit) written += await sizeOfState(context, tape, head.seq, limit - written);
  }
  return { removed, written };
}

/** Returns the namespaces with a row that remains, while all frames it builds on go. */
function namespacesToRewrite(own: readonly Row[], doomed: ReadonlySet<number>): ReadonlySet<string> {
  const goWhole = new Set<number>();
  const namespaces = new Set<string>();
  for (const { seq, base, namespace } of own) {
    if (doomed.has(seq)) {
      if (base === 0 || goWhole.has(base)) goWhole.add(seq);
    } else if (goWhole.has(base)) namespaces.add(namespace);
  }
  return namespaces;
}

/**
 * Returns how long the large values are together that rows refer to, but for those of the oldest row or its pack: that is mostly a full
 * frame, and written anew it refers to them again.
 */
async function valuesOf(
  context: EngineContext,
  tape: Tape,
  own: readonly Row[],
  doomed: ReadonlySet<number>,
): Promise<number> {
  const [collections] = (await context.read([{ get: collectionsKey(tape.lineage) }])) as readonly [Value | undefined];
  if (collections === undefined) return 0;
  const [packs] = (await context.read([{ scan: rangeOf(tape, "rows") }])) as readonly [readonly Found[]];
  const values = new Map<string, number>();
  let last = 0;
  for (const { item, value } of packs) {
    if (own.some(({ seq }) => seq > last && seq <= item && doomed.has(seq))) addTo(values, valuesOfPack(value));
    last = item;
  }
  for (const { row, value } of tape.tail) if (doomed.has(row.seq)) addTo(values, namesIn(unwrap(value)));
  const [pack] = packs;
  const [unsealed] = tape.tail;
  const oldest = pack ? valuesOfPack(pack.value) : unsealed ? namesIn(unwrap(unsealed.value)) : new Map();
  for (const name of oldest.keys()) values.delete(name);
  return [...values.values()].reduce((sum, length) => sum + length, 0);
}

function addTo(all: Map<string, number>, some: ReadonlyMap<string, number>): void {
  for (const [name, length] of some) all.set(name, length);
}

async function sizeOfState(context: EngineContext, tape: Tape, seq: number, limit: number): Promise<number> {
  let entry = context.trees.wholeOrOutline(tape, seq);
  if (entry === undefined) {
    entry = loadedEntry(await loadTree(context, tape, seq));
    context.trees.set(tape, seq, entry);
  }
  return entry.outlined ? entry.size + entry.grown : frameSize(entry.tree, context.largeFrom, limit);
}

/** Returns about how many characters a tree takes in a frame, where large strings are references; any number from `limit` up once that is reached. */
function frameSize(tree: Json, large: number, limit: number): number {
  if (typeof tree === "string") return tree.length + 2 >= large ? REFERENCE_BYTES : tree.length + 2;
  if (typeof tree !== "object" || tree === null) return String(tree).length;
  let size = 2;
  if (Array.isArray(tree)) {
    for (const item of tree) {
      size += 1 + frameSize(item, large, limit - size);
      if (size >= limit) return size;
    }
  } else {
    for (const key of Object.keys(tree)) {
      size += key.length + 4 + frameSize(tree[key] as Json, large, limit - size);
      if (size >= limit) return size;
    }
  }
  return size;
}

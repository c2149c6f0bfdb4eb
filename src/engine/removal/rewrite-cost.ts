import type { Value } from "../../backend.ts";
import { refers, unwrap } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import { REFERENCE_BYTES } from "../../codec/json-text.ts";
import { namesIn } from "../../codec/references.ts";
import type { RewriteCost } from "../../model/retention/rewriting.ts";
import { loadTree } from "../bodies/load-tree.ts";
import type { EngineContext } from "../memory/context.ts";
import type { LoadedPack, Tape } from "../memory/tape.ts";
import { loadedEntry } from "../memory/tree-cache.ts";
import type { Row } from "../records/row.ts";

/** Bytes of a range of hidden seqs in the meta record, about. */
const RANGE_BYTES = 16;

/** Rows that stand in one record or in those of one pack. */
interface Stored {
  readonly rows: readonly Row[];
  readonly size: number;
  /** True for an unsealed row: its record tells how many come before it. */
  readonly counts: boolean;
  /** Returns the large values that the rows refer to: their lengths by name. */
  values(): ReadonlyMap<string, number>;
}

/** A frame that is written anew: with the changes of the frames it builds on, or full, if that is infinite or shorter. */
interface NewFrame {
  readonly namespace: string;
  readonly size: number;
}

/**
 * Estimates what it costs to take rows out of a tape, whose packs are `packs`. Frames are not read: records tell how long they are,
 * and the newest state of a namespace how long a full frame is.
 */
export async function rewriteCost(
  context: EngineContext,
  tape: Tape,
  packs: readonly LoadedPack[],
  doomed: ReadonlySet<number>,
): Promise<RewriteCost> {
  const stored = storedRows(tape, packs);
  const heads = new Map<string, number>();
  let removed = 0;
  let moved = 0;
  let count = 0;
  let isHidden = false;
  for (const { rows, size, counts } of stored) {
    const each = size / rows.length;
    let isTouched = counts && removed > 0;
    let goes = 0;
    for (const { seq, parent, base, namespace } of rows) {
      const isDoomed = doomed.has(seq);
      if (isDoomed && !isHidden) count += 1;
      isHidden = isDoomed;
      if (isDoomed) goes += 1;
      else heads.set(namespace, seq);
      isTouched ||= isDoomed || doomed.has(parent) || doomed.has(base);
    }
    removed += goes * each;
    if (isTouched) moved += (rows.length - goes) * each;
  }
  removed += freedValues(stored, doomed);
  // Each range was written with all that came after it, and each hidden row looked at, as if they had been hidden one by one.
  const hiding = (RANGE_BYTES * count ** 2 + doomed.size ** 2) / 2;
  // More need not be known of a large state than that it is larger.
  const limit = Math.max(removed + hiding, context.rewriteBytes) + 1;
  const states = new Map<string, number>();
  let frames = 0;
  for (const { namespace, size } of newFrames(stored, doomed)) {
    if (frames >= limit) break;
    if (size > context.rewriteBytes && !states.has(namespace)) {
      states.set(namespace, await sizeOfState(context, tape, heads.get(namespace) as number, limit));
    }
    frames += Math.min(size, states.get(namespace) ?? size);
  }
  return { removed, frames, moved, hiding };
}

/** Returns all rows of a tape as they are stored, oldest first. */
function storedRows({ tail }: Tape, packs: readonly LoadedPack[]): readonly Stored[] {
  const usual = tail.reduce((sum, { value }) => sum + value.length, 0) / Math.max(1, tail.length);
  return [
    ...packs.map(({ rows, size = rows.length * usual, values }) => ({
      rows,
      size,
      counts: false,
      values: () => values,
    })),
    ...tail.map(({ row, value }) => ({ rows: [row], size: value.length, counts: true, values: () => valuesOf(value) })),
  ];
}

function valuesOf(value: Value): ReadonlyMap<string, number> {
  return refers(value) ? namesIn(unwrap(value)) : new Map();
}

/** Returns the frames of rows that stay, and lose a frame they build on. Others that build on the lost one then build on theirs. */
function newFrames(stored: readonly Stored[], doomed: ReadonlySet<number>): readonly NewFrame[] {
  // By doomed seq, the first doomed frame it builds on, and how long the frames are together from there on.
  const lines = new Map<number, { readonly first: number; readonly size: number }>();
  const taken = new Set<number>();
  const frames: NewFrame[] = [];
  for (const { rows, size } of stored) {
    for (const { seq, base, namespace } of rows) {
      const below = lines.get(base) ?? { first: seq, size: base === 0 ? Number.POSITIVE_INFINITY : 0 };
      const own = below.size + size / rows.length;
      if (doomed.has(seq)) lines.set(seq, { first: below.first, size: own });
      else if (doomed.has(base) && !taken.has(below.first)) {
        taken.add(below.first);
        frames.push({ namespace, size: own });
      }
    }
  }
  return frames;
}

/**
 * Returns how long the large values are together that only rows which go refer to. Values of a first frame do not count, nor those of its
 * pack: mostly it is a full one, and written anew it refers to them again.
 */
function freedValues(stored: readonly Stored[], doomed: ReadonlySet<number>): number {
  const given = new Map<string, number>();
  const kept = new Set<string>();
  for (const { rows, values } of stored) {
    const goes = rows.some(({ seq }) => doomed.has(seq));
    const isFirst = goes && rows.some(({ seq, base }) => base === 0 && doomed.has(seq));
    for (const [name, length] of values()) {
      if (goes && !isFirst) given.set(name, length);
      else kept.add(name);
    }
  }
  return [...given].reduce((sum, [name, length]) => (kept.has(name) ? sum : sum + length), 0);
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

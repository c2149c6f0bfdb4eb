import { apply, type Delta, diff, isReplacement, replacedBy, replacement } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import { FrameReader } from "../../bodies/frame-reader.ts";
import { loadReferring } from "../../bodies/load-tree.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { LoadedPack, Tape } from "../../memory/tape.ts";
import type { Frame } from "../../records/pack/pack.ts";
import type { Row } from "../../records/row.ts";

/** A frame of a tape with the tree that it stands for. Both are as stored, with references in place of large values. */
export interface BuiltFrame extends Frame {
  readonly tree: Json;
  /** The tree of the frame that this one builds on; undefined for a full frame. */
  readonly before: Json | undefined;
}

/**
 * Goes through the frames of one tape, oldest first. Trees share the nodes that do not change, and only those that later
 * frames build on are held.
 */
export async function* builtFrames(
  context: EngineContext,
  tape: Tape,
  packs: readonly LoadedPack[],
): AsyncGenerator<BuiltFrame> {
  tape.checkIntact();
  const rows: readonly Row[] = [...packs.flatMap((pack) => pack.rows), ...tape.tail.map(({ row }) => row)];
  const uses = new Map<number, number>();
  for (const { base } of rows) uses.set(base, (uses.get(base) ?? 0) + 1);
  const frames = new FrameReader(context);
  const trees = new Map<number, Json>();
  for (const { seq, base } of rows) {
    const { row, change, writes } = await frames.read(tape, seq);
    let before: Json | undefined;
    let tree: Json;
    if (isReplacement(change)) tree = replacedBy(change);
    else {
      before = trees.get(base) ?? (await loadReferring(context, tape, base)).tree;
      trees.set(base, before);
      tree = apply(before, change);
    }
    const left = (uses.get(base) ?? 0) - 1;
    uses.set(base, left);
    if (left <= 0) trees.delete(base);
    if ((uses.get(seq) ?? 0) > 0) trees.set(seq, tree);
    yield { row, change, writes, tree, before };
  }
}

/** Returns the change of a frame whose tree, or the tree it builds on, has become another. */
export function changedFrame({ row, change, tree, before }: BuiltFrame, erased: (tree: Json) => Json): Frame {
  const after = erased(tree);
  if (before === undefined) return after === tree ? { row, change } : { row, change: replacement(after) };
  const base = erased(before);
  if (after === tree && base === before) return { row, change };
  const now: Delta = diff(base, after) ?? {};
  return { row: isReplacement(now) ? { ...row, base: row.parent } : row, change: now };
}

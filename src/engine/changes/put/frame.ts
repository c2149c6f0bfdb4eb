import { copyToKeep } from "../../../codec/copy.ts";
import { apply, type Delta, diff, growthOf, replacement } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import { needsFull } from "../../../model/frames.ts";
import type { Draft } from "../../commits/draft/draft.ts";
import { encodeRow } from "../../commits/draft/encode-row.ts";
import type { Tape } from "../../memory/tape.ts";
import type { TreeEntry } from "../../memory/tree-cache.ts";
import { TreeOwner } from "../../memory/tree-owner.ts";
import type { Body } from "../../records/body.ts";
import type { Row } from "../../records/row.ts";
import { checkBodySize, checkRecord, mostOf } from "../../records/size-limits.ts";
import { frameBytes } from "../../records/tail.ts";
import type { Shown } from "../../view/row-at.ts";
import { bodyOf, emptyBody, updateBody } from "./body.ts";
import type { CapturedPut } from "./capture.ts";

/** Plans the first frame of a branch: the whole body. */
export function addRootFrame(draft: Draft, captured: CapturedPut, row: Row): void {
  const { tree, tagged } = bodyOf(draft, captured, emptyBody);
  addFull(draft, withTag(row, captured.tagged || tagged), tree, captured);
}

/** Plans a frame on top of the parent's: an update field by field, a whole state as its difference. */
export function addFrame(draft: Draft, captured: CapturedPut, row: Row, parent: Shown, base: TreeEntry): void {
  // The frame builds on the parent's frame. A replaced parent shows another body than its frame has.
  if (captured.update !== undefined && parent.replacedBy === undefined) {
    const { delta, tagged, grown, written } = updateBody(draft, captured, base);
    const step = {
      change: ownDelta(captured, delta),
      grown: hasPlainParts(captured) ? grown : undefined,
      written: hasNames(captured) ? written : undefined,
      fresh: !tagged,
    };
    addDelta(draft, withTag(row, captured.tagged || tagged), base, step, captured);
    return;
  }
  const replaced = parent.replacedBy !== undefined;
  const shown = (replaced ? apply(base.tree, parent.replacedBy as Delta) : base.tree) as Body;
  const { tree, tagged } = bodyOf(draft, captured, shown);
  const change = diff(base.tree, tree) ?? {};
  const step = {
    change,
    tree,
    grown: hasPlainParts(captured) ? growthOf(change, base.tree, draft.context.largeFrom) : undefined,
  };
  addDelta(draft, withTag(row, captured.tagged || tagged || replaced), base, step, captured);
}

/** Returns how many tapes have to be read for a frame on top of this one. */
export function hopsTo(draft: Draft, parent: number, base: TreeEntry): number {
  return draft.isOwn(parent) ? base.hops : base.hops + 1;
}

/**
 * Copies the delta of an update whose values were captured against a remembered tree, and may share nodes with it: in a frame
 * that is kept for the seal they would change with that tree. It costs what the frame itself costs to encode.
 */
function ownDelta(captured: CapturedPut, delta: Delta): Delta {
  return captured.borrowed ? (copyToKeep(delta as Json) as Delta) : delta;
}

/** Returns true if the parts for the next step are names of nodes at most: they do not make the frame heavier than the tree. */
function hasPlainParts({ parts }: CapturedPut): boolean {
  const { next, interrupts, barriers } = parts as { readonly [Part in keyof CapturedPut["parts"]]: Json[] };
  return next.length <= 1 && interrupts.length === 0 && barriers.length === 0;
}

/** Returns true if the parts for the next step are a name of a node at most, without values of their own. */
function hasNames(captured: CapturedPut): boolean {
  const { path, next } = captured.parts;
  const [first] = next as { readonly arg?: Json }[];
  return path === undefined && first?.arg === undefined && hasPlainParts(captured);
}

/** Returns the row itself where it can: spreading would cost every put. */
function withTag(row: Row, tagged: boolean): Row {
  return tagged === row.tagged ? row : { ...row, tagged };
}

function addFull(draft: Draft, row: Row, tree: Json, captured: CapturedPut, base?: TreeEntry): void {
  const { references } = draft.values;
  const tail = encodeRow(draft, row, replacement(tree), { grown: base !== undefined });
  // In place of a delta that is small enough, the record may be larger by the row's metadata.
  if (!base) checkRecord(draft.context, draft.thread, tail.value);
  const weight = frameBytes(tail);
  const size = weight + draft.values.countedSince(references);
  const entry = {
    outlined: false,
    tagged: row.tagged,
    weight,
    size,
    grown: 0,
    most: mostOf(tail.value),
    hops: 1,
    owner: captured.borrowed ?? new TreeOwner(),
  };
  draft.planned.push({ tail, base, change: undefined, tree, entry });
}

/** A change of the parent's frame, with the tree it leads to, if that was captured. */
interface FrameChange {
  readonly change: Delta;
  readonly tree?: Json;
  /** About how many bytes the tree grows by; undefined where that is not known, and it may have become smaller. */
  readonly grown: number | undefined;
  /** About how many characters of JSON its values take; undefined where that is not known. */
  readonly written?: number | undefined;
  /** True if the change shares no node with a tree. */
  readonly fresh?: boolean;
}

/** Returns the state that a change leads to, or its fields that were set, as far as they are at hand. */
function stateAfter({ tree, fresh }: FrameChange, { update }: CapturedPut): Json | undefined {
  if (tree !== undefined) return (tree as Body).s;
  return fresh ? update?.set : undefined;
}

function addDelta(draft: Draft, row: Row, base: TreeEntry, step: FrameChange, captured: CapturedPut): void {
  const { change, tree } = step;
  const lists = captured.update?.grown;
  const tail = encodeRow(draft, row, change, {
    keep: step.fresh,
    written: step.written,
    after: stateAfter(step, captured),
    lists,
  });
  checkRecord(draft.context, draft.thread, tail.value);
  const bytes = frameBytes(tail);
  const weight = base.weight + bytes;
  const hops = hopsTo(draft, row.parent, base);
  let { size } = base;
  let grown = step.grown === undefined ? 0 : base.grown + step.grown;
  let most = base.most + mostOf(tail.value);
  const wholeTree = (): Json => tree ?? apply(base.tree, change);
  if (!base.outlined) most = checkBodySize(draft.context, draft.thread, most, wholeTree);
  // On an outline, a full frame may come one frame late.
  if (!base.outlined && needsFull({ weight, size: size + grown, hops })) {
    const whole = wholeTree();
    size = draft.values.sizeOfFull((draft.target as Tape).lineage, whole);
    grown = 0;
    if (needsFull({ weight, size, hops })) {
      // Later frames read nothing before this one, so the tags of the whole tree are now this frame's.
      addFull(draft, { ...row, tagged: row.tagged || base.tagged }, whole, captured, base);
      return;
    }
  }
  const tagged = base.tagged || row.tagged;
  // A tree made by updating the base's shares its nodes; a captured one shares those of the tree it was captured against.
  const owner = tree === undefined ? base.owner : (captured.borrowed ?? new TreeOwner());
  draft.planned.push({
    tail,
    base,
    change,
    tree,
    entry: { outlined: base.outlined, tagged, weight, size, grown, most, hops, owner },
  });
}

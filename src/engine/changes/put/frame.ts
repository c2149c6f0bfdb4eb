import { copyToKeep } from "../../../codec/copy.ts";
import { apply, type Delta, diff, replacement } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import { needsFull } from "../../../model/frames.ts";
import type { Draft } from "../../commits/draft.ts";
import type { TreeEntry } from "../../memory/tree-cache.ts";
import { TreeOwner } from "../../memory/tree-owner.ts";
import type { Body } from "../../records/body.ts";
import type { Row } from "../../records/row.ts";
import { checkBody, checkRecord, mostOf } from "../../records/size-limits.ts";
import { frameBytes } from "../../records/tail.ts";
import type { Shown } from "../../view/row-at.ts";
import { bodyOf, emptyBody, updateBody } from "./body.ts";
import type { CapturedPut } from "./capture.ts";
import { overwrittenBy, replacesContainer } from "./update.ts";

/** Plans the first frame of a branch: the whole body. */
export function addRootFrame(draft: Draft, captured: CapturedPut, row: Row): void {
  const { tree, tagged } = bodyOf(draft, captured, emptyBody);
  addFull(draft, withTag(row, captured.tagged || tagged), tree, captured);
}

/** Plans a frame on top of the parent's: an update as it was given, a whole state as its difference. */
export function addFrame(draft: Draft, captured: CapturedPut, row: Row, parent: Shown, base: TreeEntry): void {
  // The frame builds on the parent's frame. A replaced parent shows another body than its frame has.
  const replaced = parent.replacedBy !== undefined;
  const shown = (parent.replacedBy === undefined ? base.tree : apply(base.tree, parent.replacedBy)) as Body;
  const plain = captured.update !== undefined && !replaced && !replacesContainer(shown.s, captured.update);
  const own = plain || captured.borrowed !== base.owner ? withOwnUpdate(captured) : captured;
  if (own.update && plain) {
    const { delta, tagged } = updateBody(draft, own, shown);
    const overwritten = hasPlainParts(captured) ? overwrittenBy(shown.s, own.update) : undefined;
    const step = { change: delta, overwritten, fresh: !tagged };
    addDelta(draft, withTag(row, captured.tagged || tagged), base, step, captured);
  } else {
    const { tree, tagged } = bodyOf(draft, own, shown);
    const step = { change: diff(base.tree, tree) ?? {}, tree, replaced };
    addDelta(draft, withTag(row, captured.tagged || tagged || replaced), base, step, captured);
  }
}

/** Returns how many tapes have to be read for a frame on top of this one. */
export function hopsTo(draft: Draft, parent: number, base: TreeEntry): number {
  return draft.isOwn(parent) ? base.hops : base.hops + 1;
}

/**
 * Copies the values that an update sets, which may share nodes with the tree they were captured against: in a frame that is
 * kept for the seal, or on top of another tree, they would change with that one.
 */
function withOwnUpdate(captured: CapturedPut): CapturedPut {
  const { update, borrowed } = captured;
  if (!update || !borrowed) return captured;
  return { ...captured, update: { ...update, set: copyToKeep(update.set) as typeof update.set } };
}

/** Returns true if the parts for the next step are names of nodes at most: they do not make the frame heavier than the tree. */
function hasPlainParts({ parts }: CapturedPut): boolean {
  const { next, interrupts, barriers } = parts as { readonly [Part in keyof CapturedPut["parts"]]: Json[] };
  return next.length <= 1 && interrupts.length === 0 && barriers.length === 0;
}

/** Returns the row itself where it can: spreading would cost every put. */
function withTag(row: Row, tagged: boolean): Row {
  return tagged === row.tagged ? row : { ...row, tagged };
}

function addFull(draft: Draft, row: Row, tree: Json, captured: CapturedPut, base?: TreeEntry): void {
  const tail = draft.encodeRow(row, replacement(tree));
  // In place of a delta that is small enough, the record may be larger by the row's metadata.
  if (!base) checkRecord(draft.context, draft.thread, tail.value);
  const size = frameBytes(tail.value);
  const entry = {
    outlined: false,
    tagged: row.tagged,
    weight: size,
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
  /** About how many bytes of the change overwrite, the rest being appended; undefined where it may remove. */
  readonly overwritten?: number | undefined;
  /** True if the change shares no node with a tree. */
  readonly fresh?: boolean;
  /** True if the tree does not share its nodes with the base. */
  readonly replaced?: boolean;
}

function addDelta(draft: Draft, row: Row, base: TreeEntry, step: FrameChange, captured: CapturedPut): void {
  const { change, tree } = step;
  const tail = draft.encodeRow(row, change, step.fresh);
  checkRecord(draft.context, draft.thread, tail.value);
  const bytes = frameBytes(tail.value);
  const weight = base.weight + bytes;
  const hops = hopsTo(draft, row.parent, base);
  let { size } = base;
  let grown = step.overwritten === undefined ? 0 : base.grown + Math.max(0, bytes - step.overwritten);
  let most = base.most + mostOf(tail.value);
  const wholeTree = (): Json => tree ?? apply(base.tree, change);
  if (!base.outlined) most = checkBody(draft.context, draft.thread, most, wholeTree);
  // On an outline, a full frame may come one frame late.
  if (!base.outlined && needsFull({ weight, size: size + grown, hops })) {
    const whole = wholeTree();
    size = JSON.stringify(whole).length;
    grown = 0;
    if (needsFull({ weight, size, hops })) {
      // Later frames read nothing before this one, so the tags of the whole tree are now this frame's.
      addFull(draft, { ...row, tagged: row.tagged || base.tagged }, whole, captured, base);
      return;
    }
  }
  const tagged = base.tagged || row.tagged;
  // A tree made by updating the base's shares its nodes; a captured one shares those of the tree it was captured against.
  const updated = tree === undefined || (captured.update !== undefined && !step.replaced);
  const owner = updated ? base.owner : (captured.borrowed ?? new TreeOwner());
  draft.planned.push({
    tail,
    base,
    change,
    tree,
    entry: { outlined: base.outlined, tagged, weight, size, grown, most, hops, owner },
  });
}

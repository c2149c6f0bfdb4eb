import { copyToKeep } from "../../../codec/copy.ts";
import { apply, type Delta, diff, OwnedCopies, replacement, sizeOf } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import { ThreadmarkError } from "../../../errors.ts";
import type { CheckpointInfo } from "../../../model/checkpoint.ts";
import { needsFull } from "../../../model/frames.ts";
import { addressedId, idAddress } from "../../../model/id.ts";
import type { Draft } from "../../commits/draft.ts";
import { findPlanned, isNewId, plannedHead, treeAtHand, treeToBuildOn } from "../../commits/draft-view.ts";
import type { Change } from "../../commits/lane.ts";
import { notFound } from "../../faults/missing.ts";
import type { TreeEntry } from "../../memory/tree-cache.ts";
import { infoOf, type Place } from "../../reads/checkpoint.ts";
import type { Body } from "../../records/body.ts";
import type { Row } from "../../records/row.ts";
import { checkBody, checkRecord, mostOf } from "../../records/size-limits.ts";
import { frameBytes } from "../../records/tail.ts";
import type { Shown } from "../../view/row-at.ts";
import { checkLease } from "../lease.ts";
import { bodyOf, type Committed, emptyBody, updateBody } from "./body.ts";
import type { CapturedPut } from "./capture.ts";
import { overwrittenBy, setsContainer } from "./update.ts";

/** A put, planned inside the thread's lane: checks, then the parent, then what changed since. */
export function putChange(captured: CapturedPut, place: Place): Change<CheckpointInfo> {
  return {
    plan: (draft) => {
      const show = ({ row, parent }: Committed): CheckpointInfo => infoOf(draft.context, place, row, parent);
      const committed = planPut(draft, captured);
      return committed instanceof Promise ? committed.then(show) : show(committed);
    },
    settled: () => {
      if (captured.loan) captured.loan.count -= 1;
    },
  };
}

function planPut(draft: Draft, captured: CapturedPut): Committed | Promise<Committed> {
  checkLease(draft, captured.options.lease);
  const head = plannedHead(draft, captured.namespace);
  return head instanceof Promise
    ? head.then((row) => planOnHead(draft, captured, row))
    : planOnHead(draft, captured, head);
}

function planOnHead(draft: Draft, captured: CapturedPut, head: Shown | undefined): Committed | Promise<Committed> {
  const { expect, parent } = captured.options;
  if (expect !== undefined && (head?.id ?? null) !== expect) throw conflict(draft.thread, expect, head);
  const { id } = captured.fields;
  const known = parent === undefined || parent === null || parent === head?.id;
  if (known && (id === undefined || isNewId(draft, id)) && draft.existing) {
    return planOnParent(draft, captured, parent === null ? undefined : head);
  }
  return planSlowly(draft, captured, head);
}

async function planSlowly(draft: Draft, captured: CapturedPut, head: Shown | undefined): Promise<Committed> {
  const { namespace, fields, options } = captured;
  const existing =
    fields.id === undefined || isNewId(draft, fields.id) ? undefined : await findPlanned(draft, namespace, fields.id);
  let parent = options.parent === null ? undefined : head;
  if (options.parent !== undefined && options.parent !== null) {
    parent = await findPlanned(draft, namespace, options.parent);
    if (!parent) throw notFound(draft.thread, options.parent);
  }
  if (existing) {
    const named = options.parent === undefined ? undefined : (parent ?? null);
    const { planReplace } = await import("./replace.ts");
    return planReplace(draft, captured, existing, named);
  }
  await draft.tape();
  return planOnParent(draft, captured, parent);
}

function planOnParent(draft: Draft, captured: CapturedPut, parent: Shown | undefined): Committed | Promise<Committed> {
  if (!parent) return planOnTree(draft, captured, undefined, undefined);
  const known = treeAtHand(draft, parent);
  if (known && (!known.outlined || sufficesFor(draft, captured, parent, known))) {
    return planOnTree(draft, captured, parent, known);
  }
  const base = treeToBuildOn(draft, parent);
  return base instanceof Promise
    ? base.then((entry) => planOnTree(draft, captured, parent, entry))
    : planOnTree(draft, captured, parent, base);
}

/** Whether an outline is enough to plan on: not where the parent was replaced, or a full frame is due. */
function sufficesFor(draft: Draft, captured: CapturedPut, parent: Shown, base: TreeEntry): boolean {
  if (parent.replacedBy !== undefined || !suffices(base.tree as Body, captured)) return false;
  // Whether the body has become too large only the whole tree tells.
  if (base.most + mostOfUpdate(captured) > draft.context.checkpointBytes) return false;
  return !needsFull({ weight: base.weight, size: base.size + base.grown, hops: hopsTo(draft, parent.seq, base) });
}

/** At most how many bytes an update adds to the body, the other parts being small: a character may take six, escaped. */
function mostOfUpdate({ update }: CapturedPut): number {
  if (update === undefined) return 0;
  const appended = update.append.reduce((sum, [, added]) => sum + sizeOf(added, Number.POSITIVE_INFINITY), 0);
  return 6 * (sizeOf(update.set, Number.POSITIVE_INFINITY) + appended);
}

/** Whether a put on top of a tree can be planned with its outline. */
function suffices(outline: Body, { update, parts }: CapturedPut): boolean {
  if (update === undefined || parts.path !== undefined) return false;
  return !Object.hasOwn(update.set, "$") && !setsContainer(outline.s, update);
}

/** How many tapes have to be read for a frame on top of this one. */
function hopsTo(draft: Draft, parent: number, base: TreeEntry): number {
  return draft.isOwn(parent) ? base.hops : base.hops + 1;
}

function planOnTree(
  draft: Draft,
  captured: CapturedPut,
  parent: Shown | undefined,
  base: TreeEntry | undefined,
): Committed {
  const seq = draft.nextSeq;
  const row = newRow(draft, captured, parent, seq);
  if (captured.fields.id !== undefined) reserveAddress(draft, captured.fields.id, seq);
  if (!base || !parent) {
    const { tree, tagged } = bodyOf(draft, captured, emptyBody);
    addFull(draft, withTag(row, captured.tagged || tagged), tree, captured);
    return { row, parent: null };
  }
  // The frame builds on the parent's frame; what the parent shows differs from that only if it was replaced.
  const shown = (parent.replacedBy === undefined ? base.tree : apply(base.tree, parent.replacedBy)) as Body;
  const replaced = parent.replacedBy !== undefined;
  const plain = captured.update !== undefined && !replaced && !setsContainer(shown.s, captured.update);
  const own = plain || captured.loan !== base.loan ? withOwnUpdate(captured) : captured;
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
  return { row, parent: parent.id };
}

/**
 * What an update sets may share nodes with the tree it was captured against. In a frame that is kept for the seal, or on top
 * of another tree, they would change with that one.
 */
function withOwnUpdate(captured: CapturedPut): CapturedPut {
  const { update, loan } = captured;
  if (!update || !loan) return captured;
  return { ...captured, update: { ...update, set: copyToKeep(update.set) as typeof update.set } };
}

/** Whether what the next step needs is names of nodes at most: it does not make the frame heavier than the tree. */
function hasPlainParts({ parts }: CapturedPut): boolean {
  const { next, interrupts, barriers } = parts as { readonly [Part in keyof CapturedPut["parts"]]: Json[] };
  return next.length <= 1 && interrupts.length === 0 && barriers.length === 0;
}

/** A supplied id may look like one that this tape would make later: that seq is passed over, so that it never does. */
function reserveAddress(draft: Draft, id: string, seq: number): void {
  const address = idAddress(id);
  if (address?.tape === draft.tapeNumber && address.seq > seq) draft.reserve(address.seq);
}

/** Without the cost of spreading: nearly every row is as it was made. */
function withTag(row: Row, tagged: boolean): Row {
  return tagged === row.tagged ? row : { ...row, tagged };
}

function newRow(draft: Draft, captured: CapturedPut, parent: Shown | undefined, seq: number): Row {
  const { fields, parts } = captured;
  const now = draft.context.clock();
  const createdAt = fields.createdAt ?? now;
  return {
    seq,
    id: fields.id ?? addressedId(now, draft.tapeNumber, seq) ?? crypto.randomUUID(),
    namespace: captured.namespace,
    parent: parent?.seq ?? 0,
    base: parent?.seq ?? 0,
    step: fields.step ?? (parent ? stepAfter(parent) : 0),
    source: fields.source,
    node: fields.node,
    run: fields.run === undefined ? (parent?.run ?? null) : fields.run,
    workflow: fields.workflow === undefined ? (parent?.workflow ?? null) : fields.workflow,
    label: fields.label,
    createdAt,
    stateVersion: fields.stateVersion ?? parent?.stateVersion ?? 0,
    metadata: fields.metadata,
    pending: (parts.next as Json[]).length,
    waiting: (parts.interrupts as Json[]).length,
    tagged: captured.tagged,
  };
}

function stepAfter({ step }: Shown): number {
  if (step === Number.MAX_SAFE_INTEGER) throw new TypeError(`step: there is none after ${step}. Give one.`);
  return step + 1;
}

function addFull(draft: Draft, row: Row, tree: Json, captured: CapturedPut, base?: TreeEntry): void {
  const tail = draft.encodeRow(row, replacement(tree));
  // In place of a delta that is small enough it may be larger, by the row's metadata.
  if (!base) checkRecord(draft.context, draft.thread, tail.value);
  const size = frameBytes(tail.value);
  const loan = captured.loan ?? { count: 0 };
  const entry = {
    outlined: false,
    tagged: row.tagged,
    weight: size,
    size,
    grown: 0,
    most: mostOf(tail.value),
    hops: 1,
    loan,
    copies: new OwnedCopies(),
  };
  draft.planned.push({ tail, base, change: undefined, tree, entry });
}

/** A change of the parent's frame: with the tree it leads to, if that was captured. */
interface Step {
  readonly change: Delta;
  readonly tree?: Json;
  /** About how many bytes of it only overwrite, the rest being appended; undefined where it may take away. */
  readonly overwritten?: number | undefined;
  /** The change shares no node with a tree. */
  readonly fresh?: boolean;
  /** The tree does not share its nodes with the base. */
  readonly replaced?: boolean;
}

function addDelta(draft: Draft, row: Row, base: TreeEntry, step: Step, captured: CapturedPut): void {
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
  // On an outline it may come a frame late.
  if (!base.outlined && needsFull({ weight, size: size + grown, hops })) {
    const whole = wholeTree();
    size = JSON.stringify(whole).length;
    grown = 0;
    if (needsFull({ weight, size, hops })) {
      // Frames that follow do not need to know what came before; but the tags in the tree are this frame's now.
      addFull(draft, { ...row, tagged: row.tagged || base.tagged }, whole, captured, base);
      return;
    }
  }
  const tagged = base.tagged || row.tagged;
  // A tree made by updating the base's shares its nodes; one that was captured shares those it was captured against.
  const updated = tree === undefined || (captured.update !== undefined && !step.replaced);
  const loan = updated ? base.loan : (captured.loan ?? { count: 0 });
  draft.planned.push({
    tail,
    base,
    change,
    tree,
    entry: { outlined: base.outlined, tagged, weight, size, grown, most, hops, loan, copies: base.copies },
  });
}

function conflict(thread: string, expected: string | null, head: Shown | undefined): ThreadmarkError {
  const is = head ? `is ${JSON.stringify(head.id)}` : "does not exist";
  const wanted = expected === null ? "none" : JSON.stringify(expected);
  return new ThreadmarkError(
    "CONFLICT",
    `Thread ${JSON.stringify(thread)}: the head ${is}, expected ${wanted}. Read latest() and decide again.`,
    { thread },
  );
}

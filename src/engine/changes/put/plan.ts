import { sizeOf } from "../../../codec/delta/index.ts";
import { ThreadmarkError } from "../../../errors.ts";
import type { CheckpointInfo } from "../../../model/checkpoint.ts";
import { needsFull } from "../../../model/frames.ts";
import { idAddress } from "../../../model/id.ts";
import type { CheckpointRef } from "../../../model/interface/options.ts";
import { describeRef } from "../../../model/validation/refs.ts";
import type { Draft } from "../../commits/draft/draft.ts";
import {
  findPlanned,
  headAtHand,
  isNewId,
  plannedHead,
  treeAtHand,
  treeToBuildOn,
  withValues,
} from "../../commits/draft/draft-view.ts";
import type { ThreadChange } from "../../commits/thread-change.ts";
import { notFound } from "../../faults/missing.ts";
import type { TreeEntry } from "../../memory/tree-cache.ts";
import { infoOf, type Place } from "../../reads/checkpoint.ts";
import { matchesRef } from "../../view/find-ref.ts";
import type { Shown } from "../../view/row-at.ts";
import { changeAttributes, changeDue } from "../attributes.ts";
import { checkLease } from "../lease.ts";
import type { CapturedPut } from "./capture.ts";
import { addFrame, addRootFrame, hopsTo } from "./frame.ts";
import { newId, newRow, type PlannedRow } from "./row.ts";
import { underSchema } from "./state-version.ts";
import { setsTag } from "./update.ts";

/** A put of one checkpoint. */
export class PutChange implements ThreadChange<CheckpointInfo> {
  readonly #captured: CapturedPut;
  readonly #place: Place;
  readonly #pruner: string | undefined;

  /** Takes the name of a `pruner` to mark the thread with: see `Meta.pruner`. */
  constructor(captured: CapturedPut, place: Place, pruner?: string) {
    this.#captured = captured;
    this.#place = place;
    this.#pruner = pruner;
  }

  async plan(draft: Draft): Promise<CheckpointInfo> {
    let captured = this.#captured;
    const { fields, options, namespace } = captured;
    checkLease(draft, options.lease);
    // Nothing is awaited that is at hand: nearly every put is planned without I/O.
    const head = headAtHand(draft, namespace) ?? (await plannedHead(draft, namespace));
    checkExpected(draft, options.expect, head);
    const isNew = fields.id === undefined || isNewId(draft, fields.id);
    const existing = isNew ? undefined : await findPlanned(draft, namespace, fields.id as string);
    const isHead = options.parent === undefined || options.parent === null || options.parent === head?.id;
    const named = isHead ? head : await parentByRef(draft, namespace, options.parent as CheckpointRef);
    const parent = options.parent === null ? undefined : named;
    let planned: PlannedRow;
    if (existing) {
      const { planReplace } = await import("./replace.ts");
      planned = await planReplace(
        draft,
        captured,
        existing,
        options.parent === undefined ? undefined : (parent ?? null),
      );
    } else {
      const { versions } = draft.context;
      if (versions) captured = await underSchema(draft, versions, captured, parent);
      if (!draft.existing) await draft.tape();
      const base = parent && (baseAtHand(draft, captured, parent) ?? (await treeToBuildOn(draft, parent)));
      planned = planNew(draft, captured, parent?.replacedBy ? await withValues(draft, parent) : parent, base);
    }
    if (captured.attributes !== undefined) changeAttributes(draft, captured.attributes);
    if (captured.due !== undefined) changeDue(draft, captured.due);
    if (this.#pruner !== undefined && draft.meta?.pruner !== this.#pruner) draft.change({ pruner: this.#pruner });
    return infoOf(draft.context, this.#place, planned.row, planned.parent);
  }

  /** Gives back the tree that the state was captured against. */
  settled(): void {
    this.#captured.borrowed?.giveBack();
  }
}

function checkExpected({ thread }: Draft, expect: CheckpointRef | null | undefined, head: Shown | undefined): void {
  if (expect === undefined || (expect === null ? !head : head && matchesRef(head, expect))) return;
  const is = head ? `is ${JSON.stringify(head.id)}` : "does not exist";
  const wanted =
    expect === null ? "none" : typeof expect === "string" ? JSON.stringify(expect) : `the ${describeRef(expect)}`;
  throw new ThreadmarkError(
    "CONFLICT",
    `Thread ${JSON.stringify(thread)}: the head ${is}, expected ${wanted}. Read latest() and decide again.`,
    { thread },
  );
}

async function parentByRef(draft: Draft, namespace: string, ref: CheckpointRef): Promise<Shown> {
  const parent = await findPlanned(draft, namespace, ref);
  if (!parent) throw notFound(draft.thread, ref);
  return parent;
}

/** Returns the parent's remembered tree, or its outline where that is enough to plan on. */
function baseAtHand(draft: Draft, captured: CapturedPut, parent: Shown): TreeEntry | undefined {
  const known = treeAtHand(draft, parent);
  return known && (!known.outlined || isOutlineEnough(draft, captured, parent, known)) ? known : undefined;
}

/** Returns false where the parent was replaced, the update has to see values, or a full frame is due. */
function isOutlineEnough(draft: Draft, captured: CapturedPut, parent: Shown, base: TreeEntry): boolean {
  const { update, parts } = captured;
  if (parent.replacedBy !== undefined || update === undefined || parts.path !== undefined) return false;
  if (update.grown.length > 0 || update.patch.length > 0 || setsTag(update)) return false;
  // The body may have become too large, which only the whole tree tells.
  if (base.most + mostOfUpdate(update) > draft.context.checkpointBytes) return false;
  return !needsFull({ weight: base.weight, size: base.size + base.grown, hops: hopsTo(draft, parent.seq, base) });
}

/** Returns at most how many bytes an update adds to the body, the other parts being small: a character may take six, escaped. */
function mostOfUpdate({ append, set }: NonNullable<CapturedPut["update"]>): number {
  const appended = append.reduce((sum, [, added]) => sum + sizeOf(added, Number.POSITIVE_INFINITY), 0);
  return 6 * (sizeOf(set, Number.POSITIVE_INFINITY) + appended);
}

function planNew(
  draft: Draft,
  captured: CapturedPut,
  parent: Shown | undefined,
  base: TreeEntry | undefined,
): PlannedRow {
  const seq = draft.nextSeq;
  const now = draft.context.clock();
  const { tagged } = captured;
  const { id = newId(now, draft.tapeNumber, seq) } = captured.fields;
  const row = newRow(captured, parent, { seq, id, now, tagged });
  if (captured.fields.id !== undefined) reserveAddress(draft, id, seq);
  if (parent && base) addFrame(draft, captured, row, parent, base);
  else addRootFrame(draft, captured, row);
  return { row, parent: parent?.id ?? null };
}

/** Passes over the seq that a supplied id looks like the address of, so that the tape never makes that id itself. */
function reserveAddress(draft: Draft, id: string, seq: number): void {
  const address = idAddress(id);
  if (address?.tape === draft.tapeNumber && address.seq > seq) draft.reserve(address.seq);
}

import { apply } from "../../codec/delta/index.ts";
import { idAddress } from "../../model/id.ts";
import type { CheckpointRef } from "../../model/options.ts";
import { loadTree } from "../bodies/load-tree.ts";
import type { Tape } from "../memory/tape.ts";
import { loadedEntry, type TreeEntry } from "../memory/tree-cache.ts";
import type { Body } from "../records/body.ts";
import { headOf } from "../view/find.ts";
import { findRef, matchesRef } from "../view/find-ref.ts";
import type { Shown } from "../view/row-at.ts";
import { ALONE, type Draft } from "./draft.ts";
import { type Planned, plannedTree } from "./planned.ts";

/*
 * What a plan finds: the thread as it will be once all that is planned before it is committed.
 */

/** The head of a namespace, planned rows included. A promise only where storage has to be asked. */
export function plannedHead(draft: Draft, namespace: string): Shown | undefined | Promise<Shown | undefined> {
  const { planned } = draft;
  for (let index = planned.length - 1; index >= 0; index -= 1) {
    const { row } = (planned[index] as Planned).tail;
    if (row.namespace === namespace) return row;
  }
  const tape = draft.existing;
  if (!tape) return undefined;
  const last = tape.damaged.length === 0 ? tape.tail.at(-1)?.row : undefined;
  if (last?.namespace === namespace && tape.marks.size === 0 && !tape.meta.gone) return last;
  return headOf(draft.context, tape, namespace);
}

/** Finds the checkpoint that a reference names, planned rows included. */
export async function findPlanned(draft: Draft, namespace: string, ref: CheckpointRef): Promise<Shown | undefined> {
  const planned = draft.planned.findLast(({ tail: { row } }) => row.namespace === namespace && matchesRef(row, ref));
  if (planned) return planned.tail.row;
  return draft.existing && findRef(draft.context, draft.existing, namespace, ref);
}

/** Whether a supplied id is certainly new, so that it need not be looked up. */
export function isNewId(draft: Draft, id: string): boolean {
  if (draft.planned.some(({ tail }) => tail.row.id === id)) return false;
  const tape = draft.existing;
  if (!tape) return true;
  if (tape.damaged.length > 0) return false;
  const { origin, greatestId } = tape.meta;
  if (origin || idAddress(id) || (greatestId !== undefined && greatestId >= id)) return false;
  return tape.tail.every(({ row }) => row.id !== id);
}

/** The tree of a frame to build on, or its outline, if one of them is at hand. Not to be changed. */
export function treeAtHand(draft: Draft, row: Shown): TreeEntry | undefined {
  const planned = draft.planned.find(({ tail }) => tail.row.seq === row.seq);
  if (planned) return { ...planned.entry, tree: plannedTree(planned) };
  return draft.context.trees.wholeOrOutline(draft.existing as Tape, row.seq);
}

/** The whole tree of a frame to build on. Not to be changed. */
export function treeToBuildOn(draft: Draft, row: Shown): TreeEntry | Promise<TreeEntry> {
  const known = treeAtHand(draft, row);
  if (known && !known.outlined) return known;
  // Of a row that is not committed yet there is nothing to read.
  if (draft.planned.some(({ tail }) => tail.row.seq === row.seq)) throw ALONE;
  const { context } = draft;
  const tape = draft.existing as Tape;
  return loadTree(context, tape, row.seq).then((loaded) => {
    const entry = loadedEntry(loaded);
    context.trees.set(tape, row.seq, entry);
    return entry;
  });
}

/** The body a row shows: its frame's, and on top what replaced it. Not to be changed. */
export async function shownBody(draft: Draft, row: Shown): Promise<Body> {
  const { tree } = await treeToBuildOn(draft, row);
  return (row.replacedBy === undefined ? tree : apply(tree, row.replacedBy)) as Body;
}

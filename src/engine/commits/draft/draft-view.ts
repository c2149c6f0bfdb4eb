import { apply } from "../../../codec/delta/index.ts";
import { idAddress } from "../../../model/id.ts";
import type { CheckpointRef } from "../../../model/interface/options.ts";
import { loadTree } from "../../bodies/load-tree.ts";
import { ValueReader } from "../../bodies/values/read-values.ts";
import type { Tape } from "../../memory/tape.ts";
import { loadedEntry, type TreeEntry } from "../../memory/tree-cache.ts";
import type { Body } from "../../records/body.ts";
import { headOf } from "../../view/find.ts";
import { findRef, matchesRef } from "../../view/find-ref.ts";
import { NOW, type Shown } from "../../view/row-at.ts";
import { ALONE, type Draft } from "./draft.ts";
import { type Planned, plannedTree } from "./planned.ts";

/*
 * The thread as a plan has to see it: with everything that was planned before it on the same draft.
 */

/** Returns the head of a namespace if nothing has to be read for it; undefined where storage has to be asked. */
export function headAtHand({ planned, existing }: Draft, namespace: string): Shown | undefined {
  for (let index = planned.length - 1; index >= 0; index -= 1) {
    const { row } = (planned[index] as Planned).tail;
    if (row.namespace === namespace) return row;
  }
  if (!existing || existing.damaged.length > 0 || existing.marks.size > 0) return undefined;
  const last = existing.tail.at(-1)?.row;
  return last?.namespace === namespace && !existing.isGone(last.seq, NOW) ? last : undefined;
}

/** Returns the head of a namespace, planned rows included. */
export async function plannedHead(draft: Draft, namespace: string): Promise<Shown | undefined> {
  const known = headAtHand(draft, namespace);
  return known ?? (draft.existing && headOf(draft.context, draft.existing, namespace));
}

/** Finds the checkpoint that a reference names, planned rows included. */
export async function findPlanned(draft: Draft, namespace: string, ref: CheckpointRef): Promise<Shown | undefined> {
  const planned = draft.planned.findLast(({ tail: { row } }) => row.namespace === namespace && matchesRef(row, ref));
  if (planned) return planned.tail.row;
  return draft.existing && findRef(draft.context, draft.existing, namespace, ref);
}

/** Returns true if a supplied id is certainly new, and need not be looked up. */
export function isNewId(draft: Draft, id: string): boolean {
  if (draft.planned.some(({ tail }) => tail.row.id === id)) return false;
  const tape = draft.existing;
  if (!tape) return true;
  if (tape.damaged.length > 0) return false;
  const { origin, greatestId } = tape.meta;
  if (origin || idAddress(id)?.tape === tape.number || (greatestId !== undefined && greatestId >= id)) return false;
  return !tape.hasUnsealed(id);
}

/** Returns the tree of a frame to build on, or its outline, if one of them is remembered. The caller must not change it. */
export function treeAtHand(draft: Draft, row: Shown): TreeEntry | undefined {
  const planned = draft.planned.find(({ tail }) => tail.row.seq === row.seq);
  if (planned) return { ...planned.entry, tree: plannedTree(planned) };
  return draft.context.trees.wholeOrOutline(draft.existing as Tape, row.seq);
}

/** Returns the whole tree of a frame to build on. The caller must not change it. */
export async function treeToBuildOn(draft: Draft, row: Shown): Promise<TreeEntry> {
  const known = treeAtHand(draft, row);
  if (known && !known.outlined) return known;
  // A row that is not committed yet cannot be read.
  if (draft.planned.some(({ tail }) => tail.row.seq === row.seq)) throw ALONE;
  const tape = draft.existing as Tape;
  const entry = loadedEntry(await loadTree(draft.context, tape, row.seq));
  draft.context.trees.set(tape, row.seq, entry);
  return entry;
}

/** Returns the body a row shows: that of its frame, with the replacement applied if there is one. The caller must not change it. */
export async function shownBody(draft: Draft, row: Shown): Promise<Body> {
  const { tree } = await treeToBuildOn(draft, row);
  const { replacedBy } = await withValues(draft, row);
  return (replacedBy === undefined ? tree : apply(tree, replacedBy)) as Body;
}

/** Returns a row whose replacement has values in place of references, as trees in memory have. */
export async function withValues(draft: Draft, row: Shown): Promise<Shown> {
  if (row.replacedBy === undefined) return row;
  const values = new ValueReader(draft.context, draft.existing as Tape);
  return { ...row, replacedBy: await values.resolveCopied(row.replacedBy) };
}

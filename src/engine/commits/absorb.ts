import { copyToKeep } from "../../codec/copy.ts";
import type { Delta } from "../../codec/delta/index.ts";
import type { Tape } from "../memory/tape.ts";
import { outlinedEntry, type TreeCache, type TreeEntry } from "../memory/tree-cache.ts";
import { TreeOwner } from "../memory/tree-owner.ts";
import type { Body } from "../records/body.ts";
import { decodeMarks } from "../records/marks.ts";
import { isFor, type LooseWrites } from "../records/writes.ts";
import { rememberValues } from "./add-values.ts";
import type { Draft } from "./draft/draft.ts";
import { type Planned, plannedTree } from "./draft/planned.ts";

/** Brings the remembered tape and trees up to date with a draft that was committed, without reading anything. */
export function absorb(draft: Draft): void {
  const { context, before, created, removed } = draft;
  const tape = draft.target as Tape;
  rememberValues(draft, tape);
  if (created && context.index.isEmpty) context.index.complete();
  const interrupted = context.interruptions !== before.interruptions;
  const readSince = !created && tape.metaValue !== before.metaValue;
  if (removed || draft.rereads || interrupted || readSince) {
    // The directory entry stays known unless the commit wrote it.
    if (removed || created) context.forget(draft.thread);
    context.tapes.forget(tape.number, tape.lineage);
    return;
  }
  if (draft.announcedAt !== undefined) tape.announcedAt = draft.announcedAt;
  if (draft.metaValue !== undefined) tape.adopt(draft.metaValue);
  const last = tape.tail.at(-1)?.row.seq ?? 0;
  for (const { tail } of draft.planned) if (tail.row.seq > last) tape.push(tail);
  if (draft.unsealed) tape.tail = draft.unsealed;
  // Marks are decoded from their records: a captured value may share nodes with a remembered tree, which the next commit
  // changes in place.
  if (draft.marks.length > 0) tape.marks = new Map([...tape.marks, ...decodeMarks(draft.marks)]);
  rememberLoose(draft, tape);
  rememberNewThread(draft);
  context.remember(draft.thread, tape);
  keepTrees(context.trees, tape, draft.planned);
}

/** Characters of writes that a tape remembers for its next row. */
const LOOSE = 256 * 1024;

/** Remembers the writes against the last row, which the next one may carry. */
function rememberLoose({ batch, planned, carrying }: Draft, tape: Tape): void {
  const { left } = carrying;
  if (tape.loose.length + left.length === 0) return;
  const last = tape.tail.at(-1)?.row;
  const isCurrent = ({ entry, key }: LooseWrites): boolean =>
    last !== undefined &&
    isFor(entry, { namespace: last.namespace, checkpoint: last.id }) &&
    !batch.puts.some((put) => put.key.table === "write" && put.key.item === key.item && put.key.part === key.part);
  const all = [...(planned.length > 0 ? [] : tape.loose), ...left].filter(isCurrent);
  tape.loose = all.reduce((sum, { value }) => sum + value.length, 0) > LOOSE ? [] : all;
}

function rememberNewThread({ context, newThread }: Draft): void {
  if (!newThread) return;
  const { tape, source, rows } = newThread;
  const { thread, marks } = tape.meta;
  // An empty thread of this name may have made way.
  context.forget(thread);
  // A thread that begins with a mark is read when it is needed.
  if (marks) return;
  tape.source = source;
  tape.addTail(rows);
  context.remember(thread, tape);
}

/** Remembers the trees of committed rows that a later row probably builds on: those at the ends of branches. */
function keepTrees(trees: TreeCache, tape: Tape, rows: readonly Planned[]): void {
  const [first] = rows;
  if (first && rows.length === 1) {
    keepTree(trees, tape, first, true);
    return;
  }
  const parents = new Set<number>();
  // Rows that build on each remembered tree: only a sole user may take it over, and only one of those with one owner.
  const uses = new Map<TreeEntry, number>();
  for (const { tail, base } of rows) {
    parents.add(tail.row.parent);
    if (base) uses.set(base, (uses.get(base) ?? 0) + 1);
  }
  const taken = new Set<TreeOwner>();
  for (const planned of rows) {
    if (parents.has(planned.tail.row.seq)) continue;
    const { base } = planned;
    const sole = base !== undefined && uses.get(base) === 1 && !taken.has(base.owner);
    if (sole) taken.add(base.owner);
    keepTree(trees, tape, planned, sole);
  }
}

function keepTree(trees: TreeCache, tape: Tape, planned: Planned, sole: boolean): void {
  const { base, entry } = planned;
  const { seq, parent } = planned.tail.row;
  if (entry.outlined) {
    const outlined = outlinedEntry(entry, plannedTree(planned) as Body);
    trees.delete(tape, parent);
    if (outlined) trees.set(tape, seq, outlined);
    return;
  }
  // A row without a tree of its own changes its parent's; a tree captured against the parent's shares nodes with it.
  const takes = planned.tree === undefined ? base?.owner.isLent === false : entry.owner === base?.owner;
  if (base && sole && takes && trees.get(tape, parent) === base) {
    trees.delete(tape, parent);
    const tree = planned.tree ?? base.owner.advance(base.tree, planned.change as Delta);
    trees.set(tape, seq, { ...entry, tree, owner: base.owner });
    return;
  }
  const tree = copyToKeep(plannedTree(planned));
  trees.set(tape, seq, { ...entry, tree, owner: new TreeOwner() });
}

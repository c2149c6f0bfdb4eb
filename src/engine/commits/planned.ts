import { copyToKeep } from "../../codec/copy.ts";
import { apply, type Delta, OwnedCopies } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import type { Tape } from "../memory/tape.ts";
import { type Loan, outlinedEntry, type TreeCache, type TreeEntry } from "../memory/tree-cache.ts";
import type { Body } from "../records/body.ts";
import type { TailRow } from "../records/tail.ts";

/** A row of a draft, and what its tree is made of: `tree`, or that of `base` with `change` applied. */
export interface Planned {
  readonly tail: TailRow;
  readonly base: TreeEntry | undefined;
  readonly change: Delta | undefined;
  tree: Json | undefined;
  readonly entry: Omit<TreeEntry, "tree">;
}

/** The tree of a planned row, or its outline if that is all there is, made if need be. Not to be changed. */
export function plannedTree(planned: Planned): Json {
  planned.tree ??= apply((planned.base as TreeEntry).tree, planned.change as Delta);
  return planned.tree;
}

/** A row whose tree is not worth remembering. */
export function unremembered(tail: TailRow, change: Delta): Planned {
  const copies = new OwnedCopies();
  const sizes = { weight: 0, size: 0, grown: 0, most: 0 };
  const entry = { outlined: false, tagged: true, ...sizes, hops: 1, loan: { count: 0 }, copies };
  return { tail, base: undefined, change, tree: undefined, entry };
}

/** Remembers the trees of rows that were committed. Only what is likely to be built on is worth it: ends of branches. */
export function keepTrees(trees: TreeCache, tape: Tape, rows: readonly Planned[]): void {
  const [first] = rows;
  if (first && rows.length === 1) {
    keepTree(trees, tape, first, true);
    return;
  }
  const parents = new Set<number>();
  // How many rows build on a remembered tree: only a sole user may take it over, and only one of those on one loan.
  const uses = new Map<TreeEntry, number>();
  for (const { tail, base } of rows) {
    parents.add(tail.row.parent);
    if (base) uses.set(base, (uses.get(base) ?? 0) + 1);
  }
  const taken = new Set<Loan>();
  for (const planned of rows) {
    if (parents.has(planned.tail.row.seq)) continue;
    const { base } = planned;
    const sole = base !== undefined && uses.get(base) === 1 && !taken.has(base.loan);
    if (sole) taken.add(base.loan);
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
  // Without a tree of its own it is the parent's, changed; one captured against the parent's shares nodes with it.
  const takes = planned.tree === undefined ? base?.loan.count === 0 : entry.loan === base?.loan;
  if (base && sole && takes && trees.get(tape, parent) === base) {
    trees.delete(tape, parent);
    const tree = planned.tree ?? base.copies.apply(base.tree, planned.change as Delta);
    trees.set(tape, seq, { ...entry, tree, loan: base.loan, copies: base.copies });
    return;
  }
  const tree = copyToKeep(plannedTree(planned));
  trees.set(tape, seq, { ...entry, tree, loan: { count: 0 }, copies: new OwnedCopies() });
}

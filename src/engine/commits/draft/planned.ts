import type { Found } from "../../../backend.ts";
import { apply, type Delta } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import type { Tape } from "../../memory/tape.ts";
import type { TreeEntry } from "../../memory/tree-cache.ts";
import { TreeOwner } from "../../memory/tree-owner.ts";
import type { Row } from "../../records/row.ts";
import type { TailRow } from "../../records/tail.ts";
import type { Control } from "../../view/head-status.ts";

/** A row of a draft. Its tree is `tree`, or that of `base` with `change` applied. */
export interface Planned {
  readonly tail: TailRow;
  readonly base: TreeEntry | undefined;
  readonly change: Delta | undefined;
  tree: Json | undefined;
  readonly entry: Omit<TreeEntry, "tree">;
}

/** A thread that the commit adds to the lineage: a fork or a copy. */
export interface NewThread {
  readonly tape: Tape;
  readonly source: Tape;
  /** Rows the thread begins with. */
  readonly rows: Found[];
}

/** Control writes for a checkpoint. */
export interface PlannedControl extends Control {
  readonly namespace: string;
  readonly checkpoint: string;
}

/** The newest row that a thread shows, and the newest of its root namespace. */
export interface ShownEnds {
  readonly newest: Row | undefined;
  readonly root: Row | undefined;
  /** Runs of other rows that the thread is found by. */
  readonly runs?: ReadonlySet<string>;
}

/** Returns the tree of a planned row, or its outline if it was planned on one. The caller must not change it. */
export function plannedTree(planned: Planned): Json {
  planned.tree ??= apply((planned.base as TreeEntry).tree, planned.change as Delta);
  return planned.tree;
}

/** Returns a planned row whose tree is not worth remembering. */
export function unremembered(tail: TailRow, change: Delta): Planned {
  const sizes = { weight: 0, size: 0, grown: 0, most: 0 };
  const entry = { outlined: false, tagged: true, ...sizes, hops: 1, owner: new TreeOwner() };
  return { tail, base: undefined, change, tree: undefined, entry };
}

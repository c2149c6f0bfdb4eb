import { type Delta, OwnedCopies } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";

/**
 * Owns the nodes of one remembered tree, so that a commit can change the tree in place: a push onto a long list costs one
 * push, not a copy of the list.
 *
 * Invariant: the nodes it has copied belong to one remembered tree and to nothing else, except while they are lent. An
 * input that was captured against the tree shares nodes with it until it is settled: it borrows them for that long, and
 * nothing is changed in place meanwhile. All other nodes may be shared with deltas that wait for their seal, and never change.
 */
export class TreeOwner {
  readonly #copies = new OwnedCopies();
  #lent = 0;

  /** Tells whether an input shares nodes with the tree. */
  get isLent(): boolean {
    return this.#lent > 0;
  }

  /** Keeps the tree from being changed in place until {@link giveBack} was called once for each call of this. */
  borrow(): void {
    this.#lent += 1;
  }

  giveBack(): void {
    if (this.#lent === 0) throw new Error("A tree was given back that was not lent.");
    this.#lent -= 1;
  }

  /** Returns the tree after the change, made in place where possible. The caller must not use `tree` afterwards. */
  advance(tree: Json, change: Delta): Json {
    if (this.isLent) throw new Error("A tree that is lent must not be changed in place.");
    return this.#copies.apply(tree, change);
  }
}

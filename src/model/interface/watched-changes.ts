/** The kinds of change that `store.watch` tells of. */
export const changeKinds = [
  "put",
  "writes",
  "label",
  "fork",
  "delete",
  "prune",
  "mail",
  "attributes",
  "erase",
] as const;

/**
 * The kind of a change: `put` (a checkpoint was saved or replaced), `writes` (results of a task), `label`, `fork` (the thread
 * was made by a fork or copy), `delete` (the thread was deleted), `prune` (checkpoints were deleted), `mail` (a message was
 * sent to the thread), `attributes` (its attributes were set), `erase` (values
 * were erased from its history).
 */
export type ChangeKind = (typeof changeKinds)[number];

/** A change that was committed, as `store.watch` yields it. */
export interface WatchedChange {
  readonly kind: ChangeKind;
  readonly thread: string;
  /** The namespace that was changed; `[]` for the root, and for changes of the whole thread. */
  readonly namespace: readonly string[];
  /**
   * The checkpoint that was put, labelled or written to; for `fork` the checkpoint that the thread begins with (null for a
   * copy), for `mail` the message. Null for the others.
   */
  readonly id: string | null;
  /** The seq of the checkpoint that was put or labelled; otherwise the thread's last seq at that moment. */
  readonly seq: number;
  /** Where to go on after this change, for `watch({ after })` with the same filter. */
  readonly cursor: string;
}

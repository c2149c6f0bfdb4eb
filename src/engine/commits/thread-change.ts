import type { Draft } from "./draft/draft.ts";

/** A change of one thread: planned against the tape as it is remembered, and planned again when that proved stale. */
export interface ThreadChange<T> {
  /** Adds records to the draft and resolves to the caller's answer. When it rejects, the draft is as it was before. */
  plan(draft: Draft): Promise<T>;
  /** True for a change that depends on all rows of the thread: the tape is read just before it is planned. */
  readonly fresh?: boolean;
  /**
   * True for a change that waits for the end of the turn, unless another comes that does not: a task's writes are mostly
   * followed by the checkpoint of its step, and share its commit.
   */
  readonly patient?: boolean;
  /** Called once, when the change has been committed or has failed: it is not planned again. */
  settled?(): void;
}

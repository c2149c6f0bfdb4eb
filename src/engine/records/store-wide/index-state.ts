/** A status without the lease, as entries have it. */
export type StatusCode = "w" | "f" | "c" | "d" | "p";

/** The part of a meta record from which most entries of a thread are made. */
export interface IndexState {
  readonly s: StatusCode;
  /** The time of the first commit in the last second in which the thread was active. */
  readonly t: number;
  readonly w?: string;
  readonly r?: string;
  /** The head is of a nested namespace, because the root has no checkpoint. */
  readonly nested?: true;
}

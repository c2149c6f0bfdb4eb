import type { Shown } from "../view/row-at.ts";

/** A row a removal decides on, with the parent it shows. */
export interface RemovalCandidate {
  readonly row: Shown;
  readonly parent: number;
}

import type { ErasedPlace } from "../../../model/interface/erasure.ts";
import type { Tape } from "../../memory/tape.ts";

/** A place with the tape that holds it, and the seq of its checkpoint. */
export interface PhysicalPlace {
  readonly tape: Tape;
  readonly seq: number | undefined;
  /** Names the checkpoint that a write is for: see `nameOf`. */
  readonly written: string | undefined;
  readonly place: ErasedPlace;
}

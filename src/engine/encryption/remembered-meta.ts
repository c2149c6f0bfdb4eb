import type { Value } from "../../backend.ts";
import type { LineageKeys } from "./lineage-keys.ts";

/** A meta record in both forms. Invariant: `stored` is what `keys` make of `plain`. */
export interface RememberedMeta {
  readonly keys: LineageKeys;
  readonly plain: Value;
  readonly stored: Uint8Array;
}

/**
 * Changes of JSON trees: finds, applies, composes and seals them. Pure functions over plain JSON. The format is
 * described in docs/reference/format-deltas.md.
 */

export { diff } from "./diff/diff.ts";
export { isReplacement, replacedBy, replacement } from "./diff/replacement.ts";
export type { Delta, SealedStep } from "./format.ts";
export { Growth, growthOf } from "./growth.ts";
export { compose } from "./join/compose.ts";
export { apply, applyOwned, OwnedCopies } from "./join/patch.ts";
export { same, sizeOf } from "./measure.ts";
export { finished, type Pieces } from "./pieces.ts";
export { seal, sealing } from "./sealed/seal.ts";
export { unseal } from "./sealed/unseal.ts";
export { visitTouched } from "./touched.ts";
export { validate } from "./validate.ts";

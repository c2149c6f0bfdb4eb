/**
 * Changes of JSON trees: found, applied, composed, and sealed into packs. Pure functions over plain JSON.
 * The format is described in docs/format-deltas.md.
 */
export { compose } from "./delta/compose.ts";
export { diff } from "./delta/diff.ts";
export { assign, type Delta, type Step } from "./delta/format.ts";
export { sizeOf } from "./delta/measure.ts";
export { apply, applyOwned, OwnedCopies } from "./delta/patch.ts";
export { isReplacement, replacedBy, replacement } from "./delta/replacement.ts";
export { seal } from "./delta/seal.ts";
export { visitTouched } from "./delta/touched.ts";
export { unseal } from "./delta/unseal.ts";
export { validate } from "./delta/validate.ts";

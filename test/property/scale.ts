/**
 * The milliseconds of a unit of the model's clock. A lease also ends by the observer's own watch: a lease of the model must last
 * longer than a sequence takes.
 */
export const SCALE = 10_000;

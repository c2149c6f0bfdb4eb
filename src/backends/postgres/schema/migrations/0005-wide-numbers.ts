import { createApply } from "./0002-apply.ts";
import { partsOfApply } from "./0004-index-and-log.ts";

/**
 * Adds a function `apply` that takes numbers of lineages and tapes beyond 2^31. The function before stays, for processes of
 * an earlier version. Tables of stores made earlier keep columns of `int4`, since changing them rewrites the tables:
 * `compact` does that where it rewrites them anyway.
 */
export function createWideApply(schema: string): string {
  return createApply(schema, "create function", { ...partsOfApply(schema), numbers: "int8" });
}

import { createApply } from "./0002-apply.ts";

/**
 * Makes `apply` refuse a batch that inserts a `meta` record whose item, the number of a tape, another lineage has. Keys
 * keep lineages apart, so two simultaneous commits with the same number do no harm: hence an index that is not unique,
 * and no lock.
 */
export function indexTapeNumbers(schema: string): string {
  return [
    `create index meta_item on ${schema}.meta (item)`,
    createApply(schema, "create or replace function", { refuseMeta: refuseTakenNumbers(schema) }),
  ].join(";\n");
}

/** Returns the statement that refuses batches by the number of their tape. */
export function refuseTakenNumbers(schema: string): (operations: string) => string {
  return (operations) => `select refused || coalesce(array_agg(o.ord), '{}') into refused
    from ${operations} join ${schema}.meta t on t.item = o.item and t.lineage <> o.lineage`;
}

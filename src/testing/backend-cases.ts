import { batchCases } from "./backend/batches.ts";
import type { BackendCase } from "./backend/case.ts";
import { commitCases } from "./backend/commits.ts";
import { concurrencyCases } from "./backend/concurrency.ts";
import { entryCases } from "./backend/entries.ts";
import { hearingCases } from "./backend/hearing.ts";
import { logCases } from "./backend/log.ts";
import { rangeCases } from "./backend/ranges.ts";
import { tapeNumberCases } from "./backend/tape-numbers.ts";
import { upkeepCases } from "./backend/upkeep.ts";
import { valueCases } from "./backend/values.ts";

export type { BackendCase, OpenBackend } from "./backend/case.ts";

/**
 * The contract of `Backend` as cases. A backend that passes them can carry the engine.
 *
 * @example
 * for (const { name, requires, run } of backendCases)
 *   test.skipIf(requires && !capabilities[requires])(name, () => run(openMyBackendInAnEmptyPlace));
 */
export const backendCases: readonly BackendCase[] = [
  ...valueCases,
  ...rangeCases,
  ...commitCases,
  ...batchCases,
  ...tapeNumberCases,
  ...entryCases,
  ...logCases,
  ...hearingCases,
  ...concurrencyCases,
  ...upkeepCases,
];

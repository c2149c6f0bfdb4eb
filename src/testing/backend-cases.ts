import { batchCases } from "./backend/batches.ts";
import type { BackendCase } from "./backend/case.ts";
import { commitCases } from "./backend/commits.ts";
import { concurrencyCases } from "./backend/concurrency.ts";
import { rangeCases } from "./backend/ranges.ts";
import { upkeepCases } from "./backend/upkeep.ts";
import { valueCases } from "./backend/values.ts";

export type { BackendCase, OpenBackend } from "./backend/case.ts";

/**
 * What the contract of `Backend` asks for, as data. A backend that passes carries the engine.
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
  ...concurrencyCases,
  ...upkeepCases,
];

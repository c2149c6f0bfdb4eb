/**
 * The conformance kit: what every backend must do, as data, under any test runner.
 *
 * @example
 * import { cases, missing, runCase } from "threadmark/testing";
 * for (const testCase of cases) test(testCase.name, async () => runCase(testCase, capabilities, await makeLocation()));
 */
import type { Case } from "./case.ts";
import { capture } from "./cases/capture.ts";
import { closing } from "./cases/close.ts";
import { compaction } from "./cases/compact.ts";
import { compactionParents } from "./cases/compact-parents.ts";
import { concurrency } from "./cases/concurrency.ts";
import { copy } from "./cases/copy.ts";
import { deletion } from "./cases/delete.ts";
import { diff } from "./cases/diff.ts";
import { types } from "./cases/exact-types.ts";
import { fork } from "./cases/fork.ts";
import { forkIsolation } from "./cases/fork-isolation.ts";
import { forkNamespaces } from "./cases/fork-namespaces.ts";
import { history } from "./cases/history.ts";
import { ids } from "./cases/ids.ts";
import { input } from "./cases/input.ts";
import { label } from "./cases/label.ts";
import { latestAndGet } from "./cases/latest-and-get.ts";
import { lease } from "./cases/lease.ts";
import { maintenance } from "./cases/maintenance.ts";
import { namespaces } from "./cases/namespaces.ts";
import { packs } from "./cases/packs.ts";
import { prune } from "./cases/prune.ts";
import { put } from "./cases/put.ts";
import { races } from "./cases/races.ts";
import { replace } from "./cases/replace.ts";
import { threads } from "./cases/threads.ts";
import { update } from "./cases/update.ts";
import { writes } from "./cases/writes.ts";

export { type BackendCase, backendCases, type OpenBackend } from "./backend-cases.ts";
export type { Case, Context, Free, ManualClock } from "./case.ts";
export { exact } from "./exact.ts";
export { type Location, missing, runCase } from "./run.ts";

/** Everything a store must do on any backend. */
export const cases: readonly Case[] = [
  ...put,
  ...update,
  ...replace,
  ...capture,
  ...latestAndGet,
  ...history,
  ...writes,
  ...fork,
  ...forkIsolation,
  ...forkNamespaces,
  ...copy,
  ...prune,
  ...deletion,
  ...label,
  ...diff,
  ...lease,
  ...threads,
  ...namespaces,
  ...types,
  ...packs,
  ...ids,
  ...input,
  ...maintenance,
  ...compaction,
  ...compactionParents,
  ...closing,
  ...concurrency,
  ...races,
];

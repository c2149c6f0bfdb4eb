/**
 * The conformance kit: the requirements on every backend, as data, for any test runner.
 *
 * @example
 * import { cases, missing, runCase } from "threadmark/testing";
 * for (const testCase of cases) test(testCase.name, async () => runCase(testCase, capabilities, await makeLocation()));
 */
import type { Case } from "./case.ts";
import { attributes } from "./cases/finding/attributes.ts";
import { findThreads } from "./cases/finding/find-threads.ts";
import { questions } from "./cases/finding/questions.ts";
import { reindex } from "./cases/finding/reindex.ts";
import { copy } from "./cases/forking/copy.ts";
import { detached } from "./cases/forking/detached.ts";
import { fork } from "./cases/forking/fork.ts";
import { forkIsolation } from "./cases/forking/fork-isolation.ts";
import { forkNamespaces } from "./cases/forking/fork-namespaces.ts";
import { checkpointRefs } from "./cases/reading/checkpoint-refs.ts";
import { diff } from "./cases/reading/diff.ts";
import { types } from "./cases/reading/exact-types.ts";
import { history } from "./cases/reading/history.ts";
import { label } from "./cases/reading/label.ts";
import { latestAndGet } from "./cases/reading/latest-and-get.ts";
import { namespaces } from "./cases/reading/namespaces.ts";
import { packs } from "./cases/reading/packs.ts";
import { stateVersions } from "./cases/reading/state-versions.ts";
import { threads } from "./cases/reading/threads.ts";
import { watch } from "./cases/reading/watch.ts";
import { backups } from "./cases/upkeep/backup.ts";
import { closing } from "./cases/upkeep/close.ts";
import { compaction } from "./cases/upkeep/compact.ts";
import { compactionParents } from "./cases/upkeep/compact-parents.ts";
import { deletion } from "./cases/upkeep/delete.ts";
import { encryption } from "./cases/upkeep/encryption.ts";
import { erase } from "./cases/upkeep/erase.ts";
import { maintenance } from "./cases/upkeep/maintenance.ts";
import { prune } from "./cases/upkeep/prune.ts";
import { pruneHidden } from "./cases/upkeep/prune-hidden.ts";
import { sweep } from "./cases/upkeep/sweep.ts";
import { capture } from "./cases/writing/capture.ts";
import { carriedWrites } from "./cases/writing/carried-writes.ts";
import { concurrency } from "./cases/writing/concurrency.ts";
import { ids } from "./cases/writing/ids.ts";
import { input } from "./cases/writing/input.ts";
import { largeValues } from "./cases/writing/large-values.ts";
import { lease } from "./cases/writing/lease.ts";
import { mailbox } from "./cases/writing/mailbox.ts";
import { patch } from "./cases/writing/patch.ts";
import { put } from "./cases/writing/put.ts";
import { races } from "./cases/writing/races.ts";
import { replace } from "./cases/writing/replace.ts";
import { update } from "./cases/writing/update.ts";
import { writes } from "./cases/writing/writes.ts";

export { type BackendCase, backendCases, type OpenBackend } from "./backend-cases.ts";
export type { Case, CaseContext, Free, ManualClock } from "./case.ts";
export { type Location, missing, runCase } from "./run.ts";
export { exact } from "./support/exact.ts";
export { forwarding, type Overrides } from "./support/forwarding.ts";
export { oneLineage } from "./support/one-lineage.ts";
export { sharedMemory } from "./support/shared-memory.ts";

/** All behaviours of a store, for any backend. */
export const cases: readonly Case[] = [
  ...put,
  ...update,
  ...patch,
  ...replace,
  ...capture,
  ...latestAndGet,
  ...history,
  ...writes,
  ...largeValues,
  ...carriedWrites,
  ...mailbox,
  ...fork,
  ...forkIsolation,
  ...forkNamespaces,
  ...copy,
  ...detached,
  ...prune,
  ...pruneHidden,
  ...sweep,
  ...erase,
  ...deletion,
  ...checkpointRefs,
  ...label,
  ...diff,
  ...lease,
  ...threads,
  ...watch,
  ...findThreads,
  ...attributes,
  ...questions,
  ...reindex,
  ...namespaces,
  ...types,
  ...packs,
  ...ids,
  ...input,
  ...stateVersions,
  ...encryption,
  ...backups,
  ...maintenance,
  ...compaction,
  ...compactionParents,
  ...closing,
  ...concurrency,
  ...races,
];

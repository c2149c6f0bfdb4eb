import type { Meter } from "@opentelemetry/api";
import type { WorkEvent } from "../platform/diagnostics.ts";
import type { Listeners } from "./listeners.ts";
import { isQuestion } from "./spans.ts";

/** The name of every metric. */
export const metricNames = {
  commitDuration: "threadmark.commit.duration",
  commitBatches: "threadmark.commit.batches",
  commitRefused: "threadmark.commit.refused",
  readDuration: "threadmark.read.duration",
  sealedRows: "threadmark.seal.rows",
  conflicts: "threadmark.conflicts",
  fences: "threadmark.fences",
  retries: "threadmark.retries",
  sweeps: "threadmark.sweeps",
  sweptCheckpoints: "threadmark.sweep.checkpoints",
  sweptBytes: "threadmark.sweep.bytes",
  runDuration: "threadmark.run.duration",
  taskDuration: "threadmark.task.duration",
} as const;

/** Records metrics. Thread and run ids are no attributes: there are too many of them. */
export function recordMetrics(meter: Meter): Listeners {
  const seconds = {
    unit: "s",
    advice: { explicitBucketBoundaries: [1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10] },
  };
  const commitDuration = meter.createHistogram(metricNames.commitDuration, {
    ...seconds,
    description: "Time of a commit of the backend",
  });
  const readDuration = meter.createHistogram(metricNames.readDuration, {
    ...seconds,
    description: "Time of a read of the backend",
  });
  const runDuration = meter.createHistogram(metricNames.runDuration, {
    unit: "s",
    description: "Time of a run of a graph, from its start or resumption to its end or interruption",
  });
  const taskDuration = meter.createHistogram(metricNames.taskDuration, {
    unit: "s",
    description: "Time of one attempt at a task",
  });
  const counter = (name: string, description: string, unit = "1"): ReturnType<Meter["createCounter"]> =>
    meter.createCounter(name, { description, unit });
  const batches = counter(metricNames.commitBatches, "Batches that were committed or refused");
  const refused = counter(metricNames.commitRefused, "Batches that were refused because another store was first");
  const sealedRows = counter(metricNames.sealedRows, "Checkpoints that were packed");
  const conflicts = counter(metricNames.conflicts, "Changes that were refused with CONFLICT");
  const fences = counter(metricNames.fences, "Changes that were refused with FENCED");
  const retries = counter(metricNames.retries, "Changes that were planned again because another store was first");
  const sweeps = counter(metricNames.sweeps, "Prunes and compactions");
  const swept = counter(metricNames.sweptCheckpoints, "Checkpoints that prunes deleted");
  const sweptBytes = counter(metricNames.sweptBytes, "Bytes that prunes gave back", "By");
  return {
    commit: ({ backend, count, refused: lost = 0, duration, error }) => {
      commitDuration.record(duration / 1000, { backend, outcome: error === undefined ? "ok" : "error" });
      batches.add(count, { backend });
      if (lost > 0) refused.add(lost, { backend });
    },
    read: ({ backend, duration, error }) => {
      readDuration.record(duration / 1000, { backend, outcome: error === undefined ? "ok" : "error" });
    },
    seal: ({ rows }) => sealedRows.add(rows),
    conflict: () => conflicts.add(1),
    fence: () => fences.add(1),
    retry: () => retries.add(1),
    sweep: ({ deleted = 0, bytesReclaimed = 0 }) => {
      sweeps.add(1);
      if (deleted > 0) swept.add(deleted);
      if (bytesReclaimed > 0) sweptBytes.add(bytesReclaimed);
    },
    run: (event) => {
      const { graph, duration = 0, resumed = false } = event;
      runDuration.record(duration / 1000, { graph, resumed, outcome: outcomeOf(event) });
    },
    task: (event) => {
      const { graph, node = "", duration = 0 } = event;
      taskDuration.record(duration / 1000, { graph, node, outcome: outcomeOf(event) });
    },
  };
}

function outcomeOf({ error, status = "done" }: WorkEvent): string {
  if (isQuestion(error)) return "interrupted";
  return error === undefined ? status : "failed";
}

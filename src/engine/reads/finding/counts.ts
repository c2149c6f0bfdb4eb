import type { IndexEntry, Read, Value } from "../../../backend.ts";
import type { Counts } from "../../../model/interface/results.ts";
import { type Status, statuses } from "../../../model/status.ts";
import { unlessDamaged } from "../../faults/damage.ts";
import type { EngineContext } from "../../memory/context.ts";
import { metaKey } from "../../records/keys.ts";
import { decodeMeta } from "../../records/meta.ts";
import {
  AFTER_STATUSES,
  AFTER_TIMES,
  everyThread,
  statusPrefix,
  workflowPart,
  workflowPrefix,
} from "../../records/store-wide/index-entries.ts";
import type { StatusCode } from "../../records/store-wide/index-state.ts";
import { codeOf, statusOfCode } from "../../view/head-status.ts";
import { byId } from "../list-threads.ts";
import { runningTapes } from "./find-threads.ts";

type ByStatus = Record<Status, number>;

const codes = statuses.flatMap((status): StatusCode[] => {
  const code = codeOf(status);
  return code === undefined ? [] : [code];
});

/** Counts threads by status and workflow from the index, without reading them. */
export async function countThreads(context: EngineContext): Promise<Counts> {
  if (!(await context.index.isComplete())) return countAll(context);
  const all = byStatus(await context.read(codes.map((code) => tally(statusPrefix(code)))));
  const workflows = new Map<string, ByStatus>();
  let rest = { ...all };
  for (const workflow of await workflowNames(context)) {
    const own = byStatus(await context.read(codes.map((code) => tally(workflowPrefix(workflow, code)))));
    workflows.set(workflow, own);
    rest = Object.fromEntries(statuses.map((status) => [status, rest[status] - own[status]])) as ByStatus;
  }
  if (sum(rest) > 0) workflows.set("", rest);
  for (const { meta } of await runningTapes(context)) {
    if (meta.index === undefined) continue;
    for (const counts of [all, workflows.get(meta.index.w ?? "")]) {
      if (counts === undefined) continue;
      counts[statusOfCode(meta.index.s)] -= 1;
      counts.running += 1;
    }
  }
  return { threads: sum(all), status: all, workflows: Object.fromEntries(workflows) };
}

/** Counts all threads, by the index where that is complete. */
export async function threadCount(context: EngineContext): Promise<number> {
  if (!(await context.index.isComplete())) return (await countAll(context)).threads;
  const [threads] = await context.read([{ tally: everyThread }]);
  return threads as number;
}

/** Counts threads by reading them, while not all of them are in the index. */
async function countAll(context: EngineContext): Promise<Counts> {
  const all = none();
  const workflows = new Map<string, ByStatus>();
  for await (const page of byId(context, {})) {
    for (const { info } of page) {
      const own = workflows.get(info.workflow ?? "") ?? none();
      workflows.set(info.workflow ?? "", own);
      own[info.status] += 1;
      all[info.status] += 1;
    }
  }
  return { threads: sum(all), status: all, workflows: Object.fromEntries(workflows) };
}

/** Returns the names of all workflows: a read for each, whatever the number of their threads. */
async function workflowNames(context: EngineContext): Promise<readonly string[]> {
  const names: string[] = [];
  let after: IndexEntry | undefined;
  for (let from = "w"; ; ) {
    const find = { from, to: "x", limit: 1, ...(after && { after }) };
    const [[entry]] = (await context.read([{ find }])) as [readonly IndexEntry[]];
    if (entry === undefined) return names;
    // The text of a long name has only its beginning.
    const [value] = (await context.read([{ get: metaKey(entry.lineage, entry.tape) }])) as [Value | undefined];
    // Where the record is damaged, the next thread of the workflow has the name.
    const name = value === undefined ? undefined : unlessDamaged(() => decodeMeta(value))?.index?.w;
    const part = workflowPart(entry.text);
    const isThis = name !== undefined && context.indexText(workflowPrefix(name, "w")).slice(0, -1) === part;
    if (isThis) names.push(name);
    // A thread that has changed since is found again under the next of its texts.
    if (isThis) from = part + AFTER_STATUSES;
    after = isThis ? undefined : entry;
  }
}

function tally(prefix: string): Read {
  return { tally: { from: prefix, to: prefix + AFTER_TIMES } };
}

function byStatus(answers: readonly unknown[]): ByStatus {
  const counts = none();
  for (const [index, code] of codes.entries()) counts[statusOfCode(code)] = answers[index] as number;
  return counts;
}

function none(): ByStatus {
  return Object.fromEntries(statuses.map((status) => [status, 0])) as ByStatus;
}

function sum(parts: ByStatus): number {
  return Object.values(parts).reduce((total, part) => total + part, 0);
}

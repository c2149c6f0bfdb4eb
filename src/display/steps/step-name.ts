import type { Activation, CheckpointInfo } from "../../model/checkpoint.ts";
import type { TaskTime } from "../../model/interface/topology.ts";
import { START } from "../../model/interface/topology.ts";
import { isPlainObject } from "../../platform/plain-objects.ts";
import { previewOf } from "../values/preview.ts";
import { oneLine, own } from "../values/records.ts";

/** A node that ran in a step, and how often. */
export type Ran = readonly [node: string, count: number];

/** Returns when the tasks of a parallel step ran, as the runtime noted it; an empty list where it did not. */
export function notedTasks({ metadata }: Pick<CheckpointInfo, "metadata">): readonly TaskTime[] {
  const flow = own(metadata, "flow");
  const tasks = isPlainObject(flow) ? own(flow, "tasks") : undefined;
  return Array.isArray(tasks) ? tasks.filter(isTaskTime) : [];
}

function isTaskTime(value: unknown): value is TaskTime {
  if (!Array.isArray(value)) return false;
  const [node, before, took] = value as unknown[];
  return typeof node === "string" && Number.isFinite(before) && Number.isFinite(took);
}

/** Returns the nodes that ran in a step: as noted, as its parent said that they come next, or the only one that it names. */
export function ranIn(info: CheckpointInfo, before: readonly Activation[] | undefined): readonly Ran[] {
  const { node, source } = info;
  if (source !== "loop") return [];
  const noted = notedTasks(info).map(([name]) => name);
  const planned = (before ?? []).map((activation) => activation.node);
  if (noted.length > 0) return counted(noted);
  if (node !== null && !planned.includes(node)) return [[node, 1]];
  if (planned.length > 0 && planned.every((name) => name === START)) return [["start", 1]];
  return counted(planned.filter((name) => name !== START));
}

const MOST_LABELS = 64;

/** Labels the tasks of a parallel step, each with its argument: "read moon". Empty for a single task, and for a crowd. */
export function taskLabels(before: readonly Activation[] | undefined): readonly string[] {
  if (before === undefined || before.length < 2 || before.length > MOST_LABELS) return [];
  return before.map(({ node, arg }) => {
    if (arg === undefined || arg === null) return node;
    return `${node} ${typeof arg === "string" ? oneLine(arg, 40) : previewOf(arg, 40)}`;
  });
}

function counted(names: readonly string[]): readonly Ran[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts];
}

/** Names a step by the nodes that ran in it ("read ×3, rank"), or by where it came from. */
export function stepName(
  { node, source }: { readonly node: string | null; readonly source: string },
  ran: readonly Ran[] = [],
): string {
  if (ran.length > 0) return ran.map(([name, count]) => (count === 1 ? name : `${name} ×${count}`)).join(", ");
  return source === "input" ? source : (node ?? (source === "loop" ? "step" : source));
}

/** Names a step with its number: "step 8 · agent". */
export function stepTitle(
  info: { readonly step: number; readonly node: string | null; readonly source: string },
  ran: readonly Ran[] = [],
): string {
  const name = stepName(info, ran);
  return name === "step" ? `step ${info.step}` : `step ${info.step} · ${name}`;
}

import type { Found } from "../../backend.ts";
import { unwrapJson } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import { controlIndexes, graphChannels, NULL_TASK } from "../../model/control-writes.ts";
import { endOf, type Status, statusOf } from "../../model/status.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { Row } from "../records/row.ts";
import type { StatusCode } from "../records/store-wide/index-state.ts";
import { isFor, type TaskWrites, visibleTasks } from "../records/writes.ts";
import { levels } from "./lineage/levels.ts";
import { writesRead } from "./shown-writes.ts";

/** A control write as far as it decides the status of a thread. */
export interface Control {
  readonly task: string;
  readonly node: string | null;
  readonly index: number;
  readonly channel: string;
  readonly value: Json;
  readonly at: number;
}

/** Tells whether a write can change the status of a thread. */
export function decidesStatus(index: number): boolean {
  return index < 0 && index !== controlIndexes.scheduled;
}

/** Returns the control writes that a thread shows for a checkpoint. */
export async function controlsAt(
  context: EngineContext,
  tape: Tape,
  row: Pick<Row, "namespace" | "id" | "seq">,
): Promise<Control[]> {
  const address = { namespace: row.namespace, checkpoint: row.id };
  const found = new Map<string, Control>();
  for await (const { tape: level, generation } of levels(context, tape)) {
    const [records] = (await context.read([
      writesRead(level.lineage, level.number, row.namespace, row.id),
    ])) as readonly [readonly Found[]];
    const tasks = records.flatMap(({ value }) => unwrapJson(value) as readonly TaskWrites[]);
    const own = new Map<string, Control>();
    for (const { task, node = null, at, writes } of visibleTasks(tasks, address, generation)) {
      for (const [index, channel, value] of writes) {
        if (!decidesStatus(index)) continue;
        own.set(`${index}:${task}`, { task, node, index, channel, value, at });
      }
    }
    for (const [key, control] of own) if (!found.has(key)) found.set(key, control);
    const isCut = tasks.some((entry) => entry.cut && isFor(entry, address) && (entry.generation ?? 0) <= generation);
    if (isCut || !level.meta.origin || row.seq > level.meta.origin.upTo) break;
  }
  return [...found.values()];
}

/**
 * Returns the questions of a LangGraph graph that wait for an answer: a later answer to their task, or to any, ends them. A
 * task that asks again saves its earlier answers together with the new question.
 */
export function openGraphQuestions(controls: readonly Control[]): readonly Control[] {
  const answers = controls.filter(({ index }) => index === controlIndexes.resume);
  return controls.filter((question) => {
    if (question.index !== controlIndexes.interrupt || question.channel !== graphChannels.interrupt) return false;
    return !answers.some(({ task, at }) => {
      // Times of different tasks are told apart by the millisecond.
      if (task === NULL_TASK && task !== question.task) return Math.floor(at) > Math.floor(question.at);
      return task === question.task && at > question.at;
    });
  });
}

/** Returns the tasks that have an answer. The task of an answer to a checkpoint's own question is the question's id. */
export function answeredTasks(controls: readonly Control[]): ReadonlySet<string> {
  return new Set(controls.filter(({ index }) => index === controlIndexes.resume).map(({ task }) => task));
}

/** Returns how many of the checkpoint's own questions wait for an answer. */
function openQuestions(
  { waiting, questions }: Pick<Row, "waiting" | "questions">,
  controls: readonly Control[],
): number {
  const answered = answeredTasks(controls);
  // Without their ids, questions and answers can only be counted.
  if (questions === null) return Math.max(0, waiting - answered.size);
  return questions.filter((id) => !answered.has(id)).length;
}

const codes: Readonly<Record<Exclude<Status, "running">, StatusCode>> = {
  waiting: "w",
  failed: "f",
  cancelled: "c",
  done: "d",
  paused: "p",
};

/** Returns the code of a status; undefined for `running`, which the lease decides. */
export function codeOf(status: Status): StatusCode | undefined {
  return status === "running" ? undefined : codes[status];
}

const byCode = new Map(Object.entries(codes).map(([status, code]) => [code, status as Status]));

/** Returns the status that a code stands for. */
export function statusOfCode(code: StatusCode): Status {
  return byCode.get(code) as Status;
}

/** Decides the status of a thread with this head, leases apart. */
export function statusCode(
  row: Pick<Row, "waiting" | "questions" | "pending">,
  controls: readonly Control[],
): StatusCode {
  const { waiting, pending } = row;
  if (controls.length === 0) return waiting > 0 ? "w" : pending === 0 ? "d" : "p";
  const errors = controls.filter(({ index }) => index === controlIndexes.error).map(({ value }) => value);
  const open = openGraphQuestions(controls).length + openQuestions(row, controls);
  return codeOf(statusOf({ leased: false, end: endOf(errors), waiting: open, pending })) as StatusCode;
}

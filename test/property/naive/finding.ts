import type { AttributeChanges, Attributes, AttributeValue, Where } from "../../../src/model/attributes.ts";
import { NULL_TASK } from "../../../src/model/control-writes.ts";
import type { ThreadsOptions } from "../../../src/model/interface/store-options.ts";
import type { Status } from "../../../src/model/status.ts";
import { headOf, lineOf, type NaiveThread } from "./thread.ts";
import { calledAt } from "./writes.ts";

/** Merges attributes into those of a thread. */
export function setAttributes(thread: NaiveThread, changes: AttributeChanges): void {
  const kept = Object.entries({ ...thread.attributes, ...changes }).filter(([, value]) => value !== null);
  thread.attributes = Object.fromEntries(kept) as Attributes;
}

/** The questions of a thread's head that no answer is for, by their ids; those of LangGraph by their tasks. */
export function openQuestions(thread: NaiveThread): readonly string[] {
  const head = headOf(thread);
  const writes = lineOf(thread, head.namespace).writes.get(head.id) ?? [];
  const answers = writes.filter(({ index }) => index === -4);
  const own = head.interrupts.map(({ id }) => id).filter((id) => !answers.some(({ task }) => task === id));
  const asked = writes.filter(({ index, channel }) => index === -3 && channel === "__interrupt__");
  const open = asked.filter((question) => {
    const { time, call } = calledAt(question);
    return !answers.some((answer) => {
      const given = calledAt(answer);
      if (answer.task === question.task) return given.call > call;
      return answer.task === NULL_TASK && given.time > time;
    });
  });
  return [...own, ...open.map(({ task }) => task)];
}

/** The status of a thread, its lease apart. */
export function statusOf(thread: NaiveThread): Status {
  const head = headOf(thread);
  if (openQuestions(thread).length > 0) return "waiting";
  const writes = lineOf(thread, head.namespace).writes.get(head.id) ?? [];
  const errors = writes.filter(({ index, value }) => index === -1 && value !== null);
  if (errors.some(({ value }) => (value as { code?: unknown } | undefined)?.code === "CANCELLED")) return "cancelled";
  if (errors.length > 0) return "failed";
  return head.next.length === 0 ? "done" : "paused";
}

/** When a thread was last active: at its newest checkpoint of its own, or when it was forked. */
export function updatedAt(thread: NaiveThread, bundled: boolean): number {
  const all = [...thread.lines.values()].flatMap(({ checkpoints }) => checkpoints);
  const newest = all.reduce((left, right) => (left.seq > right.seq ? left : right));
  if (thread.forkedFrom === null || bundled) return newest.createdAt;
  return newest.seq > thread.inherited ? Math.max(newest.createdAt, thread.forkedAt) : thread.forkedAt;
}

export interface Facts {
  readonly status: Status;
  readonly updatedAt: number;
}

/** Tells whether a thread is what a list asks for. */
export function isSought(thread: NaiveThread, { status, updatedAt: time }: Facts, options: ThreadsOptions): boolean {
  const { workflow, run, where = {}, updatedAfter, updatedBefore, prefix = "" } = options;
  const statuses = options.status === undefined ? [status] : [options.status].flat();
  const runs = [...thread.lines.values()].flatMap((line) => line.checkpoints.map((one) => one.run));
  return (
    statuses.includes(status) &&
    (workflow === undefined || headOf(thread).workflow === workflow) &&
    (run === undefined || runs.includes(run)) &&
    (updatedAfter === undefined || time > updatedAfter) &&
    (updatedBefore === undefined || time < updatedBefore) &&
    thread.id.startsWith(prefix) &&
    Object.entries(where).every(([name, condition]) => meets(thread.attributes[name], condition))
  );
}

function meets(value: AttributeValue | undefined, condition: Where[string]): boolean {
  if (value === undefined) return false;
  if (typeof condition !== "object") return value === condition;
  const { eq, ne, gt, lte, in: several, prefix } = condition;
  return (
    (eq === undefined || value === eq) &&
    (ne === undefined || value !== ne) &&
    (gt === undefined || (typeof value === typeof gt && value > gt)) &&
    (lte === undefined || (typeof value === typeof lte && value <= lte)) &&
    (several === undefined || several.includes(value)) &&
    (prefix === undefined || (typeof value === "string" && value.startsWith(prefix)))
  );
}

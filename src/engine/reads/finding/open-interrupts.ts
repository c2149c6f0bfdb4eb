import { namespaceKey } from "../../../model/address.ts";
import type { OpenInterrupt, ThreadInfo } from "../../../model/checkpoint.ts";
import type { InterruptsOptions } from "../../../model/interface/store-options.ts";
import { ifDamaged } from "../../faults/damage.ts";
import type { EngineContext } from "../../memory/context.ts";
import { findById } from "../../view/find.ts";
import { answeredTasks, controlsAt, openGraphQuestions } from "../../view/head-status.ts";
import { checkpointOf, decodeWrites } from "../checkpoint.ts";
import { cursorOf, placeOf } from "./cursor.ts";
import { listThreads } from "./find-threads.ts";

type Question = Omit<OpenInterrupt, "cursor">;

/**
 * Yields the questions of waiting threads that have no answer yet, those of the newest thread first. A damaged thread is passed
 * over: `verify` reports it.
 */
export async function* openInterrupts(
  context: EngineContext,
  options: InterruptsOptions,
): AsyncGenerator<OpenInterrupt> {
  const { limit = Number.POSITIVE_INFINITY, after, ...rest } = options;
  let left = limit;
  if (left <= 0) return;
  const seen = after === undefined ? undefined : questionAt(after);
  const threads = listThreads(context, {
    ...rest,
    status: "waiting",
    order: "updated",
    ...(seen && { after: seen.before }),
  });
  for await (const info of threads) {
    const questions = await context.calls.track(() => questionsOf(context, info).catch(ifDamaged));
    for (const [number, question] of (questions ?? []).entries()) {
      if (seen && info.cursor === seen.thread && number <= seen.number) continue;
      yield { ...question, cursor: `${number}${info.cursor}` };
      left -= 1;
      if (left <= 0) return;
    }
  }
}

/** Returns the thread and question that a cursor names, and the place just before that thread in the list. */
function questionAt(cursor: string): { readonly thread: string; readonly number: number; readonly before: string } {
  const at = cursor.indexOf("@");
  const thread = cursor.slice(at);
  const number = Number(cursor.slice(0, at));
  const place = at > 0 ? placeOf(thread) : undefined;
  if (place === undefined || !Number.isSafeInteger(number)) {
    throw new TypeError("interrupts: after must be the cursor of a question.");
  }
  return { thread, number, before: cursorOf({ ...place, tape: place.tape + 1 }) };
}

async function questionsOf(context: EngineContext, { id, workflow, head }: ThreadInfo): Promise<readonly Question[]> {
  const tape = await context.thread(id);
  const row = tape && (await findById(context, tape, namespaceKey(head.namespace), head.id));
  if (!tape || !row) return [];
  const controls = tape.meta.controls ? await controlsAt(context, tape, row) : [];
  const asked = { thread: id, workflow, checkpoint: head.id };
  const questions: Question[] = [];
  if (row.waiting > 0) {
    const place = { thread: id, namespace: head.namespace };
    const checkpoint = await checkpointOf(context, tape, place, row);
    const answered = answeredTasks(controls);
    for (const { id: question, node, value } of checkpoint?.interrupts ?? []) {
      if (!answered.has(question)) questions.push({ ...asked, id: question, node, value, since: row.createdAt });
    }
  }
  const open = openGraphQuestions(controls);
  const written = await decodeWrites(context, tape, open);
  for (const [index, { task, node, at }] of open.entries()) {
    for (const { id: question, value } of graphQuestions(task, written[index]?.value)) {
      questions.push({ ...asked, id: question, node, value, since: Math.floor(at) });
    }
  }
  return questions;
}

/** Returns the questions in a control write of LangGraph, which saves a list of them for a task. */
function graphQuestions(task: string, decoded: unknown): { readonly id: string; readonly value: unknown }[] {
  const list: readonly unknown[] = Array.isArray(decoded) ? decoded : [decoded];
  return list.map((one) => {
    if (one === null || typeof one !== "object") return { id: task, value: one };
    const { id, interrupt_id: older, value: asked } = one as { id?: unknown; interrupt_id?: unknown; value?: unknown };
    const named = id ?? older;
    return { id: typeof named === "string" ? named : task, value: "value" in one ? asked : one };
  });
}

import type { Thread } from "../../api/thread.ts";
import type { ShownQuestion } from "../../display/steps/question.ts";
import { toTagged } from "../../display/tagged-json.ts";
import type { Renderers } from "../../display/values/renderers.ts";
import type { Checkpoint, Write } from "../../model/checkpoint.ts";
import { controlChannels, controlIndexes } from "../../model/control-writes.ts";
import type { AnswerForm, QuestionFacts } from "./answers.ts";
import type { ApiContext, State } from "./api-context.ts";
import { previewNode } from "./thread/tree.ts";

/** The control write that answers an interrupt; the next run of the thread picks it up. */
const ANSWER = { channel: controlChannels.resume, index: controlIndexes.resume } as const;

/** The checkpoint and interrupt that an answer belongs to. */
export interface AnswerTarget {
  readonly thread: Thread<State>;
  readonly checkpoint: string;
  readonly interrupt: string;
}

/**
 * Finds where a question is answered. The graphs around a nested graph pass its question on, under an id that begins
 * with their tasks, and a run continues with the answer given to the outermost graph. A question that was not passed on
 * is answered where it was asked.
 */
export async function answerTargetOf(
  { store }: ApiContext,
  thread: Thread<State>,
  checkpoint: string,
  interrupt: string,
): Promise<AnswerTarget> {
  if (thread.namespace.length > 0) {
    const outer = store.thread(thread.id);
    const tasks = thread.namespace.filter((_, position) => position % 2 === 1);
    const id = [...tasks.map(inId), interrupt].join("~.");
    const head = await outer.latest();
    if (head?.interrupts.some((question) => question.id === id))
      return { thread: outer, checkpoint: head.id, interrupt: id };
  }
  return { thread, checkpoint, interrupt };
}

/** Writes a task as the runtime's ids do: characters that a url would escape as `_`, their code and `_`. */
function inId(task: string): string {
  return task.replace(/[^A-Za-z0-9.-]/gu, (character) => `_${(character.codePointAt(0) as number).toString(16)}_`);
}

/** Returns the ids of a checkpoint's questions that are answered but not yet picked up. */
export async function answeredOf(
  context: ApiContext,
  thread: Thread<State>,
  { id, interrupts }: Checkpoint<State>,
  writes: readonly Write[],
): Promise<ReadonlySet<string>> {
  const answered = new Set<string>();
  for (const question of interrupts) {
    const target = await answerTargetOf(context, thread, id, question.id);
    const found = target.thread === thread ? writes : await target.thread.writes(target.checkpoint);
    if (found.some(({ task, index }) => task === target.interrupt && index === ANSWER.index)) answered.add(question.id);
  }
  return answered;
}

/** Returns a question as the API answers it. */
export function questionFacts(
  { details, form, ...question }: ShownQuestion,
  answered: ReadonlySet<string>,
  renderers: Renderers,
): QuestionFacts {
  return {
    ...question,
    form: toTagged(form) as unknown as AnswerForm,
    details: details === undefined ? null : previewNode(details, 2_000, renderers),
    answered: answered.has(question.id),
  };
}

/** Stores an answer for the next run of the thread. */
export async function storeAnswer({ thread, checkpoint, interrupt }: AnswerTarget, value: unknown): Promise<void> {
  await thread.putWrites(checkpoint, { task: interrupt, writes: [{ ...ANSWER, value }] });
}

import type { Thread } from "../../api/thread.ts";
import type { Checkpoint, Write } from "../../model/checkpoint.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import type { Context, State } from "./context.ts";

/** The control write that answers an interrupt: whoever runs the thread next picks it up. */
const ANSWER = { channel: "answer", index: controlIndexes.resume } as const;

/** Where a question is answered. */
export interface Place {
  readonly thread: Thread<State>;
  readonly checkpoint: string;
  readonly interrupt: string;
}

/**
 * A question of a nested graph comes out of the graphs around it under an id that begins with their tasks, and a run goes
 * on with what the outermost was answered. One that did not come out is answered where it was asked.
 */
export async function placeOf(
  { store }: Context,
  thread: Thread<State>,
  checkpoint: string,
  interrupt: string,
): Promise<Place> {
  if (thread.namespace.length > 0) {
    const outer = store.thread(thread.id);
    const tasks = thread.namespace.filter((_, position) => position % 2 === 1);
    const id = [...tasks, interrupt].join("/");
    const head = await outer.latest();
    if (head?.interrupts.some((question) => question.id === id))
      return { thread: outer, checkpoint: head.id, interrupt: id };
  }
  return { thread, checkpoint, interrupt };
}

/** The ids of those questions of a checkpoint that are answered and not yet picked up. */
export async function answeredOf(
  context: Context,
  thread: Thread<State>,
  { id, interrupts }: Checkpoint<State>,
  writes: readonly Write[],
): Promise<ReadonlySet<string>> {
  const answered = new Set<string>();
  for (const question of interrupts) {
    const place = await placeOf(context, thread, id, question.id);
    const those = place.thread === thread ? writes : await place.thread.writes(place.checkpoint);
    if (those.some(({ task, index }) => task === place.interrupt && index === ANSWER.index)) answered.add(question.id);
  }
  return answered;
}

/** Stores an answer for whoever runs the thread next. */
export async function storeAnswer({ thread, checkpoint, interrupt }: Place, value: unknown): Promise<void> {
  await thread.putWrites(checkpoint, { task: interrupt, writes: [{ ...ANSWER, value }] });
}

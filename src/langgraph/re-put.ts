import type { Thread } from "../api/thread.ts";
import type { PutInput, PutOptions } from "../model/arguments.ts";
import type { Metadata } from "../model/checkpoint.ts";
import { type Bookkeeping, isSnapshot, keyOf, type Notes, reserved, withNotes } from "./mapping/bookkeeping.ts";

type State = Record<string, unknown>;

/**
 * With durability "exit", a run that made no step (it asks or fails where it stood, or the thread was done) puts the
 * checkpoint it began with once more, as its own parent. It is changed in place then, and stays where it is: what is new is
 * added to its own state. What came with its ancestors, and perhaps went with them, is not in what LangGraph passes.
 * The run has ended by then, so that nothing changes the values while the state is read.
 */
export async function putAgain(thread: Thread<State>, input: PutInput<State>, options: PutOptions): Promise<void> {
  const id = input.id as string;
  const there = await thread.get(id);
  // Deleted meanwhile: refused, as any late checkpoint is.
  if (there === undefined) {
    await thread.put(input, { ...options, parent: id });
    return;
  }
  const { update, state: _, ...fields } = input;
  const { set = {}, unset = [] } = update ?? {};
  // A run that failed between two channels has made new versions of some without a value: a list kept as a whole stays.
  const isKept = (key: string): boolean => isSnapshot(there.state[key]);
  const state: State = { ...there.state, ...set };
  for (const key of unset) if (!isKept(key)) delete state[key];
  const { sends, history, parent } = (there.state[reserved] ?? {}) as Partial<Bookkeeping>;
  state[reserved] = {
    ...(set[reserved] as Bookkeeping),
    ...(sends !== undefined && { sends }),
    ...(history !== undefined && { history }),
    ...(parent !== undefined && { parent }),
  };
  const { label, run, next, workflow } = there;
  await thread.put(
    {
      workflow,
      ...fields,
      ...{ label, run, state },
      // Only what is new among the channels tells of activations.
      ...(fields.next?.length === 0 && { next }),
      metadata: withBoth(there.metadata, fields.metadata ?? {}, (channel) => isKept(keyOf(channel))),
    },
    options,
  );
}

/** The new metadata, with the notes of both. Channels that are kept are not unset. */
function withBoth(before: Metadata, after: Metadata, isKept: (channel: string) => boolean): Metadata {
  const old = (before[reserved] ?? {}) as Notes;
  const { set = [], unset: emptied = [], ...notes } = (after[reserved] ?? {}) as Notes;
  const unset = emptied.filter((channel) => !isKept(channel));
  const kept = (list: readonly string[] = [], gone: readonly string[]): string[] =>
    list.filter((channel) => !gone.includes(channel));
  return withNotes(after, {
    ...notes,
    ...(old.history !== undefined && { history: old.history }),
    set: [...new Set([...kept(old.set, unset), ...set])],
    unset: [...new Set([...kept(old.unset, set), ...unset])],
  });
}

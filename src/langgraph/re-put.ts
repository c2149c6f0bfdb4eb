import type { Thread } from "../api/thread.ts";
import type { Metadata } from "../model/checkpoint.ts";
import type { PutInput, PutOptions } from "../model/interface/options.ts";
import { type Bookkeeping, isSnapshot, keyOf, reserved, type SaverNotes, withNotes } from "./mapping/bookkeeping.ts";

type State = Record<string, unknown>;

/**
 * Puts a checkpoint that is its own parent. With durability "exit", a run without a step (it asks or fails where it began, or
 * the thread was done) puts the checkpoint it began with once more. The stored checkpoint is changed in place: new values
 * are added to its own state, because LangGraph does not pass values that came with its ancestors. The run has ended by
 * then, so that nothing changes the values while the state is read.
 */
export async function rePut(thread: Thread<State>, input: PutInput<State>, options: PutOptions): Promise<void> {
  const id = input.id as string;
  const stored = await thread.get(id);
  // The store refuses the put of a checkpoint that was deleted meanwhile.
  if (stored === undefined) {
    await thread.put(input, { ...options, parent: id });
    return;
  }
  const { update, state: _, ...fields } = input;
  const { set = {}, unset = [] } = update ?? {};
  // A run that failed between two channels lists versions of channels without passing a value: their snapshots stay.
  const isKept = (key: string): boolean => isSnapshot(stored.state[key]);
  const state: State = { ...stored.state, ...set };
  for (const key of unset) if (!isKept(key)) delete state[key];
  const { sends, history, parent } = (stored.state[reserved] ?? {}) as Partial<Bookkeeping>;
  state[reserved] = {
    ...(set[reserved] as Bookkeeping),
    ...(sends !== undefined && { sends }),
    ...(history !== undefined && { history }),
    ...(parent !== undefined && { parent }),
  };
  const { label, run, next, workflow } = stored;
  await thread.put(
    {
      workflow,
      ...fields,
      ...{ label, run, state },
      // The new channels alone may activate no node, while the stored checkpoint does.
      ...(fields.next?.length === 0 && { next }),
      metadata: withBoth(stored.metadata, fields.metadata ?? {}, (channel) => isKept(keyOf(channel))),
    },
    options,
  );
}

/** Returns the new metadata with the notes of both. Channels that are kept are not noted as unset. */
function withBoth(before: Metadata, after: Metadata, isKept: (channel: string) => boolean): Metadata {
  const old = (before[reserved] ?? {}) as SaverNotes;
  const { set = [], unset: emptied = [], ...notes } = (after[reserved] ?? {}) as SaverNotes;
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

import type { Thread } from "../../api/thread.ts";
import type { Checkpoint } from "../../model/checkpoint.ts";
import type { OpenOptions } from "../../model/interface/store-options.ts";
import type { Free } from "../case.ts";
import { exact } from "./exact.ts";

/** Options for cases that need several packs, whatever their size: a short history has them. */
export const smallPacks: OpenOptions = { packRows: 16 };

/** A checkpoint as it was put, to compare later reads with. */
export interface Kept {
  readonly id: string;
  readonly state: Free;
}

/**
 * Puts `count` checkpoints like those of a conversation (a growing list, changing fields, a growing text, occasional
 * changes in the middle), half as whole states and half as updates, and returns a copy of each.
 */
export async function converse(thread: Thread<Free>, count: number, prefix = ""): Promise<Kept[]> {
  const kept: Kept[] = [];
  let state: Free = (await thread.latest())?.state ?? { turn: -1, messages: [], log: "" };
  for (let index = 0; index < count; index++) {
    const turn = state.turn + 1;
    const message = {
      role: turn % 2 === 0 ? "user" : "agent",
      text: `${prefix}message ${turn} ${"·".repeat(turn % 7)}`,
    };
    // Some whole states share unchanged parts with the state before, others are new throughout.
    const before = turn % 3 === 0 ? structuredClone(state) : state;
    state = { ...before, turn, messages: [...before.messages, message], log: `${before.log}${turn};` };
    if (turn % 11 === 10) state.messages[5] = { ...state.messages[5], text: `edited in turn ${turn}` };
    if (turn % 17 === 16) state.draft = { turn, words: ["one", "two"], at: new Date(turn) };
    if (turn % 17 === 3) delete state.draft;
    const known = turn % 2 === 1 && turn > 0 && turn % 11 !== 10 && turn % 17 !== 16 && turn % 17 !== 3;
    const put = await thread.put(
      known ? { update: { append: { messages: [message], log: `${turn};` }, set: { turn } } } : { state },
    );
    kept.push({ id: put.id, state: structuredClone(state) });
  }
  return kept;
}

const READ_AT_ONCE = 16;

/** Fails unless every kept checkpoint reads back exactly, each by its own id. */
export async function readsBack(thread: Thread<Free>, kept: readonly Kept[]): Promise<void> {
  for (let start = 0; start < kept.length; start += READ_AT_ONCE) {
    const some = kept.slice(start, start + READ_AT_ONCE);
    const read: (Checkpoint<Free> | undefined)[] = await Promise.all(some.map(({ id }) => thread.get(id)));
    for (const [index, { id, state }] of some.entries()) {
      exact(read[index]?.state, state, `the state of ${id} in ${thread.id}`);
    }
  }
}

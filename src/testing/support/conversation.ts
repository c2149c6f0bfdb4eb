import type { Thread } from "../../api/thread.ts";
import type { OpenOptions } from "../../model/arguments.ts";
import type { Checkpoint } from "../../model/checkpoint.ts";
import type { Free } from "../case.ts";
import { exact } from "./exact.ts";

/** For cases in which it matters that there are several packs, not how large they are: a short history has them. */
export const smallPacks: OpenOptions = { packRows: 16 };

/** What was put, kept whole: the truth that later reads are compared with. */
export interface Kept {
  readonly id: string;
  readonly state: Free;
}

/**
 * Puts `count` checkpoints that behave like a conversation (a list that grows, fields that change, a text that grows,
 * now and then a change in the middle), half by whole states and half by updates, and keeps a whole copy of each.
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
    // Of whole states, some share their unchanged parts with the one before, and some are new throughout.
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

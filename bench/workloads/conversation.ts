import { words } from "./words.ts";
import type { State, Step, Workload } from "./workload.ts";

export interface Message {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly tokens: number;
}

/** A message of about 500 bytes. */
export function message(index: number): Message {
  return {
    id: `m${index}`,
    role: index % 2 ? "assistant" : "user",
    content: words(index)(440),
    tokens: (index * 7) % 991,
  };
}

/** A conversation that is `length` messages long already. */
export function conversationOf(length: number): State {
  const messages = Array.from({ length }, (_, index) => message(index));
  return { messages, turn: length, last: `m${length - 1}`, status: "plan" };
}

/** A message of about 500 bytes a step, and a few small fields. */
export const conversation: Workload = {
  name: "conversation",
  title: "a conversation, plain objects",
  steps: 1_000,
  initial: () => ({ messages: [], turn: 0, last: "", status: "" }),
  step(state): Step {
    const before = state["messages"] as readonly Message[];
    const index = before.length;
    const added = message(index);
    const set = { turn: index, last: added.id, status: index % 2 ? "act" : "plan" };
    const update = { append: { messages: [added] }, set };
    return { state: { messages: [...before, added], ...set }, update, changed: JSON.stringify(update) };
  },
};

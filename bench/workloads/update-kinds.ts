import { type Message, message } from "./conversation.ts";
import { words } from "./words.ts";
import type { State } from "./workload.ts";

/** A kind of update that agents make, at a step of a conversation that was `length` messages long. */
export interface UpdateKind {
  readonly name: string;
  update(index: number, length: number): object;
}

const append = (index: number): { messages: Message[] } => ({ messages: [message(index)] });

const single: readonly UpdateKind[] = [
  { name: "append", update: (index) => ({ append: append(index) }) },
  {
    name: "append + 3 scalars",
    update: (index) => ({ append: append(index), set: { turn: index, last: `m${index}`, status: `${index % 2}` } }),
  },
  {
    name: "append + 2 small objects",
    update: (index) => ({
      append: append(index),
      set: {
        scratch: { goal: "find the place", note: words(index)(60), depth: index % 7 },
        counters: { calls: index, tokens: index * 31, errors: 0 },
      },
    }),
  },
  {
    name: "append + 2 small lists",
    update: (index) => ({
      append: append(index),
      set: { todo: ["look", "book", words(index)(30)], seen: [index, index + 1, index + 2] },
    }),
  },
  {
    name: "append + unset",
    update: (index) =>
      index % 2 === 0
        ? { append: append(index), set: { draft: words(index)(60) } }
        : { append: append(index), unset: ["draft"] },
  },
  {
    name: "append + patch",
    update: (index) => ({
      append: append(index),
      patch: [
        [["plan", "steps", index % 5, "done"], index % 2 === 0],
        [["plan", "at"], index],
      ],
    }),
  },
  {
    name: "patch in the list",
    update: (index, length) => ({ patch: [[["messages", (index * 7) % length, "tokens"], index]] }),
  },
];

/** Every kind by itself, and all of them in turn. */
export const updateKinds: readonly UpdateKind[] = [
  ...single,
  { name: "a mix", update: (index, length) => (single[index % single.length] as UpdateKind).update(index, length) },
];

/** The state that the updates begin with. */
export function stateToUpdate(length: number): State {
  return {
    messages: Array.from({ length }, (_, index) => message(index)),
    turn: length,
    last: "",
    status: "",
    scratch: { goal: "", note: "", depth: 0 },
    counters: { calls: 0, tokens: 0, errors: 0 },
    todo: ["look"],
    seen: [1],
    plan: {
      title: "a trip",
      at: 0,
      steps: Array.from({ length: 5 }, (_, index) => ({ name: `s${index}`, done: false })),
    },
  };
}

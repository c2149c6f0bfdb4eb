import { type Message, message } from "./conversation.ts";
import { words } from "./words.ts";
import type { Step, Workload } from "./workload.ts";

/** A conversation that is cut to its last 50 messages and a summary whenever it reaches 1,000. */
export const trimmedList: Workload = {
  name: "trimmed",
  title: "a list of 1,000, trimmed to 50 by summarising",
  steps: 1_200,
  initial: () => ({ messages: [], summary: "" }),
  step(state, index): Step {
    const list = state["messages"] as readonly Message[];
    const added = message(index);
    if (list.length < 1_000) {
      return {
        state: { ...state, messages: [...list, added] },
        update: { append: { messages: [added] } },
        changed: JSON.stringify({ message: added }),
      };
    }
    const set = { messages: [...list.slice(-50), added], summary: words(index)(300) };
    return { state: set, update: { set }, changed: JSON.stringify({ message: added, summary: set.summary }) };
  },
};

import { words } from "./words.ts";
import type { Step, Workload } from "./workload.ts";

/** A string of 200 KB that grows by a sentence a step. */
export const growingText: Workload = {
  name: "text",
  title: "a 200 KB string that grows by a sentence",
  steps: 300,
  initial: () => ({ text: words(2)(200_000) }),
  step(state, index): Step {
    const sentence = `${words(index)(90)}. `;
    return {
      state: { text: (state["text"] as string) + sentence },
      update: { append: { text: sentence } },
      changed: JSON.stringify({ text: sentence }),
    };
  },
};

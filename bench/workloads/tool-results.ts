import { words } from "./words.ts";
import type { Step, Workload } from "./workload.ts";

/** Every step appends what a tool gave: 10 to 100 KB. */
export const toolResults: Workload = {
  name: "tools",
  title: "tool results of 10 to 100 KB",
  steps: 100,
  initial: () => ({ results: [], turn: 0 }),
  step(state, index): Step {
    const added = { tool: `tool-${index % 5}`, output: words(index)(10_000 + ((index * 37) % 91) * 1_000) };
    const update = { append: { results: [added] }, set: { turn: index } };
    const results = [...(state["results"] as unknown[]), added];
    return { state: { results, turn: index }, update, changed: JSON.stringify(update) };
  },
};

import { words } from "./words.ts";
import type { Step, Workload } from "./workload.ts";

/** A field of 20 KB that has nothing in common with what it was: deltas cannot help. */
export const overwrittenField: Workload = {
  name: "overwritten",
  title: "a field of 20 KB, overwritten every step",
  steps: 200,
  initial: () => ({ title: "report", field: "" }),
  step(state, index): Step {
    const set = { field: words(index)(20_000) };
    return { state: { ...state, ...set }, update: { set }, changed: JSON.stringify(set) };
  },
};

import type { Step, Workload } from "./workload.ts";

/** Hardly any state at all: what a checkpoint costs by itself. */
export const tiny: Workload = {
  name: "tiny",
  title: "a state of 30 bytes",
  steps: 1_000,
  initial: () => ({ count: 0, status: "running" }),
  step(state, index): Step {
    const set = { count: index };
    return { state: { ...state, ...set }, update: { set }, changed: JSON.stringify(set) };
  },
};

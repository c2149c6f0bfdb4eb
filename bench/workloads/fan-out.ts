import { words } from "./words.ts";
import type { Step, Workload } from "./workload.ts";

const width = 100;

/** A super-step of 100 tasks at once, each saving its result as a write before the step's checkpoint. */
export const fanOut: Workload = {
  name: "fan-out",
  title: "100 tasks a step, each with a write of 200 bytes",
  steps: 30,
  initial: () => ({ results: {}, round: 0 }),
  step(_state, index): Step {
    const tasks = Array.from({ length: width }, (_, task) => ({
      task: `task-${String(task).padStart(3, "0")}`,
      channel: "results",
      value: { task, text: words(index * width + task)(180) },
    }));
    const set = { results: Object.fromEntries(tasks.map(({ task, value }) => [task, value.text])), round: index };
    return { state: set, update: { set }, changed: JSON.stringify({ tasks, ...set }), tasks };
  },
};

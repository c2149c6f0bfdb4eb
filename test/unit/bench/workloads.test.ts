import { describe, expect, it } from "vitest";
import { workloads } from "../../../bench/workloads/index.ts";
import type { State, Step } from "../../../bench/workloads/workload.ts";

/** Returns the state after an update, computed without the store. */
function updated(state: State, { append = {}, set = {} }: Step["update"]): State {
  const appended = Object.entries(append).map(([key, value]) => {
    const before = state[key];
    return [key, typeof value === "string" ? `${before}${value}` : [...(before as unknown[]), ...value]];
  });
  return { ...state, ...Object.fromEntries(appended), ...set };
}

describe.each(workloads)("the workload $name", (workload) => {
  it("a workload says the same in its update as in its state", () => {
    let state = workload.initial();
    for (let index = 1; index <= Math.min(workload.steps, 1_100); index += 1) {
      const step = workload.step(state, index);
      expect(Object.keys(updated(state, step.update)).sort()).toEqual(Object.keys(step.state).sort());
      if (index % 100 === 1 || index > 1_000) expect(updated(state, step.update)).toEqual(step.state);
      state = step.state;
    }
  });

  it("a workload is the same in every run, and leaves the state before as it was", () => {
    const first = workload.initial();
    const before = JSON.stringify(first);
    const [one, other] = [workload.step(first, 1), workload.step(workload.initial(), 1)];
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
    expect(JSON.stringify(first)).toBe(before);
  });
});

it("no two workloads have one name", () => {
  expect(new Set(workloads.map(({ name }) => name)).size).toBe(workloads.length);
});

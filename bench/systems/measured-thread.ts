import { Timings } from "../harness/timing.ts";
import type { State, Step, Workload } from "../workloads/workload.ts";
import type { Home, Opened, System, Thread } from "./system.ts";

/** A thread of a system, and the state it should be in. */
export class History {
  readonly thread: Thread;
  readonly #workload: Workload;
  state: State;
  /** Steps taken. */
  steps = 0;
  /** Characters of the JSON of what changed. */
  changed = 0;

  constructor(opened: Opened, workload: Workload, id = "measured") {
    this.thread = opened.thread(id);
    this.#workload = workload;
    this.state = workload.initial();
  }

  async begin(state: State = this.state): Promise<void> {
    this.state = state;
    await this.thread.begin(state);
  }

  next(): Step {
    this.steps += 1;
    const step = this.#workload.step(this.state, this.steps);
    this.state = step.state;
    this.changed += step.changed.length;
    return step;
  }

  /** Takes steps until there are enough, or (after `least` of them) the time is up. The times of all of them. */
  async advance(steps: number, milliseconds: number = Number.POSITIVE_INFINITY, least = 0): Promise<Timings> {
    const timings = new Timings();
    const end = performance.now() + milliseconds;
    for (let count = 0; count < steps && (count < least || performance.now() < end); count += 1) {
      const step = this.next();
      await timings.measure(() => this.thread.step(step));
    }
    return timings;
  }
}

/** Compiles what will be measured, for so many milliseconds: a history in a home of its own. */
export async function warm(system: System, workload: Workload, home: Home, milliseconds: number): Promise<void> {
  const opened = await system.open(home);
  const history = new History(opened, workload);
  await history.begin();
  await history.advance(3_000, milliseconds, 3);
  await history.thread.latest?.();
  await opened.close();
}

import type { Context, Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { checkState } from "../../systems/check-state.ts";
import { systemsOn } from "../../systems/index.ts";
import { History, warm } from "../../systems/measured-thread.ts";
import type { System } from "../../systems/system.ts";
import { workloads as all } from "../../workloads/index.ts";
import type { Workload } from "../../workloads/workload.ts";

/** Milliseconds after which a system is stopped, and the table says so. */
const limits = { whole: 700, quick: 300 };

function takes(system: System, workload: Workload): boolean {
  if (workload.langchain) return system.langchain === true;
  return !system.conversationOnly || workload.name === "conversation";
}

interface Cost {
  readonly row: Cell[];
  /** Of what a step may cost: twice its change, and 300 bytes. */
  readonly part: number | null;
}

async function measure({ place, quick }: Context, system: System, workload: Workload): Promise<Cost> {
  const steps = quick ? Math.min(workload.steps, 200) : workload.steps;
  const home = await place.home(system.home);
  const opened = await system.open(home);
  const history = new History(opened, workload);
  await history.begin();
  const first = await opened.bytes();
  const times = await history.advance(steps, quick ? limits.quick : limits.whole, 5);
  if (history.thread.latest) checkState(await history.thread.latest(), history.state, system.name);
  const bytes = await opened.bytes();
  await opened.close();
  await place.clear(home);
  const taken = history.steps < steps ? `stopped after ${history.steps}` : `${steps}`;
  // An empty store and the first state are no step.
  const cost = bytes === undefined || first === undefined ? null : bytes - first;
  return {
    row: [
      system.name,
      taken,
      times.p50 * 1_000,
      times.p99 * 1_000,
      cost === null ? null : cost / history.steps,
      cost === null ? null : cost / history.changed,
    ],
    part: cost === null ? null : cost / (2 * history.changed + 300 * history.steps),
  };
}

/** Other shapes of state, on every system. */
export const workloads: Part = {
  name: "workloads",
  title: "other shapes of state: tool results, files, text, lists, tasks",
  async run(context) {
    const { report, place, quick } = context;
    const systems = systemsOn(place).filter(({ name }) => !quick || /SQLite, put|change, SQLite/.test(name));
    for (const workload of all) {
      // The part "growth" has it, at every length.
      if (workload.name === "conversation") continue;
      const rows: Cell[][] = [];
      const parts: [string, number][] = [];
      for (const system of systems.filter((one) => takes(one, workload))) {
        const home = await place.home(system.home);
        await warm(system, workload, home, 100);
        await place.clear(home);
        const { row, part } = await measure(context, system, workload);
        rows.push(row);
        if (system.name === "Threadmark, SQLite, put({ state })" && part !== null) parts.push([workload.title, part]);
      }
      report.table(
        `${workload.title.slice(0, 1).toUpperCase()}${workload.title.slice(1)}`,
        [
          { title: "system" },
          { title: "steps" },
          { title: "step p50", unit: "µs" },
          { title: "step p99", unit: "µs" },
          { title: "bytes a step", unit: "bytes" },
          { title: "of the change", unit: "×" },
        ],
        rows,
      );
      for (const [title, part] of parts)
        report.target(`${title}: bytes against twice the change + 300 a step`, part, 1);
    }
  },
};

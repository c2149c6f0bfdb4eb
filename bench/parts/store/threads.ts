import type { Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { Timings } from "../../harness/timing.ts";
import { checkState } from "../../systems/check-state.ts";
import { systemsOn } from "../../systems/index.ts";
import { History } from "../../systems/measured-thread.ts";
import { conversation } from "../../workloads/conversation.ts";

const threads = 64;

/** A step on each of 64 threads at once, on every system that keeps threads, synced as it is installed. */
export const threadsAtOnce: Part = {
  name: "threads",
  title: "64 threads at once on every system",
  async run({ place, report, quick }) {
    const rows: Cell[][] = [];
    for (const system of systemsOn(place)) {
      if (system.home === "none" || system.conversationOnly || system.name.includes("raw insert of the state"))
        continue;
      if (quick && !/SQLite, put|change, SQLite/.test(system.name)) continue;
      const home = await place.home(system.home, "full");
      const opened = await system.open(home);
      const histories = Array.from({ length: threads }, (_, index) => new History(opened, conversation, `t${index}`));
      for (const history of histories) await history.begin();
      const waves = new Timings();
      const end = performance.now() + (quick ? 300 : 1_000);
      for (let wave = 0; wave < 43 && (wave < 5 || performance.now() < end); wave += 1) {
        const steps = histories.map((history) => history.next());
        const all = (): Promise<unknown> =>
          Promise.all(histories.map(({ thread }, index) => thread.step(steps[index] as (typeof steps)[number])));
        if (wave < 3) await all();
        else await waves.measure(all);
      }
      for (const { thread, state } of histories.slice(0, 2))
        if (thread.latest) checkState(await thread.latest(), state, system.name);
      await opened.close();
      await place.clear(home);
      rows.push([system.name, waves.p50, (threads * 1_000) / waves.p50]);
    }
    report.table(
      "A step on each of 64 threads at once, fsync full",
      [{ title: "system" }, { title: "all of them, p50", unit: "ms" }, { title: "steps", unit: "/s" }],
      rows,
      "a raw SQLite insert is a transaction of its own; Threadmark's puts that wait together share one",
    );
  },
};

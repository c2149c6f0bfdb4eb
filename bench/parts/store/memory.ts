import { writeFileSync } from "node:fs";
import { builtPackage } from "../../environment/build.ts";
import { runChild } from "../../environment/child.ts";
import type { Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { message } from "../../workloads/conversation.ts";

interface Taken {
  readonly peak: number;
  readonly idle: number;
  readonly steps: number;
  readonly milliseconds: number;
}

/** Peak memory of a process that has a whole conversation with one system. */
export const memory: Part = {
  name: "memory",
  title: "peak memory of a conversation, each in a process of its own",
  async run({ place, report, quick }) {
    const steps = quick ? 1_000 : 3_000;
    const rows: Cell[][] = [];
    const measure = async (system: string, child: string, input: object): Promise<Taken> => {
      const path = place.path("memory");
      const taken = await runChild<Taken>(child, { system, path, ...input });
      await place.clear({ path, url: "", schema: "", fsync: "normal" });
      rows.push([system, taken.steps, taken.peak, taken.idle, taken.milliseconds]);
      return taken;
    };
    const module = builtPackage();
    const messages = place.path("messages");
    const lines = Array.from({ length: steps }, (_, index) => `${JSON.stringify(message(index))}\n`);
    writeFileSync(messages, lines.join(""));
    for (const way of ["update", "state"]) {
      const name = `Threadmark, SQLite, put({ ${way} })`;
      const { peak } = await measure(name, "store-conversation.mjs", { module, way, messages });
      report.target(`peak memory of a conversation of ${steps}, put({ ${way} })`, peak, 200, { unit: "MB" });
    }
    if (!quick) {
      await measure("Threadmark, SQLite, LangGraph saver", "saver-conversation.ts", { steps });
      for (const peer of ["LangGraph MemorySaver", "LangGraph SqliteSaver"])
        await measure(peer, "saver-conversation.ts", { steps: 1_000 });
    }
    report.table(
      "Peak resident memory of a whole conversation",
      [
        { title: "system" },
        { title: "N", unit: "count" },
        { title: "peak", unit: "MB" },
        { title: "before the first step", unit: "MB" },
        { title: "time", unit: "ms" },
      ],
      rows,
      "LangGraph's savers stop at 1,000: three times the steps would take nine times the bytes",
      "the programs with savers load LangGraph, and strip types: see what they take before the first step",
    );
  },
};

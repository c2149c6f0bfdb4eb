import { setTimeout as wait } from "node:timers/promises";
import { open } from "../api/open.ts";
import { openQuestion, researchAgent } from "./agent.ts";

/**
 * A process of the demo: starts or continues the run of a thread, and prints its progress to its parent. Arguments:
 * url, file of calls, thread, pace, and how many readings it may do before it waits to be killed.
 */
const [url = "", calls = "", thread = "", pace = "0", readings = "Infinity"] = process.argv.slice(2);
const store = await open(url);
let left = Number(readings);
const agent = researchAgent({
  store,
  calls,
  pace: Number(pace),
  before: async (call) => {
    // Waits here to be killed in the middle, however fast the machine is; continues if nobody kills it.
    if (call.startsWith("read ") && left-- <= 0) await wait(60_000);
  },
});
await agent.run(openQuestion(), {
  thread,
  run: "first",
  ifBusy: "wait",
  on: (event) => {
    if (event.type === "task") process.stdout.write(`task ${event.node}\n`);
    if (event.type === "update") process.stdout.write(`done ${event.node}\n`);
    if (event.type === "interrupt") process.stdout.write(`asks ${event.node}\n`);
  },
});
await store.close();

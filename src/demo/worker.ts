import { setTimeout as wait } from "node:timers/promises";
import { open } from "../api/open.ts";
import { openQuestion, researchAgent } from "./agent.ts";

/**
 * A process of the demo: starts the run of a thread, or goes on with it, and tells its parent what it does, a line each.
 * Arguments: url, file of calls, thread, pace, and how many readings it may do before it waits to be killed.
 */
const [url = "", calls = "", thread = "", pace = "0", readings = "Infinity"] = process.argv.slice(2);
const store = await open(url);
let left = Number(readings);
const agent = researchAgent({
  store,
  calls,
  pace: Number(pace),
  before: async (call) => {
    // However slow or fast the machine is, the kill comes in the middle. Nobody killed it? Then it goes on.
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

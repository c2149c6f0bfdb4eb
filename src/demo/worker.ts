import { open } from "../open.ts";
import { openQuestion, researchAgent } from "./agent.ts";

/**
 * A process of the demo: starts the run of a thread, or goes on with it, and tells its parent what it does, a line each.
 * Arguments: url, file of calls, thread, pace.
 */
const [url = "", calls = "", thread = "", pace = "0"] = process.argv.slice(2);
const store = await open(url);
const agent = researchAgent({ store, calls, pace: Number(pace) });
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

/** Run by the kill tests as a process of its own: starts the run, resumes it or recovers it, until it is done or killed. */
import { appendFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { open } from "../../../src/index.ts";
import type { Durability } from "../../../src/runtime/index.ts";
import { input, workload } from "./workload.ts";

const [url = "", logFile = "", durability = "sync", how = "run"] = process.argv.slice(2);
const store = await open(url, { fsync: "normal" });
const flow = workload(store, async (task) => {
  // The line is written before the work: a task that was begun is in the log, whatever comes.
  appendFileSync(logFile, `${task}\n`);
  await wait(Math.random() * 4);
});
const options = { durability: durability as Durability, concurrency: 3 };
if (how === "recover") {
  while ((await flow.state("t"))?.status !== "done") {
    const [recovered] = await flow.recover(options);
    if (recovered?.error !== undefined) throw recovered.error;
    await wait(5);
  }
} else {
  await flow.run(input, { thread: "t", run: "r", ifBusy: "wait", ...options });
}
await store.close();

/**
 * A run is killed in the middle, with SIGKILL, and another process continues it. Finished tasks are not done again:
 * each city is charged for once. Run it: node examples/crash-and-resume.ts
 */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { open } from "threadmark";
import { append, END, graph, START } from "threadmark/runtime";

interface Trip {
  cities: string[];
  booked: string[];
}

const directory = process.argv[2];
if (directory === undefined) await parent();
else await traveller(directory);

/** Books the cities in order. The log is the outside world: it cannot be undone. */
async function traveller(directory: string): Promise<void> {
  const store = await open(`sqlite:${join(directory, "trips.db")}`);
  const flow = graph<Trip>("trip")
    .reduce({ booked: append })
    .node("book", async ({ cities, booked }, ctx) => {
      const city = cities[booked.length] as string;
      appendFileSync(join(directory, "outside.log"), `${city} ${ctx.task}\n`);
      return { booked: [city] };
    })
    .node("rest", () => wait(100))
    .edge(START, "book")
    .edge("book", "rest")
    .branch("rest", ({ cities, booked }) => (booked.length < cities.length ? "book" : END), ["book", END])
    .compile({ store, lease: { ttl: 300 } });
  // With the same run id, this starts the run or continues it. It waits until the lease of the killed process runs out.
  const options = { thread: "summer", run: "2026", ifBusy: "wait" } as const;
  const { state } = await flow.run({ cities: ["Oslo", "Lima", "Kyoto", "Accra"], booked: [] }, options);
  console.log(`booked: ${state.booked.join(", ")}`);
  await store.close();
}

async function parent(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "threadmark-example-"));
  const log = join(directory, "outside.log");
  const lines = (): string[] => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
  const child = spawn(process.execPath, [...process.execArgv, import.meta.filename, directory], { stdio: "inherit" });
  const ended = new Promise((resolve) => child.on("close", resolve));
  while (lines().length < 2) await wait(5);
  await wait(50);
  child.kill("SIGKILL");
  await ended;
  console.log(`killed after ${lines().length} bookings`);
  const second = spawn(process.execPath, [...process.execArgv, import.meta.filename, directory], { stdio: "inherit" });
  await new Promise((resolve) => second.on("close", resolve));
  const cities = lines().map((line) => line.split(" ")[0]);
  console.log(`the outside saw: ${cities.join(", ")}`);
  rmSync(directory, { recursive: true, force: true });
}

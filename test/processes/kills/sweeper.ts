import { open } from "../../../src/api/open.ts";

// Sweeps a store, and erases from the threads that stay, as told. A line says that it has begun.
const [, , url = "", options = "{}", now = "0", what = "sweep"] = process.argv;
const retention = { threads: { idle: "1d" }, checkpoints: { keepLast: 2 } } as const;
const store = await open<Record<string, unknown>>(url, {
  ...(JSON.parse(options) as object),
  clock: () => Number(now),
  retention,
});
console.log("begun");
if (what === "sweep") await store.sweep();
else await store.thread("kept").erase(["secret"], { forks: true });
console.log("done");
await store.close();

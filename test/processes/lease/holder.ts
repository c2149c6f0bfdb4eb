/** Run by the lease tests as a process of its own: does what it is told on its standard input, one line at a time. */
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { open } from "../../../src/api/open.ts";
import { ThreadmarkError } from "../../../src/errors.ts";

const [url = "", options = "{}", holder = ""] = process.argv.slice(2);
const store = await open<{ by: string; n: number }>(url, JSON.parse(options));
const thread = store.thread("t");
let lease: Awaited<ReturnType<typeof thread.acquire>> | undefined;

/** Takes the lease as soon as it is free. */
async function acquire(ttl: number): Promise<{ epoch: number; waited: number }> {
  for (let waited = 0; ; waited++) {
    try {
      lease = await thread.acquire({ holder, ttl });
      return { epoch: lease.epoch, waited };
    } catch (error) {
      if (!(error instanceof ThreadmarkError && error.code === "BUSY")) throw error;
      await wait(Math.min(error.remaining ?? 20, 200) + 1);
    }
  }
}

async function answer(line: string): Promise<unknown> {
  const [what = "", argument = ""] = line.split(" ");
  if (what === "acquire") return acquire(Number(argument));
  if (what === "renew") return lease?.renew().then(() => ({ renewed: true }));
  if (what === "write") {
    const writes = { task: holder, writes: [{ channel: "c", value: holder }] };
    return thread.putWrites("start", writes, lease === undefined ? {} : { lease });
  }
  const n = Number(argument);
  return thread.put({ id: `${holder}${n}`, state: { by: holder, n } }, lease === undefined ? {} : { lease });
}

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const told = await answer(line).catch((error: unknown) => ({
    failed: error instanceof ThreadmarkError ? error.code : String(error),
  }));
  console.log(JSON.stringify(told));
}
await store.close();

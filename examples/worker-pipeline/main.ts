/** Starts two workers on three jobs, kills one of them, and shows that every stage was done. Run it: node main.ts */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { open, ThreadmarkError } from "threadmark";

interface Job {
  /** The stages that are done, each with the worker that did it. */
  done: string[];
}

const stages = ["fetch", "clean", "index", "publish"];
const jobs = ["berlin", "lima", "osaka"];
const store = await open<Job>(process.env.THREADMARK_URL ?? "sqlite:pipeline.db");

if (process.argv[2] === undefined) await supervise();
else await work(process.argv[2]);
await store.close();

async function supervise(): Promise<void> {
  for (const job of jobs) {
    const thread = store.thread(job);
    if ((await thread.latest()) === undefined)
      await thread.put({ state: { done: [] }, source: "input", next: [stages[0] ?? ""] });
  }
  const script = fileURLToPath(import.meta.url);
  const [unlucky, other] = ["unlucky", "other"].map((name) => fork(script, [name]));
  setTimeout(() => unlucky?.kill("SIGKILL"), 400);
  await Promise.all([unlucky, other].map((child) => child && once(child, "exit")));
  for (const job of jobs)
    console.log(
      `${job}: ${(await store.thread(job).latest())?.state.done.map((stage) => stage.split(" ")[0]).join(", ")}`,
    );
}

/** Advances whatever job is free, until all are done. */
async function work(name: string): Promise<void> {
  for (;;) {
    const open = await Promise.all(
      jobs.map(async (job) => ((await store.thread(job).latest())?.next.length ? job : undefined)),
    );
    const waiting = open.filter((job) => job !== undefined);
    if (waiting.length === 0) return;
    for (const job of waiting) await advance(job, name).catch(ignoreBusy);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function advance(job: string, worker: string): Promise<void> {
  const thread = store.thread(job);
  const lease = await thread.acquire({ ttl: 1_000, holder: worker });
  try {
    const stage = stages[(await thread.latest())?.state.done.length ?? 0];
    if (stage === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 100)); // the work itself
    const after = stages[stages.indexOf(stage) + 1];
    await thread.put(
      { update: { append: { done: [`${stage} by ${worker}`] } }, node: stage, next: after ? [after] : [] },
      { lease },
    );
  } finally {
    await lease.release();
  }
}

/** Another worker has the job: that is how they share. */
function ignoreBusy(error: unknown): void {
  if (!ThreadmarkError.is(error, "BUSY", "FENCED")) throw error;
}

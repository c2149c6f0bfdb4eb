/**
 * Run by the crash tests as a process of its own, to be killed: puts into some threads at once, as fast as it can, now and
 * then prunes, forks and replaces, and acknowledges on its standard output what the store has acknowledged to it.
 */
import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { open } from "../../../src/api/open.ts";
import type { Thread } from "../../../src/api/thread.ts";
import { isAppend, message, stateAt, type Told } from "./history.ts";

/** How many checkpoints a prune leaves. */
const kept = 70;

const [url = "", options = "{}", ...threads] = process.argv.slice(2);
const store = await open<Told>(url, JSON.parse(options));

// Written before anything else happens, so that what was acknowledged is known whatever comes next.
function tell(...words: (string | number)[]): void {
  writeSync(1, `${words.join(" ")}\n`);
}

async function putOne(thread: Thread<Told>, n: number): Promise<void> {
  const { exact } = stateAt(thread.id, n);
  const change = { append: { messages: [message(thread.id, n)], log: `,${n}` }, set: { n, exact } };
  const input = isAppend(n) ? { update: change } : { state: stateAt(thread.id, n) };
  // Every other checkpoint has an id of the caller's making: those are found through the index.
  const id = n % 2 === 0 ? { id: `c${n}` } : {};
  // Some change what the thread is found by; the others leave the index alone.
  const found = n % 3 === 0 ? { next: n % 2 === 0 ? ["act"] : [], attributes: { n, odd: n % 2 === 1 } } : {};
  await thread.put({ ...input, step: n, ...id, ...found });
  tell("put", thread.id, n);
}

async function advance(thread: Thread<Told>): Promise<never> {
  let n = ((await thread.latest())?.step ?? -1) + 1;
  for (; ; n++) {
    await putOne(thread, n);
    if (n % 10 === 5) {
      const id = `c${n - 1}`;
      await thread.putWrites(id, { task: "t", writes: [{ channel: "c", value: n }] });
      tell("write", thread.id, n - 1, n);
    }
    if (n % 50 === 49) {
      // Three forks take turns, so that the one made last is mostly left alone; told beforehand, in case it is not.
      const forked = store.thread(`${thread.id}-${Math.floor(n / 50) % 3}`);
      tell("forking", forked.id);
      await forked.delete();
      await thread.fork({ into: forked.id });
      tell("fork", forked.id, n);
    }
    if (n % 130 === 129) {
      await thread.prune({ keepLast: kept });
      tell("prune", thread.id, n - kept);
    }
  }
}

// Usually kept at the end of a process, which this one will not see.
flushCompileCache();
tell("ready");
await Promise.all(threads.map((id) => advance(store.thread(id))));

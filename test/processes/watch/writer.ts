/**
 * Run as a process of its own, to be killed: puts into some threads at once, writes and labels now and then, until it has
 * put `count` checkpoints into each or is killed.
 */
import { open } from "../../../src/api/open.ts";

const [url = "", options = "{}", count = "0", pause = "0", ...threads] = process.argv.slice(2);
const store = await open<{ n: number }>(url, JSON.parse(options));

async function advance(id: string): Promise<void> {
  const thread = store.thread(id);
  for (let n = ((await thread.latest())?.step ?? -1) + 1; n < Number(count); n += 1) {
    const { id: checkpoint } = await thread.put({ state: { n }, step: n });
    if (n % 7 === 3) await thread.putWrites(checkpoint, { task: "t", writes: [{ channel: "c", value: n }] });
    if (n % 11 === 5) await thread.label(checkpoint, `label ${n}`);
    if (Number(pause) > 0) await new Promise((resolve) => setTimeout(resolve, Number(pause)));
  }
}

await Promise.all(threads.map(advance));
await store.close();

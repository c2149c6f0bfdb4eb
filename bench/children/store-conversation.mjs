// A whole conversation on a store, in a process that loads the built package and nothing else: how much memory that took
// at most. Plain JavaScript, since stripping types takes memory too.
import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** Returns the peak memory as ../systems/sizes.ts does, which would have to be stripped of its types. */
function peakMemory() {
  const told = process.platform === "linux" && /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
  return (told ? Number(told[1]) : process.resourceUsage().maxRSS) / 1_024;
}

const { module, way, path, messages } = JSON.parse(process.argv[2]);
const idle = peakMemory();
const { open } = await import(module);
const store = await open(`sqlite:${path}`, { fsync: "normal" });
const thread = store.thread("measured");
let state = { messages: [], turn: 0, last: "" };
let milliseconds = 0;
await thread.put({ state });
for await (const line of createInterface({ input: createReadStream(messages) })) {
  const message = JSON.parse(line);
  const set = { turn: state.messages.length, last: message.id };
  state = { messages: [...state.messages, message], ...set };
  const start = performance.now();
  await thread.put(way === "state" ? { state } : { update: { append: { messages: [message] }, set } });
  milliseconds += performance.now() - start;
}
const read = await thread.latest();
if (JSON.stringify(read.state) !== JSON.stringify(state)) throw new Error("Another state was read than was put.");
await store.close();
const peak = peakMemory();
process.stdout.write(JSON.stringify({ peak, idle, steps: state.messages.length, milliseconds }));

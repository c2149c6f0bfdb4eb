import { open } from "../../src/index.ts";
import { Timings } from "../harness/timing.ts";
import type { ColdPuts } from "../parts/store/waits.ts";
import { RawTable } from "../systems/raw-sqlite.ts";
import { message } from "../workloads/conversation.ts";
import type { State } from "../workloads/workload.ts";

/** The first hundred puts of a process, beside raw inserts. */
const { path, raw } = JSON.parse(process.argv[2] as string) as { path: string; raw: string };
const table = new RawTable(raw);
const store = await open<State>(`sqlite:${path}`, { fsync: "normal" });
const thread = store.thread(`process ${process.pid}`);
const [first, others, inserts] = [new Timings(), new Timings(), new Timings()];
await first.measure(() => thread.put({ state: { messages: [], turn: 0 } }));
for (let turn = 1; turn < 100; turn += 1) {
  const update = { append: { messages: [message(turn)] }, set: { turn } };
  const text = JSON.stringify(update);
  await inserts.measure(() => table.insert(text));
  await others.measure(() => thread.put({ update }));
}
await store.close();
table.close();
const found: ColdPuts = { first: first.p50, median: others.p50, worst: others.worst, raw: inserts.p50 };
process.stdout.write(JSON.stringify(found));

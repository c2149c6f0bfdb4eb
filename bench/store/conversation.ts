import assert from "node:assert/strict";
import { open } from "../../src/index.ts";
import { bytesOf, type Place, RawTable } from "../place.ts";
import { figure, type Report, target } from "../report.ts";
import { Timings } from "../timing.ts";
import { conversationUpdate, type Message, messages, type State } from "../workloads.ts";

interface Measured {
  readonly bytes: number;
  readonly changed: number;
  readonly put: Timings;
  readonly raw: Timings;
  readonly file: string;
}

/** N steps through `put({ update })`, each beside one raw insert of the same change. */
async function converse(place: Place, steps: number, fsync: "full" | "normal"): Promise<Measured> {
  const file = place.file("conversation");
  const table = new RawTable(place.file("raw"), fsync);
  const store = await open<{ messages: Message[] } & State>(`sqlite:${file}`, { fsync });
  const thread = store.thread("conversation");
  const message = messages(1);
  const put = new Timings();
  const raw = new Timings();
  let changed = 0;
  await thread.put({ state: { messages: [], turn: 0, last: "", status: "" } });
  for (let index = 0; index < steps; index += 1) {
    const update = conversationUpdate(message(index), index);
    const text = JSON.stringify(update);
    changed += text.length;
    const start = performance.now();
    table.insert(text);
    raw.add(performance.now() - start);
    const next = [index % 2 ? "plan" : "act"];
    await put.measure(() => thread.put({ update, node: index % 2 ? "act" : "plan", next }));
  }
  assert.equal((await thread.latest())?.state.messages.length, steps);
  table.close();
  await store.compact();
  await store.close();
  return { bytes: bytesOf(file), changed, put, raw, file };
}

export async function measureConversation(place: Place, report: Report, sizes: readonly number[]): Promise<string> {
  console.log("\nThe conversation: one message of about 500 bytes a step, on SQLite");
  const runs = new Map<number, Measured>();
  for (const steps of sizes) {
    const run = await converse(place, steps, "normal");
    runs.set(steps, run);
    figure(report, `N = ${steps}: raw insert p50`, run.raw.p50 * 1000, "µs");
    figure(report, `N = ${steps}: put({ update }) p50`, run.put.p50 * 1000, "µs");
    figure(report, `N = ${steps}: put({ update }) p99`, run.put.quantile(0.99) * 1000, "µs");
    figure(report, `N = ${steps}: bytes a step`, run.bytes / steps);
    target(report, {
      name: `N = ${steps}: bytes against the JSON of the change`,
      value: run.bytes / run.changed,
      limit: 1.3,
    });
    target(report, {
      name: `N = ${steps}: put({ update }) against a raw insert, p50`,
      value: run.put.p50 / run.raw.p50,
      limit: 2.5,
    });
    target(report, {
      name: `N = ${steps}: put({ update }) against a raw insert, mean`,
      value: run.put.mean / run.raw.mean,
      limit: 3.5,
    });
  }
  const [first, last] = [runs.get(sizes[0] as number), runs.get(sizes.at(-1) as number)];
  if (first && last)
    target(report, {
      name: "put({ update }): greatest N against the smallest, p50",
      value: last.put.p50 / first.put.p50,
      limit: 1.3,
    });
  const synced = await converse(place, 300, "full");
  target(report, {
    name: "fsync full: put({ update }) against a raw insert, p50",
    value: synced.put.p50 / synced.raw.p50,
    limit: 1.5,
  });
  return (last as Measured).file;
}

/** `put({ state })` of a long conversation beside stringifying and inserting all of it. */
export async function measureWholeStates(place: Place, report: Report): Promise<void> {
  console.log("\nWhole states: put({ state }) at N = 1,000");
  const steps = 1_000;
  const store = await open<State>(`sqlite:${place.file("states")}`, { fsync: "normal" });
  const table = new RawTable(place.file("raw"));
  const thread = store.thread("states");
  const message = messages(3);
  let state: State = { messages: Array.from({ length: steps }, (_, index) => message(index)), turn: 0 };
  await thread.put({ state });
  const put = new Timings();
  const raw = new Timings();
  for (let index = 0; index < 200; index += 1) {
    state = { ...state, messages: [...(state["messages"] as Message[]), message(steps + index)], turn: index };
    await raw.measure(() => void table.insert(JSON.stringify(state)));
    await put.measure(() => thread.put({ state }));
  }
  assert.deepEqual((await thread.latest())?.state, state);
  figure(report, "put({ state }) p50", put.p50 * 1000, "µs");
  target(report, { name: "put({ state }) against stringify + raw insert, p50", value: put.p50 / raw.p50, limit: 0.2 });
  await store.close();
  table.close();
}

import assert from "node:assert/strict";
import { open, type Store } from "../../src/index.ts";
import { bytesOf, type Place, RawTable } from "../place.ts";
import { figure, type Report, target } from "../report.ts";
import { Timings } from "../timing.ts";
import { type Message, messages, type State } from "../workloads.ts";

async function fill(place: Place, steps: number): Promise<{ file: string; state: State }> {
  const file = place.file(`filled-${steps}`);
  const store = await open<{ messages: Message[]; turn: number }>(`sqlite:${file}`, { fsync: "normal" });
  const thread = store.thread("t");
  const message = messages(5);
  const list: Message[] = [];
  await thread.put({ state: { messages: [], turn: 0 } });
  for (let index = 0; index < steps; index += 1) {
    list.push(message(index));
    await thread.put({ update: { append: { messages: [list.at(-1) as Message] }, set: { turn: index } }, node: "n" });
  }
  await store.close();
  return { file, state: { messages: list, turn: steps - 1 } };
}

/** `latest()` beside one row that holds the state's JSON: both on fresh connections, and both on open ones. */
export async function measureLatest(place: Place, report: Report): Promise<void> {
  console.log("\nReading: latest() at N = 1,000 against one row and JSON.parse");
  const { file, state } = await fill(place, 1_000);
  const rawFile = place.file("raw");
  const writer = new RawTable(rawFile);
  const key = writer.insert(JSON.stringify(state));
  writer.close();
  const fresh = { ours: new Timings(), raw: new Timings() };
  const opened = { ours: new Timings(), raw: new Timings() };
  for (let round = 0; round < 40; round += 1) {
    let store: Store<State> | undefined;
    await fresh.ours.measure(async () => {
      store = await open<State>(`sqlite:${file}`);
      return store.thread("t").latest();
    });
    let table: RawTable | undefined;
    await fresh.raw.measure(() => {
      table = new RawTable(rawFile);
      return JSON.parse(table.select(key));
    });
    for (let again = 0; again < 5; again += 1) {
      const found = await opened.ours.measure(() => store?.thread("t").latest());
      assert.equal((found?.state["messages"] as Message[] | undefined)?.length, 1_000);
      await opened.raw.measure(() => JSON.parse((table as RawTable).select(key)));
    }
    await store?.close();
    table?.close();
  }
  figure(report, "latest(), fresh connection, p50", fresh.ours.p50, "ms");
  figure(report, "latest(), open connection, p50", opened.ours.p50, "ms");
  target(report, {
    name: "latest() against select + parse, both fresh, p50",
    value: fresh.ours.p50 / fresh.raw.p50,
    limit: 1.3,
  });
  target(report, {
    name: "latest() against select + parse, both open, p50",
    value: opened.ours.p50 / opened.raw.p50,
    limit: 1.3,
  });
}

/** Fork and history at N = 10 and at the end of a long history. */
export async function measureForks(place: Place, report: Report, steps: number): Promise<void> {
  console.log(`\nForks and history: N = ${steps} against N = 10`);
  const cost = async (count: number): Promise<{ fork: Timings; bytes: number; history: Timings }> => {
    const { file } = await fill(place, count);
    const store = await open<State>(`sqlite:${file}`, { fsync: "normal" });
    const thread = store.thread("t");
    const at = (await thread.latest())?.id as string;
    const fork = new Timings();
    const history = new Timings();
    const sizes = async (): Promise<number> => {
      const { bytes } = await store.stats();
      return bytes.directory + bytes.metadata + bytes.tail + bytes.packs + bytes.index;
    };
    const before = await sizes();
    for (let index = 0; index < 200; index += 1) await fork.measure(() => thread.fork({ at }));
    const bytes = ((await sizes()) - before) / 200;
    for (let index = 0; index < 200; index += 1) {
      await history.measure(async () => {
        for await (const _ of thread.history({ limit: 10 }));
      });
    }
    await store.close();
    assert.ok(bytesOf(file) > 0);
    return { fork, bytes, history };
  };
  const [short, long] = [await cost(10), await cost(steps)];
  figure(report, "fork p50", long.fork.p50 * 1000, "µs");
  target(report, {
    name: "fork: time at the end of a long history against a short one",
    value: long.fork.p50 / short.fork.p50,
    limit: 1.5,
  });
  target(report, { name: "fork: bytes", value: long.bytes, limit: 500 });
  target(report, {
    name: "history({ limit: 10 }): long history against short",
    value: long.history.p50 / short.history.p50,
    limit: 1.5,
  });
}

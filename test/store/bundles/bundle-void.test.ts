import { expect, test } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { bundleLine } from "../../../src/codec/bundle.ts";
import { open, type Store } from "../../../src/index.ts";
import { counted } from "../../support/counted.ts";
import { linesOf } from "./exported.ts";

type State = { n: number; text: string };

function kindOf(line: string): string {
  return JSON.parse(line).record.kind;
}

/** A thread whose text is longer than what an export holds back; its values stay in its checkpoints. */
async function longThread(): Promise<Store<State>> {
  const store = await open<State>("memory:", { largeValues: { from: Number.POSITIVE_INFINITY } });
  for (let n = 0; n < 140; n += 1)
    await store.thread("long").put({ id: `c${n}`, state: { n, text: `${n}`.repeat(20_000) } });
  return store;
}

async function idsOf(store: Store<State>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of store.thread("long").history()) ids.unshift(id);
  return ids;
}

test("a long thread that others change while its lines are out is dropped and begun again", async () => {
  const store = await longThread();
  const lines: string[] = [];
  for await (const line of store.export()) {
    lines.push(line);
    if (lines.length === 20) await store.thread("long").deleteCheckpoints(["c3", "c130"]);
  }
  expect(lines.map(kindOf).filter((kind) => !["checkpoint", "writes"].includes(kind))).toEqual([
    "bundle",
    "thread",
    "void",
    "thread",
    "end",
    "done",
  ]);
  const other = await open<State>("memory:");
  expect(await other.import(lines)).toMatchObject({ imported: 1, checkpoints: 138 });
  expect(await idsOf(other)).toEqual(await idsOf(store));
  expect(await other.verify()).toEqual({ ok: true, faults: [] });
});

test("a long thread that is deleted while its lines are out is dropped", async () => {
  const store = await longThread();
  await store.thread("other").put({ state: { n: 1, text: "" } });
  const lines: string[] = [];
  for await (const line of store.export()) {
    lines.push(line);
    if (lines.length === 20) await store.thread("long").delete();
  }
  const other = await open<State>("memory:");
  expect(await other.import(lines)).toMatchObject({ imported: 1, checkpoints: 1 });
  expect(await idsOf(other)).toEqual([]);
});

test("a bundle that drops a thread that has not begun is refused", async () => {
  const store = await longThread();
  const [header, ...lines] = await linesOf(store);
  const other = await open<State>("memory:");
  await expect(
    other.import([header as string, bundleLine({ kind: "void", id: "long" }), ...lines]),
  ).rejects.toMatchObject({
    code: "CORRUPT",
    message: expect.stringMatching(/^Line 2 /),
  });
});

test("a thread is imported together with its writes, in one commit", async () => {
  const store = await open<State>("memory:");
  for (let n = 0; n < 100; n += 1) {
    await store.thread("t").put({ id: `c${n}`, state: { n, text: "" } });
    for (const task of ["a", "b"])
      await store.thread("t").putWrites(`c${n}`, { task, writes: [{ channel: "c", value: n }] });
  }
  const { backend, taken } = counted(memory());
  const other = await open<State>(backend);
  await other.import(store.export());
  expect(taken().commits).toBe(1);
  for (let n = 0; n < 100; n += 1)
    expect(await other.thread("t").writes(`c${n}`)).toEqual(await store.thread("t").writes(`c${n}`));
});

test("writes that arrived before an import of their checkpoint stay, and those of the bundle join them", async () => {
  const store = await open<State>("memory:");
  await store.thread("t").put({ id: "c", state: { n: 1, text: "" } });
  const write = (target: Store<State>, value: string, index: number) =>
    target.thread("t").putWrites("c", { task: "k", writes: [{ channel: "c", value, index }] });
  await write(store, "bundle", 0);
  await write(store, "bundle", 1);
  const other = await open<State>("memory:");
  await write(other, "early", 0);
  await other.import(store.export());
  expect((await other.thread("t").writes("c")).map(({ value }) => value)).toEqual(["early", "bundle"]);
  expect(await other.verify()).toEqual({ ok: true, faults: [] });
});

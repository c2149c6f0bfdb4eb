import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Backend } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { bundleLine } from "../../../src/codec/bundle.ts";
import { open, type PutInput, type Store } from "../../../src/index.ts";
import { counted } from "../../support/counted.ts";
import { linesOf } from "./exported.ts";

type Any = Record<string, unknown>;
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A thread with packs, a branch, a nested namespace, tagged values, every part of a body, and writes. */
async function bundle(): Promise<Json[]> {
  const store = await open<Any>(memory(), { packRows: 3 });
  const thread = store.thread("t");
  for (let n = 1; n <= 6; n += 1) {
    const change = n === 1 ? { state: { log: ["a"], at: new Date(7) } } : { update: { append: { log: [{ n }] } } };
    await thread.put({
      ...change,
      id: `c${n}`,
      node: "n",
      run: "r",
      workflow: "w",
      label: "l",
      stateVersion: 1,
      metadata: { n, when: new Date(n) },
      next: [{ node: "a", task: "t", arg: 1n }],
      completed: ["n"],
      interrupts: [{ id: "i", node: "n", value: n }],
      barriers: [{ node: "b", arrived: ["n"] }],
    });
  }
  await thread.putWrites("c2", { task: "k", node: "n", writes: [{ channel: "c", value: new Map([[1, 2]]) }] });
  await thread.putWrites("c6", { task: "k", writes: [{ channel: "error", value: "no", index: -1 }] });
  await thread.put({ state: { another: true }, source: "update" }, { parent: "c2" });
  await store.thread("t", { namespace: ["nested", "ü"] }).put({ state: { inner: [undefined] } });
  return (await linesOf(store)).map((line) => JSON.parse(line).record as Json);
}

function deep(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

const strings = ["", "x".repeat(600), "\0", "\ud800", "t", "c1", "__proto__", '["nested"]', "[]", "$"];
const numbers = [-1, 0, 1, 1.5, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53, 1e308];
const others: Json[] = [
  null,
  true,
  {},
  [],
  { $: "date" },
  { $: "nonsense" },
  { $: "map", v: 1 },
  { id: "x" },
  deep(1_200),
];
const hostile = fc.constantFrom<Json | undefined>(undefined, ...strings, ...numbers, ...others);

type Container = Json[] | { [key: string]: Json };

/** Every place in the records: what holds it, and its key there. */
function placesIn(node: Json, found: [Container, string][] = []): [Container, string][] {
  if (typeof node !== "object" || node === null) return found;
  for (const key of Object.keys(node)) {
    found.push([node, key]);
    placesIn((node as { [key: string]: Json })[key] as Json, found);
  }
  return found;
}

function changeAt([holder, key]: [Container, string], value: Json | undefined): void {
  const fields = holder as { [key: string]: Json };
  if (value === undefined) delete fields[key];
  else fields[key] = structuredClone(value);
}

/** All checkpoints with their namespaces and writes, oldest first. */
async function everything(store: Store<Any>): Promise<Any[]> {
  const all: Any[] = [];
  for await (const { id } of store.threads()) {
    for (const namespace of await store.thread(id).namespaces()) {
      const thread = store.thread(id, { namespace });
      for await (const checkpoint of thread.history({ states: true }))
        all.push({ ...checkpoint, writes: await thread.writes(checkpoint.id) });
    }
  }
  return all.reverse();
}

/** Puts all of it into another store: what a put refuses, an import must not have taken. */
async function putAgain(all: readonly Any[]): Promise<void> {
  const store = await open<Any>("memory:");
  for (const checkpoint of all) {
    const { thread, namespace, parent, writes, seq, pending, waiting, ...input } = checkpoint as Any & {
      thread: string;
      namespace: string[];
      parent: string | null;
      writes: { task: string; node: string | null; index: number; channel: string; value: unknown }[];
    };
    const handle = store.thread(thread, { namespace });
    const { id } = await handle.put(input as unknown as PutInput<Any>, { parent });
    for (const { task, node, ...write } of writes) await handle.putWrites(id, { task, node, writes: [write] });
  }
}

async function recordsOf(backend: Backend): Promise<unknown> {
  return (await backend.size()).tables;
}

/** Imports some records into a store that has a thread already, and holds the outcome to the law. */
async function judge(records: readonly Json[]): Promise<"taken" | "refused"> {
  const { backend, taken } = counted(memory());
  const store = await open<Any>(backend, { packRows: 3 });
  await store.thread("there").put({ state: { n: 1 } });
  const before = await recordsOf(backend);
  taken();
  try {
    await store.import(records.map(bundleLine));
  } catch (error) {
    expect(error).toMatchObject({ name: "ThreadmarkError" });
    expect(taken().commits).toBe(0);
    expect(await recordsOf(backend)).toEqual(before);
    await store.compact();
    expect(await recordsOf(backend)).toEqual(before);
    return "refused";
  }
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  const all = await everything(store);
  await putAgain(all);
  const ids = new Set(all.map(({ thread }) => thread as string));
  for (const thread of ids) {
    const { id } = await store.thread(thread).put({ state: { later: true }, step: 9 });
    const reopened = await open<Any>(backend, { packRows: 3 });
    expect(await reopened.thread(thread).latest()).toMatchObject({ id, state: { later: true } });
    expect(await reopened.verify()).toEqual({ ok: true, faults: [] });
  }
  return "taken";
}

describe("a bundle that somebody made, with right checksums", () => {
  it("a bundle that somebody made, with right checksums, is taken as it was exported", async () => {
    expect(await judge(await bundle())).toBe("taken");
  });

  it("a bundle is taken only if puts would have been, and leaves nothing where it is refused", async () => {
    const good = await bundle();
    const outcomes = { taken: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(), hostile), { minLength: 1, maxLength: 2 }), async (changes) => {
        const records = structuredClone(good);
        for (const [place, value] of changes) {
          // Behind the end of the last thread all are imported already.
          const places = placesIn(records.slice(0, -1));
          changeAt(places[place % places.length] as [Container, string], value);
        }
        outcomes[await judge(records)] += 1;
      }),
      { numRuns: 300 },
    );
    expect(outcomes.taken).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
  });

  it("a bundle is refused for every field of a row that a put would refuse", async () => {
    const good = await bundle();
    const rowOf = (records: Json[]): Any => (records[2] as { row: Any }).row;
    const cases: [string, Json][] = [
      ["id", ""],
      ["id", "x".repeat(600)],
      ["id", {}],
      ["label", {}],
      ["source", "odd"],
      ["step", 1.5],
      ["step", 2 ** 53],
      ["node", 1],
      ["run", ""],
      ["workflow", "x".repeat(600)],
      ["createdAt", "now"],
      ["stateVersion", "1"],
      ["metadata", []],
      ["metadata", { $: "date", v: "no" }],
      ["namespace", "nested"],
      ["namespace", '["nested", "ü"]'],
      ["pending", 7],
      ["waiting", 7],
      ["parent", 2],
      ["parent", 0],
      ["base", 3],
    ];
    for (const [field, value] of cases) {
      const records = structuredClone(good);
      rowOf(records)[field] = value;
      expect(await judge(records), `${field}: ${JSON.stringify(value).slice(0, 30)}`).toBe("refused");
    }
  });

  it("a bundle is refused where its seqs leave no room for puts, and puts go on after the greatest that is taken", async () => {
    const good = await bundle();
    const last = good.findLast((record) => (record as Any)["kind"] === "checkpoint") as { seq: number };
    last.seq = 2 ** 31 - 1;
    expect(await judge(good)).toBe("taken");
    last.seq = 2 ** 31;
    expect(await judge(good)).toBe("refused");
    last.seq = 2 ** 32 - 1;
    expect(await judge(good)).toBe("refused");
  });

  it("a bundle is refused where a body is none that a put makes", async () => {
    const good = await bundle();
    const bodies: Json[] = [
      { d: { p: { p: [7] } } },
      { d: { n: { r: ["short"] } } },
      { d: { n: { r: [{ node: 1 }] } } },
      { d: { c: { r: [{}] } } },
      { d: { i: { r: [{ id: "i" }] } } },
      { d: { b: { r: [{ node: "n", arrived: "n" }] } } },
      { u: ["p"] },
      { s: { z: 1 } },
      { r: [] },
      { d: { s: { s: { x: { $: "date", v: "never" } } } } },
      { d: { s: { d: { at: { u: ["$"] } }, s: { deep: deep(1_020) } } } },
      { d: { s: { d: { log: { l: 99, e: [[98, { r: 1 }]] } } } } },
    ];
    for (const change of bodies) {
      const records = structuredClone(good);
      (records[3] as Any)["change"] = change;
      expect(await judge(records), JSON.stringify(change).slice(0, 60)).toBe("refused");
    }
  });

  it("an import keeps the threads before the refused one, whole", async () => {
    const good = await bundle();
    const bad = structuredClone(good.slice(1, -1)) as Any[];
    (bad[0] as Any)["id"] = "u";
    (bad.at(-1) as Any)["id"] = "u";
    (bad[2] as { row: Any }).row["label"] = [];
    const store = await open<Any>("memory:");
    const lines = [...good.slice(0, -1), ...bad, { kind: "done", threads: 2 }].map(bundleLine);
    await expect(store.import(lines)).rejects.toMatchObject({
      code: "CORRUPT",
      message: expect.stringMatching(/label/),
    });
    const whole = await open<Any>("memory:");
    await whole.import(good.map(bundleLine));
    expect(await everything(store)).toEqual(await everything(whole));
  });

  it("a bundle reads back with its tags, whether or not its rows tell of them", async () => {
    const good = await bundle();
    for (const record of good as Any[]) delete (record["row"] as Any | undefined)?.["tagged"];
    const store = await open<Any>("memory:");
    await store.import(good.map(bundleLine));
    expect((await store.thread("t").get("c3"))?.state).toMatchObject({ at: new Date(7) });
  });
});

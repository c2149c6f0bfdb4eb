import { afterAll, beforeAll, expect, test } from "vitest";
import { postgres } from "../../../src/backends/postgres/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { collect } from "../../support/collect.ts";
import type { TestDatabase } from "../../support/postgres/database.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { CountingPool } from "./support/counting.ts";

interface State {
  messages: string[];
}

let database: TestDatabase;
let pool: CountingPool;
let store: Store<State>;
const ids: string[] = [];

beforeAll(async () => {
  database = await createDatabase();
  pool = new CountingPool({ connectionString: database.url, max: 4 });
  store = await fresh();
  const thread = store.thread("t");
  ids.push((await thread.put({ state: { messages: [] } })).id);
  for (let index = 1; index < 300; index += 1) {
    ids.push((await thread.put({ update: { append: { messages: [`message ${index}`] } } })).id);
  }
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** A store that remembers nothing. */
async function fresh(): Promise<Store<State>> {
  return open<State>(await postgres({ pool }));
}

/** Returns a store with thirty threads of a tenant, of two statuses, each with two checkpoints. */
async function withListedThreads(tenant: string, clock: () => number): Promise<Store<State>> {
  const other = await open<State>(await postgres({ pool }), { clock });
  for (let number = 0; number < 30; number += 1) {
    const thread = other.thread(`${tenant} ${number}`);
    const next = number % 2 === 0 ? ["x"] : [];
    await thread.put({ state: { messages: [] }, attributes: { tenant }, next });
    await thread.put({ state: { messages: ["a"] }, next });
  }
  // A store learns once whether every thread is in the index.
  await other.counts();
  return other;
}

async function trips(work: () => Promise<unknown>): Promise<number> {
  return (await pool.during(work)).length;
}

test("a put is one round trip", async () => {
  const thread = (await fresh()).thread("puts");
  await thread.put({ state: { messages: [] } });
  expect(await trips(() => thread.put({ update: { append: { messages: ["a"] } } }))).toBe(1);
});

test("a page of a list is one round trip, by activity, status, attribute and cursor", async () => {
  let now = Date.now();
  const other = await withListedThreads("listed", () => (now += 100));
  const query = { order: "updated", limit: 10 } as const;
  const page = await collect(other.threads({ ...query, where: { tenant: "listed" } }));
  expect(page).toHaveLength(10);
  expect(page.every(({ checkpoints, head }) => checkpoints === 2 && head.parent !== null)).toBe(true);
  for (const options of [{}, { status: "paused" }, { where: { tenant: "listed" } }] as const) {
    expect(await trips(() => collect(other.threads({ ...query, ...options })))).toBe(1);
    const after = (await collect(other.threads({ ...query, ...options }))).at(-1)?.cursor as string;
    expect(await trips(() => collect(other.threads({ ...query, ...options, after })))).toBe(1);
  }
});

test("a page of a list is at most four round trips where all its threads were active in one second", async () => {
  const now = Date.now() + 60_000;
  const other = await withListedThreads("burst", () => now);
  for (const options of [{}, { where: { tenant: "burst" } }] as const) {
    const query = { order: "updated", limit: 10, ...options } as const;
    expect(await trips(() => collect(other.threads(query)))).toBeLessThanOrEqual(4);
    expect(await collect(other.threads(query))).toHaveLength(10);
  }
});

test("what a task wrote and the checkpoint of its step are one round trip", async () => {
  const thread = store.thread("with writes");
  const { id } = await thread.put({ state: { messages: ["a"] } });
  const step = (): Promise<unknown> => {
    const writes = thread.putWrites(id, { task: "t", writes: [{ channel: "messages", value: "b" }] });
    return Promise.all([writes, thread.put({ update: { append: { messages: ["b"] } } })]);
  };
  expect(await trips(step)).toBe(1);
  expect(await thread.writes(id)).toHaveLength(1);
});

test("latest is one round trip where the thread was written or read before, else two", async () => {
  expect(await trips(() => store.thread("t").latest())).toBe(1);
  const other = await fresh();
  expect(await trips(() => other.thread("t").latest())).toBe(2);
  expect(await trips(() => other.thread("t").latest())).toBe(1);
  expect(await trips(() => other.thread("t").latest())).toBe(1);
});

test("latest is one round trip after another store has gone on, sealed and forked", async () => {
  const other = await fresh();
  await other.thread("shared").put({ state: { messages: [] } });
  const reader = await fresh();
  await reader.thread("shared").latest();
  for (let round = 0; round < 3; round += 1) {
    for (let index = 0; index < 50; index += 1) {
      await other.thread("shared").put({ update: { append: { messages: [`${round} ${index}`] } } });
    }
    await other.thread("shared").fork();
    let length: number | undefined;
    const count = await trips(async () => {
      length = (await reader.thread("shared").latest())?.state.messages.length;
    });
    expect(length).toBe(50 * (round + 1));
    expect(count).toBeLessThanOrEqual(round === 0 ? 1 : 2);
  }
});

test("a checkpoint by its id is one round trip, the first time two", async () => {
  const other = await fresh();
  for (const [index, id] of [ids[100], ids[40], ids[299], ids[100]].entries()) {
    let length: number | undefined;
    const count = await trips(async () => {
      length = (await other.thread("t").get(id as string))?.state.messages.length;
    });
    expect(length).toBe(ids.indexOf(id as string));
    expect(count).toBe(index === 0 ? 2 : 1);
  }
});

test("a page of history is one round trip, the first time two", async () => {
  const other = await fresh();
  const page = (before?: string) => collect(other.thread("t").history({ limit: 50, ...(before && { before }) }));
  expect(await trips(() => page())).toBe(2);
  expect(await trips(() => page())).toBe(1);
  expect(await trips(() => page(ids[250]))).toBe(1);
  expect(await trips(() => page(ids[120]))).toBe(1);
  expect((await page(ids[120])).map(({ id }) => id)).toEqual(ids.slice(70, 120).reverse());
});

test("history with states, verify and prune go by pages, not by checkpoints", async () => {
  const other = await open<State>(await postgres({ pool, schema: "paged" }));
  const thread = other.thread("t");
  await thread.put({ state: { messages: [] } });
  const puts = Array.from({ length: 299 }, (_, index) =>
    thread.put({ update: { append: { messages: [`${index}`] } } }),
  );
  await Promise.all(puts);
  // Rows are sealed beside the commits, which takes trips of its own.
  const unsealed = async (): Promise<number> =>
    Number((await database.query("select count(*) as count from paged.tail"))[0]?.["count"]);
  await expect.poll(unsealed, { timeout: 30_000 }).toBeLessThan(66);
  expect(await trips(() => collect(thread.history({ states: true })))).toBeLessThanOrEqual(40);
  // Records, large values, messages and the index are each read by pages; a seal beside them may take some trips too.
  expect(await trips(() => other.verify())).toBeLessThanOrEqual(80);
  expect(await trips(() => thread.prune({ keepLast: 100 }))).toBeLessThanOrEqual(30);
  expect(await other.verify()).toEqual({ ok: true, faults: [] });
});

test("a checkpoint with its writes, and writes alone, are one round trip", async () => {
  const id = ids.at(-1) as string;
  await store.thread("t").putWrites(id, { task: "a", writes: [{ channel: "c", value: 1 }] });
  const other = await fresh();
  await other.thread("t").latest();
  for (const read of [() => other.thread("t").tuple(), () => other.thread("t").tuple(id)]) {
    let found: unknown;
    const count = await trips(async () => {
      found = (await read())?.writes.map(({ value }) => value);
    });
    expect(found).toEqual([1]);
    expect(count).toBe(1);
  }
  expect(await trips(() => other.thread("t").writes(id))).toBe(1);
  expect(await other.thread("t").writes(id)).toHaveLength(1);
});

test("threads are listed by pages", async () => {
  const other = await open<State>(await postgres({ pool, schema: "listed" }));
  const all = Array.from({ length: 50 }, (_, index) => `thread ${index}`);
  await Promise.all(all.map((id) => other.thread(id).put({ state: { messages: [id] } })));
  const reader = await open<State>(await postgres({ pool, schema: "listed" }));
  let listed = 0;
  const count = await trips(async () => {
    listed = (await collect(reader.threads())).length;
  });
  expect(listed).toBe(50);
  expect(count).toBeLessThanOrEqual(6);
});

test("a fork is one round trip, and so is its latest", async () => {
  const thread = store.thread("t");
  expect(await trips(() => thread.fork({ into: "one" }))).toBe(1);
  expect(await trips(() => store.thread("one").latest())).toBe(1);
  expect(await trips(() => thread.fork({ into: "two", at: ids[298] as string }))).toBe(1);
  expect(await trips(() => store.thread("two").latest())).toBe(1);
  await expect(thread.fork({ into: "two" })).rejects.toMatchObject({ code: "CONFLICT" });
});

test("a fork sees what another store has appended just before", async () => {
  const other = await fresh();
  await other.thread("t").put({ update: { append: { messages: ["another's"] } } });
  const fork = await store.thread("t").fork({ into: "three" });
  expect((await fork.latest())?.state.messages.at(-1)).toBe("another's");
});

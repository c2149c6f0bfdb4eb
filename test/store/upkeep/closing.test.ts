import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { forwarding } from "../../../src/testing/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";

const path = folderForEach();

interface Talk {
  readonly list: readonly number[];
}

async function talk(store: Store<Talk>, id: string, from: number, to: number): Promise<void> {
  if (from === 0) await store.thread(id).put({ id: "c0", state: { list: [0] } });
  for (let n = Math.max(from, 1); n < to; n += 1) {
    await store.thread(id).put({ id: `c${n}`, update: { append: { list: [n] } } });
  }
}

function unsealed(file: string): number {
  const database = new DatabaseSync(file);
  const { count } = database.prepare("SELECT count(*) AS count FROM tail").get() as { count: number };
  database.close();
  return count;
}

/** Every checkpoint of a thread, read by a store that remembers nothing. */
async function readsBack(file: string, id: string, length: number): Promise<void> {
  const store = await open<Talk>(`sqlite:${file}`);
  const states: (readonly number[])[] = [];
  for await (const { state } of store.thread(id).history({ states: true })) states.push(state.list);
  expect(states).toEqual(
    Array.from({ length }, (_, back) => Array.from({ length: length - back }, (_, element) => element)),
  );
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  await store.close();
}

test("closing a store commits nothing, and the next store reads everything back", async () => {
  const file = path("agent.db");
  const inner = await sqlite(file);
  let commits = 0;
  const counted = forwarding(inner, {
    commit(batches) {
      commits += 1;
      return inner.commit(batches);
    },
  });
  const store = await open<Talk>(counted);
  await talk(store, "t", 0, 50);
  const before = commits;
  await store.close();
  expect(commits).toBe(before);
  expect(unsealed(file)).toBe(50);
  await readsBack(file, "t", 50);
});

test("closing a store on SQLite does not wait for a process that holds the lock", async () => {
  const file = path("agent.db");
  const store = await open<Talk>(`sqlite:${file}`);
  await talk(store, "t", 0, 50);
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  await store.close();
  other.exec("COMMIT");
  other.close();
  await readsBack(file, "t", 50);
});

test("a store that is closed loses nothing where another store has gone on with its thread", async () => {
  const file = path("agent.db");
  const first = await open<Talk>(`sqlite:${file}`);
  const second = await open<Talk>(`sqlite:${file}`);
  await talk(first, "t", 0, 40);
  await talk(second, "t", 40, 45);
  await first.close();
  await talk(second, "t", 45, 120);
  await readsBack(file, "t", 120);
  await second.close();
  await readsBack(file, "t", 120);
});

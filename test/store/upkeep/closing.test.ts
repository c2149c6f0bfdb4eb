import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
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

describe("closing a store on SQLite", () => {
  test("closing a store on SQLite seals what it has put, but for the head and its parent", async () => {
    const file = path("agent.db");
    const store = await open<Talk>(`sqlite:${file}`);
    for (const id of ["a", "b"]) await talk(store, id, 0, 50);
    await store.close();
    expect(unsealed(file)).toBe(4);
    for (const id of ["a", "b"]) await readsBack(file, id, 50);
  });

  test("closing a store on SQLite seals neither less than half a pack nor what others have put", async () => {
    const file = path("agent.db");
    const store = await open<Talk>(`sqlite:${file}`);
    await talk(store, "few", 0, 33);
    await store.close();
    expect(unsealed(file)).toBe(33);
    const writer = await open<Talk>(`sqlite:${file}`);
    await talk(writer, "many", 0, 50);
    const reader = await open<Talk>(`sqlite:${file}`);
    await reader.thread("many").latest();
    await reader.close();
    expect(unsealed(file)).toBe(83);
    await writer.close();
    expect(unsealed(file)).toBe(35);
  });

  test("nothing is lost where another store has gone on since", async () => {
    const file = path("agent.db");
    const first = await open<Talk>(`sqlite:${file}`);
    const second = await open<Talk>(`sqlite:${file}`);
    await talk(first, "t", 0, 40);
    await talk(second, "t", 40, 45);
    await first.close();
    expect(unsealed(file)).toBe(7);
    await talk(second, "t", 45, 120);
    await readsBack(file, "t", 120);
    await second.close();
    await readsBack(file, "t", 120);
  });

  test("nothing is sealed twice, and what another has deleted does not come back", async () => {
    const file = path("agent.db");
    const first = await open<Talk>(`sqlite:${file}`);
    const second = await open<Talk>(`sqlite:${file}`);
    await talk(first, "sealed", 0, 50);
    await talk(first, "pruned", 0, 50);
    await talk(first, "gone", 0, 50);
    await talk(second, "sealed", 50, 70);
    await second.thread("pruned").prune({ keepLast: 3 });
    await second.thread("gone").delete();
    await first.close();
    await second.close();
    await readsBack(file, "sealed", 70);
    const store = await open<Talk>(`sqlite:${file}`);
    expect(await store.thread("pruned").count()).toBe(3);
    expect(await store.thread("gone").latest()).toBeUndefined();
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
    await store.close();
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
    expect(unsealed(file)).toBe(50);
    await readsBack(file, "t", 50);
  });

  test("a store on SQLite closes all the same where sealing fails", async () => {
    const file = path("agent.db");
    const inner = await sqlite(file);
    const closed: string[] = [];
    const failing = forwarding(inner, {
      commitIfFree: () => Promise.reject(new Error("the disk is full")),
      close: async () => {
        closed.push("backend");
        await inner.close();
      },
    });
    const store = await open<Talk>(failing);
    await talk(store, "t", 0, 50);
    await store.close();
    expect(closed).toEqual(["backend"]);
    expect(unsealed(file)).toBe(50);
    await readsBack(file, "t", 50);
  });
});

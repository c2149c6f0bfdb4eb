import { expect, test } from "vitest";
import { open, type ThreadInfo } from "../../src/index.ts";
import { Catalogue } from "../../src/inspector/caches/catalogue.ts";
import { collect } from "../support/collect.ts";

const query = { search: "", workflow: undefined, status: undefined, offset: 0, limit: 20 } as const;
const ids = (threads: readonly ThreadInfo[]): readonly string[] => threads.map(({ id }) => id);

test("A store with more threads than are listed is shown by its index, with exact counts, and searched as far as it is listed", async () => {
  let now = 0;
  await using store = await open("memory:", { clock: () => now });
  const names = Array.from({ length: 60 }, (_, number) => `thread-${number}`);
  for (const [number, id] of names.entries()) {
    now = number * 10_000;
    await store.thread(id).put({ state: {}, workflow: number % 2 === 0 ? "even" : "odd", next: [] });
  }
  const newest = names.toReversed();
  const catalogue = new Catalogue(store, 25);
  expect(ids(await collect(catalogue.each()))).toEqual(newest);
  expect([catalogue.isComplete, catalogue.isCut, catalogue.listed.length]).toEqual([true, true, 25]);
  const page = await catalogue.page({ ...query, offset: 30 });
  expect([ids(page.threads), page.total, page.beyond]).toEqual([newest.slice(30, 50), 60, 0]);
  const odd = await catalogue.page({ ...query, workflow: "odd", status: "done" });
  expect([odd.total, odd.statuses, odd.workflows]).toEqual([30, { done: 30 }, ["even", "odd"]]);
  const found = await catalogue.page({ ...query, search: "-5" });
  expect([ids(found.threads), found.beyond]).toEqual([newest.slice(0, 10), 35]);
  expect((await catalogue.page({ ...query, search: "-22" })).total).toBe(0);
  expect(ids((await catalogue.page({ ...query, search: "thread-2" })).threads)).toEqual(
    newest.filter((id) => id.startsWith("thread-2")),
  );
  expect(await catalogue.totals()).toMatchObject({ total: 60, statuses: { done: 60 } });
});

test("A store whose threads are all listed is searched whole", async () => {
  await using store = await open("memory:");
  for (const id of ["a", "b", "ab"]) await store.thread(id).put({ state: {} });
  const catalogue = new Catalogue(store, 3);
  await collect(catalogue.each());
  const found = await catalogue.page({ ...query, search: "a" });
  expect([ids(found.threads).toSorted(), found.total, found.beyond]).toEqual([["a", "ab"], 2, 0]);
  expect(catalogue.isCut).toBe(false);
});

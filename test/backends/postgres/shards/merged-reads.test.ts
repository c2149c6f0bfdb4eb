import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { open } from "../../../../src/api/open.ts";
import type { Backend, FoundEntry, Listed, LogPage } from "../../../../src/backend.ts";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres/database.ts";

const shards = 4;
let database: TestDatabase;
let backend: Backend;

beforeAll(async () => {
  database = await createDatabase();
  backend = await postgres({ url: database.url, connections: 4, shards });
});
afterAll(async () => {
  await backend.close();
  await database.drop();
});

const textOf = (number: number): string => `e${String(number).padStart(4, "0")}`;

test("entries of all shards are found in order, also where one shard has nearly all of them", async () => {
  // Lineages 8, 16, … are in shard 0; every tenth is elsewhere.
  const entries = Array.from({ length: 300 }, (_, number) => {
    return { text: textOf(number), lineage: 8 * number + (number % 10 === 9 ? (number % 3) + 1 : 8), tape: 1 };
  });
  for (const entry of entries) await backend.commit([{ entries: { add: [entry] } }]);
  for (const [limit, reverse] of [
    [300, false],
    [7, false],
    [150, true],
    [1000, true],
  ] as const) {
    const expected = (reverse ? entries.toReversed() : entries).slice(0, limit);
    const read = { find: { from: "e", to: "f", limit }, reverse };
    expect((await backend.read([read]))[0]).toEqual(expected);
    // Page by page it is the same.
    const pages: FoundEntry[] = [];
    for (let after: FoundEntry | undefined; pages.length < expected.length; after = pages.at(-1)) {
      const page = { ...read.find, limit: Math.min(13, limit - pages.length), ...(after && { after }) };
      pages.push(...((await backend.read([{ find: page, reverse }]))[0] as FoundEntry[]));
    }
    expect(pages).toEqual(expected);
  }
  expect(
    await backend.read([{ tally: { from: "e", to: "f" } }, { tally: { from: textOf(10), to: textOf(20) } }]),
  ).toEqual([300, 10]);
});

test("directory entries of all shards are listed in the order of their ids", async () => {
  const ids = Array.from({ length: 60 }, (_, number) => `${number % 2 === 0 ? "a" : "é"} ${number}`);
  for (const id of ids) await backend.commit([{ puts: [{ key: { table: "directory", id }, value: "d" }] }]);
  const list = async (read: object): Promise<readonly string[]> =>
    ((await backend.read([{ list: { limit: 100, ...read } }]))[0] as readonly Listed[]).map(({ id }) => id);
  const sorted = ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect(await list({})).toEqual(sorted);
  expect(await list({ prefix: "é", limit: 3 })).toEqual(sorted.slice(30, 33));
  expect(await list({ after: sorted[10], limit: 5 })).toEqual(sorted.slice(11, 16));
});

test("lines of all shards are read in the order of their commits, each once, whatever the pages", async () => {
  const before = ((await backend.read([{ log: { after: "", limit: 0 } }]))[0] as LogPage).end;
  const texts = Array.from({ length: 40 }, (_, number) => `line ${number}`);
  for (const [number, text] of texts.entries()) {
    await backend.commit([{ log: { lineage: 1 + ((number * 7) % 13), lines: [{ at: number, text }] } }]);
  }
  const read: string[] = [];
  for (let after = before; read.length < texts.length; ) {
    const [page] = (await backend.read([{ log: { after, limit: 3 } }])) as [LogPage];
    expect(page.expired).toBe(false);
    read.push(...page.lines.map(({ text }) => text));
    after = page.lines.at(-1)?.position as string;
  }
  expect(read).toEqual(texts);
  const [newest] = (await backend.read([{ log: { after: before, limit: 5, newest: true } }])) as [LogPage];
  expect(newest.lines.map(({ text }) => text)).toEqual(texts.slice(-5));
  const [rest] = (await backend.read([{ log: { after: newest.lines[1]?.position as string, limit: 99 } }])) as [
    LogPage,
  ];
  expect(rest.lines.map(({ text }) => text)).toEqual(texts.slice(-3));
});

test("a watcher is told every change of threads in all shards once, in the order of each thread", async () => {
  const options = { url: database.url, connections: 4, schema: "watched", shards };
  const [writing, other, watching] = await Promise.all(
    Array.from({ length: 3 }, async () => open<{ n: number }>(await postgres(options))),
  );
  if (!writing || !other || !watching) throw new Error("three stores were opened");
  const [threads, steps] = [12, 15];
  const told = new Map<string, string[]>();
  const watch = watching.watch({ kinds: ["put"] });
  // The watch begins with this change at the latest.
  const begun = watch.next();
  for (let n = 0; (await Promise.race([begun, sleep(50)])) === undefined; n++) {
    await writing.thread("first").put({ state: { n } });
  }
  const watched = (async () => {
    let count = 0;
    for await (const { thread, id } of watch) {
      if (thread === "first") continue;
      told.set(thread, [...(told.get(thread) ?? []), id as string]);
      count += 1;
      if (count === threads * steps) return;
    }
  })();
  const put = new Map<string, string[]>();
  await Promise.all(
    Array.from({ length: threads }, async (_, number) => {
      const ids: string[] = [];
      put.set(`thread ${number}`, ids);
      // Each thread is written by two stores, one after the other.
      for (let n = 0; n < steps; n++) {
        const store = n % 5 === 4 ? other : writing;
        ids.push((await store.thread(`thread ${number}`).put({ state: { n } })).id);
      }
    }),
  );
  await watched;
  expect(told).toEqual(put);
  await Promise.all([writing.close(), other.close(), watching.close()]);
});

import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { open, type Store } from "../../../../src/index.ts";
import { PostgresServer } from "../../../support/postgres/server.ts";

interface State {
  readonly n: number;
  readonly log: readonly string[];
}

let server: PostgresServer;

beforeAll(async () => {
  // Commits that are not synced stay in memory until somebody asks for them to be written.
  server = await PostgresServer.start({ wal_writer_delay: "10000ms" });
});
afterAll(() => server.stop());

const put = (store: Store<State>, n: number) =>
  store.thread("t").put({ state: { n, log: Array.from({ length: n }, (_, index) => `m${index}`) } });

/** The first five of a thread survive, five more were acknowledged and are lost with the server. */
async function withLostCommits(schema: string): Promise<Store<State>> {
  const store = await open<State>(server.url(), { schema, fsync: "normal" });
  for (let n = 1; n <= 5; n += 1) await put(store, n);
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  await client.query("checkpoint");
  await client.end();
  for (let n = 6; n <= 10; n += 1) await put(store, n);
  server.kill();
  await server.restart();
  return store;
}

test("a put goes on from what the server still has, not from what it had acknowledged and lost", async () => {
  const store = await withLostCommits("continued");
  expect((await put(store, 11)).parent).toBe((await store.thread("t").get({ step: 4 }))?.id);
  const other = await open<State>(server.url(), { schema: "continued" });
  for (const each of [store, other]) {
    expect((await each.thread("t").latest())?.state.n).toBe(11);
    expect(await each.thread("t").count()).toBe(6);
    expect(await each.verify()).toEqual({ ok: true, faults: [] });
  }
  await store.close();
  await other.close();
});

test("a read shows what the server still has, and what others have put in the place of what it lost", async () => {
  const store = await withLostCommits("read");
  expect((await store.thread("t").latest())?.state.n).toBe(5);
  const other = await open<State>(server.url(), { schema: "read" });
  for (let n = 20; n < 30; n += 1) await put(other, n);
  expect((await store.thread("t").latest())?.state.n).toBe(29);
  expect((await store.thread("t").get({ step: 9 }))?.state.n).toBe(24);
  await store.close();
  await other.close();
});

test("a put does not build on another's checkpoint of the same seq", async () => {
  const store = await withLostCommits("taken");
  const other = await open<State>(server.url(), { schema: "taken" });
  for (let n = 20; n < 25; n += 1) await put(other, n);
  await store.thread("t").put({ update: { set: { n: 99 } } });
  const { state } = (await other.thread("t").latest()) ?? {};
  expect(state).toEqual({ n: 99, log: Array.from({ length: 24 }, (_, index) => `m${index}`) });
  expect(await other.verify()).toEqual({ ok: true, faults: [] });
  await store.close();
  await other.close();
});

import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { open } from "../../../../src/api/open.ts";
import type { Store } from "../../../../src/api/store.ts";
import { startBouncer } from "../../../support/postgres/pgbouncer.ts";
import { fileDatabase, makePostgres } from "../../../support/postgres/places.ts";

/** Puts some checkpoints by one store, and returns the milliseconds until another's watch has told each. */
async function delays(writer: Store, reader: Store, count: number): Promise<readonly number[]> {
  const watch = reader.watch({ kinds: ["put"] });
  await watch.cursor();
  const taken: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const { id } = await writer.thread(`t${n % 3}`).put({ state: { n } });
    const committed = performance.now();
    const { value } = await watch.next();
    expect(value?.id).toBe(id);
    taken.push(performance.now() - committed);
    await wait(Math.random() * 20);
  }
  await watch.return();
  return taken.sort((left, right) => left - right);
}

test("a watch goes on after all its connections were cut, with nothing left out and nothing twice", async () => {
  const place = await makePostgres();
  const { query } = await fileDatabase();
  const [writer, reader] = [await open(place.url, place.options), await open(place.url, place.options)];
  const watch = reader.watch();
  await watch.cursor();
  const ids: string[] = [];
  const told: (string | null)[] = [];
  for (let round = 0; round < 3; round += 1) {
    for (let n = 0; n < 10; n += 1) ids.push((await writer.thread("t").put({ state: { n } })).id);
    if (round < 2)
      await query(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()",
      );
    while (told.length < ids.length) told.push((await watch.next()).value?.id ?? null);
  }
  expect(told).toEqual(ids);
  await watch.return();
  await writer.close();
  await reader.close();
  await place.cleanup();
}, 120_000);

test("a watch behind a pooler of transactions, where no notification arrives, hears of commits too", async () => {
  const { url } = await fileDatabase();
  const bouncer = await startBouncer(url);
  const place = await makePostgres({ url: bouncer.url, prepare: false });
  const [writer, reader] = [await open(place.url, place.options), await open(place.url, place.options)];
  const taken = await delays(writer, reader, 40);
  expect(taken[Math.floor(taken.length / 2)]).toBeLessThan(250);
  await writer.close();
  await reader.close();
  await place.cleanup();
  bouncer.stop();
}, 120_000);

test("a watch that begins while others' transactions are open tells nothing that was committed before", async () => {
  const place = await makePostgres();
  const { url } = await fileDatabase();
  const other = new pg.Client(url);
  onTestFinished(() => other.end());
  await other.connect();
  // Lines of the log have no position as long as a transaction that began earlier may still commit before them.
  await other.query("begin");
  await other.query("select pg_current_xact_id()");
  const store = await open(place.url, place.options);
  const thread = store.thread("t");
  const { id } = await thread.put({ state: { n: 0 } });
  await thread.label(id, "first");
  const watch = store.watch();
  await watch.cursor();
  const written = thread.putWrites(id, { task: "t", writes: [{ channel: "n", value: 1 }] });
  const next = await thread.put({ state: { n: 1 } });
  await written;
  await thread.label(id, "first");
  await other.query("rollback");
  const told: unknown[] = [];
  while (told.length < 3) {
    const { value } = await watch.next();
    told.push([value?.kind, value?.id]);
  }
  expect(told).toEqual([
    ["writes", id],
    ["put", next.id],
    ["label", id],
  ]);
  await watch.return();
  await store.close();
  await place.cleanup();
}, 120_000);

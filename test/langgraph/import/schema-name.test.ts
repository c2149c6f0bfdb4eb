import { afterAll, expect, test } from "vitest";
import { openPostgresSaverDatabase } from "../../../src/langgraph/import/postgres-saver-database.ts";
import { createDatabase } from "../../support/postgres/database.ts";

const database = await createDatabase();
afterAll(() => database.drop());

test("a PostgresSaver's schema of any name is read, whatever backslashes mean in strings there", async () => {
  await database.query("create table public.bystander (kept int4)");
  const schema = "x\\'); drop table public.bystander; --";
  await database.query(`create schema "${schema}"`);
  const keys = "thread_id text, checkpoint_ns text, checkpoint_id text";
  for (const table of [
    `checkpoints (${keys}, parent_checkpoint_id text, checkpoint jsonb, metadata jsonb)`,
    "checkpoint_blobs (thread_id text, checkpoint_ns text, channel text, version text, type text, blob bytea)",
    `checkpoint_writes (${keys}, task_id text, idx int4, channel text, type text, blob bytea)`,
  ]) {
    await database.query(`create table "${schema}".${table}`);
  }
  await database.query(`insert into "${schema}".checkpoints (thread_id) values ('t')`);
  const url = new URL(database.url);
  url.searchParams.set("options", "-c standard_conforming_strings=off");
  const source = await openPostgresSaverDatabase(url.href, schema);
  expect(await source.count()).toBe(1);
  expect(await source.bytes()).toBeGreaterThan(8191);
  expect(await source.threads()).toEqual(["t"]);
  await source.close();
  expect(await database.query("select to_regclass('public.bystander') is not null as kept")).toEqual([{ kept: true }]);
});

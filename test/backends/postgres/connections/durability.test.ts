import pg from "pg";
import { afterAll, expect, test } from "vitest";
import type { PostgresOptions } from "../../../../src/backends/postgres/index.ts";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../../../support/postgres/database.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import type { Bouncer } from "../../../support/postgres/pgbouncer.ts";
import { startBouncer } from "../../../support/postgres/pgbouncer.ts";
import { recordText } from "../../../support/texts.ts";
import { at, creation, metaOf, sealing, step } from "../support/records.ts";

const database: TestDatabase = await createDatabase();
const bouncer = await startBouncer(database.url).catch((error: unknown) => String(error));

afterAll(async () => {
  if (typeof bouncer !== "string") bouncer.stop();
  await database.drop();
});

/** Commits by every kind of statement, and gives the `synchronous_commit` that was in force when each of them committed. */
async function levelsOf(options: PostgresOptions): Promise<readonly unknown[]> {
  const schema = options.schema as string;
  const backend = await postgres(options);
  await backend.commit([creation(1)]);
  await database.query(`create table ${schema}.noted (transaction xid8, level text)`);
  await database.query(
    `create function ${schema}.note() returns trigger language plpgsql as $$ begin
       insert into ${schema}.noted values (pg_current_xact_id(), current_setting('synchronous_commit'));
       return null;
     end $$`,
  );
  for (const table of ["meta", "tail", "write", "mark"]) {
    await database.query(
      `create constraint trigger note after insert or update on ${schema}.${table} deferrable initially deferred
         for each row execute function ${schema}.note()`,
    );
  }
  const write = (tape: number, item: number) => ({ key: at("write", tape, item), value: recordText("write") });
  const withWrites = (tape: number, seq: number, count: number) => ({
    checks: [{ key: metaOf(tape), value: recordText("meta") }],
    inserts: [
      ...Array.from({ length: count }, (_, item) => write(tape, 100 * seq + item)),
      { key: at("tail", tape, seq), value: recordText(seq) },
    ],
  });
  const commits = [
    [creation(2)],
    [creation(3), creation(4)],
    [step(1, 1, recordText(1))],
    [step(1, 2, recordText(2)), step(2, 2, recordText(2))],
    // The first is taken, so that each is tried for itself.
    [step(1, 2, recordText("other")), step(2, 3, recordText(3))],
    [withWrites(1, 4, 1)],
    [withWrites(1, 5, 2)],
    [withWrites(1, 6, 2), withWrites(2, 6, 2)],
    [{ inserts: [write(1, 7), { key: at("tail", 1, 7), value: recordText(7) }] }],
    [sealing(1, 7, recordText("meta"), recordText("sealed"))],
  ];
  for (const batches of commits) await backend.commit(batches);
  await backend.close();
  const rows = await database.query(
    `select transaction, array_agg(distinct level)::text as levels from ${schema}.noted group by 1 order by 1`,
  );
  expect(rows).toHaveLength(commits.length);
  return [...new Set(rows.map(({ levels }) => levels))];
}

test("with fsync full every commit is synced before its answer, though the role has synchronous_commit off", async () => {
  await database.query("create role hasty superuser login password 'hasty'");
  await database.query("alter role hasty set synchronous_commit = off");
  const url = new URL(database.url);
  url.username = "hasty";
  url.password = "hasty";
  expect(await levelsOf({ url: url.href, schema: "by_role" })).toEqual(["{on}"]);
  await database.query("drop owned by hasty cascade");
  await database.query("drop role hasty");
});

test("with fsync full every commit is synced before its answer, in a pool whose session has it off, which stays off", async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  await pool.query("set synchronous_commit = off");
  expect(await levelsOf({ pool, schema: "by_session" })).toEqual(["{on}"]);
  expect((await pool.query("show synchronous_commit")).rows).toEqual([{ synchronous_commit: "off" }]);
  await pool.end();
});

test("a level at which the server also waits for replicas, or only for its own disk, is left as it is", async () => {
  for (const level of ["remote_apply", "remote_write", "local", "on"]) {
    const pool = new pg.Pool({ connectionString: database.url, options: `-c synchronous_commit=${level}` });
    expect(await levelsOf({ pool, schema: `level_${level}` })).toEqual([`{${level}}`]);
    await pool.end();
  }
});

test("with fsync normal commits are answered before they are synced, through a url and through a pool", async () => {
  const pool = new pg.Pool({ connectionString: database.url });
  expect(await levelsOf({ url: database.url, schema: "normal_url", fsync: "normal" })).toEqual(["{off}"]);
  expect(await levelsOf({ pool, schema: "normal_pool", fsync: "normal" })).toEqual(["{off}"]);
  await pool.end();
});

test.skipIf(typeof bouncer === "string")(
  `fsync means the same through a transaction-pooling PgBouncer ${typeof bouncer === "string" ? `(${bouncer})` : ""}`,
  async () => {
    const { url } = bouncer as Bouncer;
    expect(await levelsOf({ url, schema: "full_bouncer", prepare: false })).toEqual(["{on}"]);
    expect(await levelsOf({ url, schema: "normal_bouncer", prepare: false, fsync: "normal" })).toEqual(["{off}"]);
  },
);

test("an fsync that is neither full nor normal is a TypeError", async () => {
  await expect(postgres({ url: database.url, fsync: "off" as "full" })).rejects.toThrow(TypeError);
});

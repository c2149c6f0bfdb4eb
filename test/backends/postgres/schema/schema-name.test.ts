import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../../../support/postgres/database.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { recordText } from "../../../support/texts.ts";
import { CountingPool } from "../support/counting.ts";
import { creation, metaOf, sealing } from "../support/records.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await database.query("create table public.bystander (kept int4)");
});
afterAll(() => database.drop());

/** Names under which a statement made by gluing strings together would drop the bystander, one way or another. */
const hostile = [
  "x\\'); drop table public.bystander; --",
  "x'); drop table public.bystander; --",
  'x".y; drop table public.bystander; --',
  "x$body$; drop table public.bystander; --",
  "x\\",
  "x\n; drop table public.bystander",
  "x\u2028y",
  "x\u202ey",
  "x\0y",
  "x\ud800y",
];

const reserved = ["pg_temp", "pg_toast", "pg_catalog", "pg_mine", "information_schema"];

test.each([...hostile, ...reserved])(
  "the schema name %j is a TypeError before any connection is made",
  async (schema) => {
    const pool = new CountingPool({ connectionString: database.url });
    await expect(postgres({ pool, schema })).rejects.toThrow(TypeError);
    await expect(postgres({ pool, schema })).rejects.toThrow(/schema/);
    expect(pool.pool.totalCount).toBe(0);
    await pool.end();
  },
);

test("a schema that is no string is a TypeError", async () => {
  for (const schema of [1, null, {}, ["a"], Symbol("a")]) {
    await expect(postgres({ url: database.url, schema: schema as string })).rejects.toThrow(TypeError);
  }
});

const off = "standard_conforming_strings";

/** Ways in which a session comes to read backslashes in strings as escapes. */
const ways: Readonly<Record<string, () => Promise<pg.Pool>>> = {
  "by the connection's options": async () =>
    new pg.Pool({ connectionString: database.url, max: 2, options: `-c ${off}=off` }),
  "by the role": async () => {
    await database.query(`create role escaping superuser login password 'escaping'`);
    await database.query(`alter role escaping set ${off} = off`);
    const url = new URL(database.url);
    url.username = "escaping";
    url.password = "escaping";
    return new pg.Pool({ connectionString: url.href, max: 2 });
  },
  "by the database": async () => {
    const [found] = await database.query("select current_database() as name");
    await database.query(`alter database ${found?.name} set ${off} = off`);
    return new pg.Pool({ connectionString: database.url, max: 2 });
  },
  "in the pool's session": async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    await pool.query(`set ${off} = off`);
    return pool;
  },
};

afterAll(async () => {
  await database.query("drop owned by escaping cascade").catch(() => {});
  await database.query("drop role if exists escaping");
});

describe.each(Object.keys(ways))("with standard_conforming_strings off %s", (way) => {
  let pool: pg.Pool;
  beforeAll(async () => {
    pool = await (ways[way] as () => Promise<pg.Pool>)();
    expect((await pool.query(`show ${off}`)).rows).toEqual([{ [off]: "off" }]);
  });
  afterAll(() => pool.end());

  test(`any name is refused, or is the name of the schema, with standard_conforming_strings off ${way}`, async () => {
    const name = fc.oneof(
      fc.constantFrom(...hostile),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
      fc.string({ unit: fc.constantFrom("\\", "'", '"', "$", ";", "-", " ", "a", "é", "%", "E", "U&"), maxLength: 20 }),
    );
    await fc.assert(
      fc.asyncProperty(name, async (schema) => {
        const backend = await postgres({ pool, schema }).catch((error: unknown) => {
          if (error instanceof TypeError) return undefined;
          throw error;
        });
        if (backend === undefined) return;
        await backend.commit([creation(1)]);
        await backend.commit([sealing(1, 1, recordText("meta"), recordText("sealed"))]);
        expect(await backend.read([{ get: metaOf(1) }])).toEqual([recordText("sealed")]);
        expect((await backend.size()).total).toBeGreaterThan(0);
        await backend.compact();
        expect(await backend.verify()).toEqual([]);
        await backend.close();
        const found = await database.query("select 1 from pg_namespace where nspname = $1", [schema]);
        expect(found).toHaveLength(1);
        await pool.query(`drop schema "${schema}" cascade`);
      }),
      { numRuns: 12 },
    );
    expect(await database.query("select to_regclass('public.bystander') is not null as kept")).toEqual([
      { kept: true },
    ]);
  });
});

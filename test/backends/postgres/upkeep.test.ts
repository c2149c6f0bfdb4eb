import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { postgres } from "../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../../support/postgres/database.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { creation } from "./support/records.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** The tables of a schema by the files they are in: a table that is rewritten gets another. */
async function files(schema: string): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query(
    `select relname, pg_relation_filenode(oid) as file from pg_class
     where relkind = 'r' and relnamespace = '${schema}'::regnamespace`,
  );
  return new Map(rows.map(({ relname, file }) => [relname as string, file as number]));
}

test.each([0, 2])(
  "tables of others in the schema are neither counted, vacuumed nor verified (%i partitions)",
  async (partitions) => {
    const schema = `beside_${partitions}`;
    const backend = await postgres({ url: database.url, schema, partitions });
    await backend.commit([creation(1)]);
    const { total } = await backend.size();
    expect(total).toBeGreaterThan(0);
    await database.query(`create table ${schema}.other as select generate_series(1, 10000) as number`);
    await database.query(`create index other_number on ${schema}.other (number)`);
    await database.query("update pg_index set indisvalid = false where indexrelid = $1::regclass", [
      `${schema}.other_number`,
    ]);
    expect((await backend.size()).total).toBe(total);
    expect(await backend.verify()).toEqual([]);
    const before = await files(schema);
    await backend.compact();
    const after = await files(schema);
    const kept = [...before.keys()].filter((name) => before.get(name) === after.get(name));
    expect(kept).toEqual(["other"]);
    expect(before.size).toBe(3 + 15 * Math.max(1, partitions));
    await backend.close();
  },
);

describe("compact by a role that does not own the tables", () => {
  /** A url for a role with a password of its own. */
  const as = (role: string): string => {
    const url = new URL(database.url);
    url.username = role;
    url.password = role;
    return url.href;
  };

  beforeAll(async () => {
    for (const role of ["keeper", "guest"]) await database.query(`create role ${role} login password '${role}'`);
    await database.query("create schema kept authorization keeper");
    const keeper = await postgres({ url: as("keeper"), schema: "kept", partitions: 2 });
    await keeper.commit([creation(1)]);
    await keeper.close();
    await database.query("grant usage on schema kept to guest");
    await database.query("grant select, insert, update, delete on all tables in schema kept to guest");
  });
  afterAll(async () => {
    for (const role of ["guest", "keeper"]) {
      await database.query(`drop owned by ${role} cascade`);
      await database.query(`drop role ${role}`);
    }
  });

  test.each(["full", "online"] as const)(
    "compact fails for a role that does not own the tables, where the server would skip them (%s)",
    async (compact) => {
      const backend = await postgres({ url: as("guest"), schema: "kept", compact });
      await expect(backend.compact()).rejects.toMatchObject({
        code: "BACKEND",
        message: expect.stringMatching(/the role guest may not vacuum kept\.directory_0\b.*MAINTAIN/),
      });
      await backend.close();
    },
  );

  test("compact fails for a role where one of the tables belongs to another role", async () => {
    await database.query("alter table kept.tail_1 owner to current_user");
    onTestFinished(async () => {
      await database.query("alter table kept.tail_1 owner to keeper");
    });
    const backend = await postgres({ url: as("keeper"), schema: "kept" });
    await expect(backend.compact()).rejects.toMatchObject({ message: expect.stringContaining("kept.tail_1") });
    await backend.close();
  });

  test.for([
    ["a member of the owner", "grant keeper to guest", "revoke keeper from guest"],
    ["the owner of the database", "alter database % owner to guest", "alter database % owner to current_user"],
    [
      "given MAINTAIN",
      "grant maintain on all tables in schema kept to guest",
      "revoke maintain on all tables in schema kept from guest",
    ],
  ] as const)("rewrites them all where it is %s", async ([right, grant, revoke], { skip }) => {
    const [server] = await database.query(
      "select current_database() as name, current_setting('server_version_num')::int as version",
    );
    skip(right === "given MAINTAIN" && Number(server?.version) < 170000, "Postgres 17 is the first to know it");
    await database.query(grant.replace("%", String(server?.name)));
    onTestFinished(async () => {
      await database.query(revoke.replace("%", String(server?.name)));
    });
    const before = await files("kept");
    const backend = await postgres({ url: as("guest"), schema: "kept" });
    await backend.compact();
    await backend.close();
    const after = await files("kept");
    expect([...before.keys()].filter((table) => before.get(table) === after.get(table))).toEqual([]);
  });
});

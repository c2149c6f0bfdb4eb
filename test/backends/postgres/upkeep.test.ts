import { afterAll, beforeAll, expect, test } from "vitest";
import { postgres } from "../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../../postgres/database.ts";
import { createDatabase } from "../../postgres/database.ts";
import { creation } from "./records.ts";

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
    expect(before.size).toBe(2 + 11 * Math.max(1, partitions));
    await backend.close();
  },
);

import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bigints, byteas, integers, texts, uuids } from "../../../src/backends/postgres/writing/arrays.ts";
import type { TestDatabase } from "../../support/postgres/database.ts";
import { createDatabase } from "../../support/postgres/database.ts";

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** The array as the server understood it, by way of its JSON. */
async function understood(type: string, array: Buffer): Promise<unknown> {
  const { rows } = await client.query(`select to_json($1::${type}[]) as value`, [array]);
  return rows[0].value;
}

const withoutNul = fc.string({ unit: "grapheme" }).map((value) => value.replaceAll("\0", ""));

test("the server reads each kind of array as it was meant", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
      fc.array(fc.integer({ min: -1, max: 2 ** 32 })),
      fc.array(fc.option(withoutNul, { nil: undefined })),
      fc.array(fc.option(fc.uint8Array(), { nil: undefined })),
      async (small, large, strings, bytes) => {
        expect(await understood("int4", integers(small))).toEqual(small);
        expect(await understood("int8", bigints(large))).toEqual(large);
        expect(await understood("text", texts(strings))).toEqual(strings.map((value) => value ?? null));
        const hex = bytes.map((value) => (value === undefined ? null : `\\x${Buffer.from(value).toString("hex")}`));
        expect(await understood("bytea", byteas(bytes))).toEqual(hex);
      },
    ),
    { numRuns: 50 },
  );
});

test("uuids are sixteen bytes", async () => {
  const bytes = Uint8Array.from({ length: 16 }, (_, index) => index);
  expect(await understood("uuid", uuids([bytes]))).toEqual(["00010203-0405-0607-0809-0a0b0c0d0e0f"]);
});

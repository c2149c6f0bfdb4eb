import { randomBytes } from "node:crypto";
import { afterAll } from "vitest";
import type { PostgresOptions } from "../../src/backends/postgres/index.ts";
import type { TestDatabase } from "./database.ts";
import { createDatabase } from "./database.ts";

let database: Promise<TestDatabase> | undefined;

/** The database of this test file, made when a test first needs it. */
export function fileDatabase(): Promise<TestDatabase> {
  database ??= createDatabase();
  return database;
}

afterAll(async () => {
  await (await database)?.drop();
});

/** A schema that is not there yet. */
export async function makePostgres(
  options: PostgresOptions = {},
): Promise<{ url: string; options: Record<string, unknown>; cleanup(): Promise<void> }> {
  const { url, query } = await fileDatabase();
  const schema = `place_${randomBytes(6).toString("hex")}`;
  return {
    url: options.url ?? url,
    options: { connections: 4, ...options, schema },
    async cleanup() {
      await query(`drop schema if exists ${schema} cascade`);
    },
  };
}

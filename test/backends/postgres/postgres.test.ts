import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import type { PostgresOptions } from "../../../src/backends/postgres/index.ts";
import { postgres } from "../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../../support/postgres/database.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { testContract } from "../support/contract.ts";

const capabilities = { durable: true, processes: true };
let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Each case gets a schema of its own, with a name that has to be quoted. */
function keepsTheContract(options: PostgresOptions): void {
  testContract(capabilities, () => {
    const schema = `case; ${randomBytes(6).toString("hex")} -- É`;
    onTestFinished(async () => {
      await database.query(`drop schema if exists "${schema}" cascade`);
    });
    return () => postgres({ url: database.url, schema, connections: 4, ...options });
  });
}

describe("postgres keeps the contract", () => keepsTheContract({}));
describe("postgres without named statements keeps the contract", () => keepsTheContract({ prepare: false }));

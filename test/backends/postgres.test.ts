import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe } from "vitest";
import type { Backend } from "../../src/backend.ts";
import type { PostgresOptions } from "../../src/backends/postgres/index.ts";
import { postgres } from "../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../postgres/database.ts";
import { createDatabase } from "../postgres/database.ts";
import { testContract } from "./contract/cases.ts";

const capabilities = { durable: true, processes: true };
let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Each case gets a schema of its own. */
function inOwnSchema(options: PostgresOptions): () => () => Promise<Backend> {
  return () => {
    const schema = `case ${randomBytes(6).toString("hex")} "quoted"`;
    return () => postgres({ url: database.url, schema, connections: 4, ...options });
  };
}

describe("postgres keeps the contract", () => {
  testContract(capabilities, inOwnSchema({}));
});

describe("postgres with partitions keeps the contract", () => {
  testContract(capabilities, inOwnSchema({ partitions: 16 }));
});

describe("postgres without prepared statements keeps the contract", () => {
  testContract(capabilities, inOwnSchema({ prepare: false }));
});

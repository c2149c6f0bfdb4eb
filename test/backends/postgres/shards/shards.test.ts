import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres/database.ts";
import { emptySchemas } from "../../../support/postgres/places.ts";
import { testContract } from "../../support/contract.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

describe("postgres with 4 shards keeps the contract", () => {
  testContract({ durable: true, processes: true }, () => {
    // Creating and dropping 84 tables takes longer than a case does, so the cases share them and leave them empty.
    onTestFinished(async () => {
      const [found] = await database.query("select to_regclass('threadmark.migration') as migrated");
      if (found?.migrated !== null) await emptySchemas((text) => database.query(text), "threadmark", 4);
    });
    return () => postgres({ url: database.url, connections: 4, shards: 4 });
  });
});

import { beforeAll, describe, onTestFinished } from "vitest";
import { postgres } from "../../src/backends/postgres/index.ts";
import { testContract } from "../backends/support/contract.ts";
import { emptySchemas } from "../support/postgres/places.ts";
import { query } from "./support/coordinator.ts";
import { type CitusPlace, makeDistributed, shards } from "./support/places.ts";

let place: CitusPlace;

beforeAll(async () => {
  place = await makeDistributed();
});

describe(`postgres with ${shards} shards on Citus keeps the contract`, () => {
  testContract({ durable: true, processes: true }, () => {
    onTestFinished(() => emptySchemas(query, place.options.databaseSchema, shards));
    return () => postgres({ url: place.url, ...place.options });
  });
});

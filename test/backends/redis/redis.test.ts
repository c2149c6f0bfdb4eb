import { describe } from "vitest";
import { redis } from "../../../src/backends/redis/index.ts";
import { makeRedis, makeRedisCluster } from "../../support/redis/places.ts";
import { testContract } from "../support/contract.ts";

const capabilities = { durable: true, processes: true };

describe("a Redis server keeps the contract", () => {
  testContract(capabilities, () => {
    const place = makeRedis();
    return async () => redis((await place).url, (await place).options);
  });
});

describe("a Redis server with a store of many shards keeps the contract", () => {
  testContract(capabilities, () => {
    const place = makeRedis({ shards: 16 });
    return async () => redis((await place).url, (await place).options);
  });
});

describe("a Redis Cluster keeps the contract", () => {
  testContract(capabilities, () => {
    const place = makeRedisCluster();
    return async () => redis((await place).url, (await place).options);
  });
});

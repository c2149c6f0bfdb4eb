import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Connections } from "../../../../src/backends/postgres/connection/connections.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres/database.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(() => database.drop());

function poolOf(max: number): pg.Pool {
  return new pg.Pool({ connectionString: database.url, max });
}

test("a connection of our own is at hand for the next statement, and goes back in the end", async () => {
  const pool = poolOf(2);
  const connections = new Connections(pool, true, 5_000);
  const client = await connections.take();
  connections.giveBack(client, false);
  expect(pool.idleCount).toBe(0);
  expect(connections.take()).toBe(client);
  connections.giveBack(client, false);
  await expect.poll(() => pool.idleCount).toBe(1);
  await connections.end();
  expect(pool.ended).toBe(true);
});

test("whoever waits for a connection has it as soon as it is given back", async () => {
  const pool = poolOf(1);
  const connections = new Connections(pool, true, 5_000);
  const client = await connections.take();
  const next = connections.take();
  expect(pool.waitingCount).toBe(1);
  connections.giveBack(client, false);
  // At once, not when those that are kept go back.
  expect(pool.waitingCount).toBe(0);
  expect(await next).toBe(client);
  connections.giveBack(client, false);
  await connections.end();
});

test("a pool that was passed in has its connection back after every statement, and stays open", async () => {
  const pool = poolOf(1);
  const connections = new Connections(pool, false, 5_000);
  const client = (await connections.take()) as pg.PoolClient;
  connections.giveBack(client, false);
  expect(pool.idleCount).toBe(1);
  await connections.end();
  expect(pool.ended).toBe(false);
  expect(pool.eventNames()).toEqual([]);
  await pool.end();
});

test("a connection that fails while it is kept is not given out again", async () => {
  const pool = poolOf(2);
  const connections = new Connections(pool, true, 5_000);
  const client = (await connections.take()) as pg.PoolClient;
  connections.giveBack(client, false);
  client.emit("error", new Error("cut"));
  const other = await connections.take();
  expect(other).not.toBe(client);
  connections.giveBack(other, false);
  await connections.end();
});

test("stores that share a pool listen to it once, for as long as there are any", async () => {
  const pool = poolOf(1);
  const stores = Array.from({ length: 20 }, () => new Connections(pool, false, 5_000));
  expect(pool.listenerCount("error")).toBe(1);
  for (const connections of stores.splice(1)) await connections.end();
  expect(pool.listenerCount("error")).toBe(1);
  await stores[0]?.end();
  expect(pool.listenerCount("error")).toBe(0);
  await pool.end();
});

test("a connection that fails in the very turn in which it was made ends nobody", async () => {
  const pool = poolOf(1);
  const connections = new Connections(pool, false, 5_000);
  // After the store has heard of it, and before it has it.
  pool.on("acquire", (client) => queueMicrotask(() => client.emit("error", new Error("cut"))));
  const client = await connections.take();
  connections.giveBack(client, true);
  await connections.end();
  await pool.end();
});

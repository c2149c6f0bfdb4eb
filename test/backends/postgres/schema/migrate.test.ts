import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { wholeStore } from "../../../../src/backends/postgres/schema/migrate.ts";
import type { TestDatabase } from "../../../support/postgres/database.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { recordText } from "../../../support/texts.ts";
import { at, creation, metaOf, step } from "../support/records.ts";
import { schemasOf } from "../support/schemas.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** A url for a role with a password of its own. */
function as(role: string): string {
  const url = new URL(database.url);
  url.username = role;
  url.password = role;
  return url.href;
}

async function dropRole(role: string): Promise<void> {
  await database.query(`drop owned by ${role}`);
  await database.query(`drop role ${role}`);
}

test("opening, reading, measuring, compacting and verifying create nothing", async () => {
  const backend = await postgres(database.url);
  expect(await backend.read([{ get: metaOf(1) }, { scan: { table: "tail", lineage: 1, group: 1 } }])).toEqual([
    undefined,
    [],
  ]);
  expect((await backend.size()).total).toBe(0);
  await backend.compact();
  expect(await backend.verify()).toEqual([]);
  expect(await backend.commit([])).toEqual([]);
  await backend.close();
  expect(await schemasOf(database)).toEqual([]);
});

test("processes that start at once migrate once", async () => {
  const script = fileURLToPath(new URL("../support/migrating-process.ts", import.meta.url));
  const children = [1, 2, 3, 4].map((tape) => fork(script, [database.url, String(tape)]));
  await Promise.all(children.map((child) => once(child, "message")));
  const outcomes = children.map(async (child) => {
    const message = once(child, "message");
    child.send("go");
    return (await message)[0] as unknown;
  });
  expect(await Promise.all(outcomes)).toEqual(children.map(() => ({ applied: true })));
  const rows = await database.query("select number from threadmark.migration order by number");
  expect(rows).toEqual(Array.from({ length: wholeStore.latest }, (_, index) => ({ number: index + 1 })));
  const backend = await postgres(database.url);
  expect(await backend.read([1, 2, 3, 4].map((tape) => ({ get: metaOf(tape) })))).toEqual(
    Array(4).fill(recordText("meta")),
  );
  await backend.close();
});

test("many handles in one process migrate once", async () => {
  const backends = await Promise.all(
    Array.from({ length: 8 }, () => postgres({ url: database.url, schema: "handles", connections: 2 })),
  );
  const applied = await Promise.all(backends.map((backend, index) => backend.commit([creation(index + 1)])));
  expect(applied.flat()).toEqual(backends.map(() => true));
  await Promise.all(backends.map((backend) => backend.close()));
});

test("a role without the right to create schemas uses one that is there", async () => {
  await database.query("create role tenant login password 'tenant'");
  const [found] = await database.query("select current_database() as name");
  await database.query(`revoke create on database ${found?.name} from public`);
  await database.query("create schema given");
  await database.query("grant usage, create on schema given to tenant");
  const backend = await postgres({ url: as("tenant"), schema: "given" });
  expect(await backend.commit([creation(1)])).toEqual([true]);
  expect(await backend.commit([step(1, 1, recordText(1))])).toEqual([true]);
  await backend.compact();
  expect(await backend.verify()).toEqual([]);
  await backend.close();
  const refused = await postgres({ url: as("tenant"), schema: "not_given" });
  await expect(refused.commit([creation(1)])).rejects.toMatchObject({ code: "BACKEND", committed: false });
  await refused.close();
  await dropRole("tenant");
});

test("a role that may only read and write uses what another migrated", async () => {
  const owner = await postgres({ url: database.url, schema: "shared" });
  await owner.commit([creation(1)]);
  await database.query("create role worker login password 'worker'");
  await database.query("grant usage on schema shared to worker");
  await database.query("grant select, insert, update, delete on all tables in schema shared to worker");
  const backend = await postgres({ url: as("worker"), schema: "shared" });
  expect(await backend.commit([step(1, 1, recordText(1))])).toEqual([true]);
  expect(await backend.commit([{ puts: [{ key: at("mark", 1, 1), value: recordText(1) }] }])).toEqual([true]);
  await Promise.all([backend.close(), owner.close()]);
  await dropRole("worker");
});

test("a layout of a later version is refused", async () => {
  const backend = await postgres({ url: database.url, schema: "later" });
  await backend.commit([creation(1)]);
  await backend.close();
  await database.query("insert into later.migration (number) values (1000)");
  await expect(postgres({ url: database.url, schema: "later" })).rejects.toMatchObject({
    code: "VERSION",
    message: expect.stringContaining("update threadmark"),
  });
});

test("a schema dropped under an open store is an empty store", async () => {
  const backend = await postgres({ url: database.url, schema: "dropped" });
  await backend.commit([creation(1)]);
  await database.query("drop schema dropped cascade");
  expect(await backend.read([{ get: metaOf(1) }])).toEqual([undefined]);
  expect(await backend.commit([step(1, 1, recordText(1))])).toEqual([false]);
  expect(await backend.commit([creation(1)])).toEqual([true]);
  expect(await backend.read([{ get: metaOf(1) }])).toEqual([recordText("meta")]);
  await backend.close();
});

test("two schemas of one database are two stores", async () => {
  const [one, two] = await Promise.all(["one", "two"].map((schema) => postgres({ url: database.url, schema })));
  await one?.commit([creation(7)]);
  expect(await two?.read([{ get: metaOf(7) }])).toEqual([undefined]);
  expect(await one?.read([{ get: metaOf(7) }])).toEqual([recordText("meta")]);
  await Promise.all([one?.close(), two?.close()]);
});

test("options that make no sense are a TypeError", async () => {
  await expect(postgres({})).rejects.toThrow(TypeError);
  await expect(postgres({ url: database.url, schema: "" })).rejects.toThrow(TypeError);
  await expect(postgres({ url: database.url, schema: "é".repeat(32) })).rejects.toThrow(TypeError);
  await expect(postgres({ url: database.url, partitions: 1.5 })).rejects.toThrow(TypeError);
  await expect(postgres({ url: database.url, patience: -1 })).rejects.toThrow(TypeError);
  await expect(postgres({ url: database.url, connections: 0 })).rejects.toThrow(TypeError);
  await expect(postgres({ url: database.url, compact: "fast" as "full" })).rejects.toThrow(TypeError);
});

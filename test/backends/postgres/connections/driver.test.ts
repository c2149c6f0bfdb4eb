import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../../../support/postgres/database.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { recordText } from "../../../support/texts.ts";
import { at, creation, metaOf, sealing } from "../support/records.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test("without the package pg the error says what to install", async () => {
  const module = new URL("../../../../src/backends/postgres/index.ts", import.meta.url);
  // A process in which no package of that name can be found.
  const script = `
    import { registerHooks } from "node:module";
    registerHooks({ resolve(name, context, next) {
      if (name === "pg") throw Object.assign(new Error("Cannot find package 'pg'"), { code: "ERR_MODULE_NOT_FOUND" });
      return next(name, context);
    } });
    const { postgres } = await import(${JSON.stringify(module.href)});
    await postgres("postgres://127.0.0.1/none").catch(({ code, message, cause }) => {
      console.log(JSON.stringify({ code, message, cause: cause.code }));
    });`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  expect(JSON.parse(stdout)).toEqual({
    code: "UNSUPPORTED",
    message: expect.stringContaining("npm install pg"),
    cause: "ERR_MODULE_NOT_FOUND",
  });
});

test("parsers that the application registered do not change what is read", async () => {
  const pool = new pg.Pool({
    connectionString: database.url,
    types: { getTypeParser: () => () => "changed" } as unknown as pg.CustomTypesConfig,
  });
  const backend = await postgres({ pool, schema: "parsers" });
  expect(
    await backend.commit([creation(1), { puts: [{ key: at("id", 2, 3, 4), value: Uint8Array.of(1, 2) }] }]),
  ).toEqual([true, true]);
  expect(await backend.read([{ get: metaOf(1) }, { scan: { table: "id", lineage: 2, group: 2 } }])).toEqual([
    recordText("meta"),
    [{ item: 3, part: 4, value: Buffer.of(1, 2) }],
  ]);
  await backend.close();
  await pool.end();
});

test("bytes are read in either form in which a server writes them", async () => {
  const values = [Uint8Array.from({ length: 256 }, (_, byte) => byte), Buffer.from("\\x41 \\101 \\\\"), Buffer.of()];
  for (const form of ["escape", "hex"]) {
    const pool = new pg.Pool({ connectionString: database.url, options: `-c bytea_output=${form}` });
    const backend = await postgres({ pool, schema: `bytes_${form}` });
    const keys = values.map((_, item) => at("net", 1, item));
    await backend.commit([{ puts: values.map((value, index) => ({ key: keys[index]!, value })) }]);
    expect(await backend.read(keys.map((key) => ({ get: key })))).toEqual(values.map((value) => Buffer.from(value)));
    await backend.close();
    await pool.end();
  }
});

test.each([true, false])(
  "a pool whose values come in binary form is refused when it is opened (prepare: %s)",
  async (prepare) => {
    const pool = new pg.Pool({ connectionString: database.url, binary: true } as pg.PoolConfig);
    const schema = `binary_${prepare}`;
    const refusal = { code: "UNSUPPORTED", message: expect.stringContaining("give a pool without `binary`") };
    await expect(postgres({ pool, schema, prepare })).rejects.toMatchObject(refusal);
    const backend = await postgres({ url: database.url, schema });
    await backend.commit([creation(1)]);
    await expect(postgres({ pool, schema, prepare })).rejects.toMatchObject(refusal);
    await backend.close();
    await pool.end();
  },
);

test("a value that comes in binary form later fails, and does not count as an answer", async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const backend = await postgres({ pool, schema: "binary_later" });
  await backend.commit([creation(1)]);
  await turnBinary(pool);
  await expect(backend.read([{ get: metaOf(1) }])).rejects.toMatchObject({ code: "UNSUPPORTED" });
  await turnBinary(pool);
  // Whether the server applied it is in the answer that was not read.
  await expect(backend.commit([sealing(1, 1, recordText("another"), recordText("sealed"))])).rejects.toMatchObject({
    code: "UNSUPPORTED",
    committed: "unknown",
  });
  expect(await backend.read([{ get: metaOf(1) }])).toEqual([recordText("meta")]);
  await backend.close();
  await pool.end();
});

/** The pool's one connection asks for values in binary form from here on. */
async function turnBinary(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  Object.assign(client, { binary: true });
  client.release();
}

test("a store that was opened read-only reads and refuses every change", async () => {
  const writer = await postgres({ url: database.url, schema: "reading" });
  await writer.commit([creation(1)]);
  const reader = await postgres({ url: database.url, schema: "reading", readOnly: true });
  expect(await reader.read([{ get: metaOf(1) }])).toEqual([recordText("meta")]);
  await expect(reader.commit([creation(2)])).rejects.toMatchObject({ code: "READ_ONLY", committed: false });
  await expect(reader.compact()).rejects.toMatchObject({ code: "READ_ONLY" });
  expect((await reader.size()).tables.meta.records).toBe(1);
  await Promise.all([writer.close(), reader.close()]);
});

test("a database that cannot hold any text is refused", async () => {
  const [found] = await database.query("select current_database() as name");
  const name = `${found?.name}_latin`;
  await database.query(`create database ${name} encoding 'LATIN1' locale 'C' template template0`);
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  const backend = await postgres(url.href);
  await expect(backend.commit([creation(1)])).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: expect.stringContaining("UTF8"),
  });
  await backend.close();
  await database.query(`drop database ${name} with (force)`);
});

test("a database that does not exist is named at once", async () => {
  const wrong = new URL(database.url);
  wrong.pathname = "/nowhere";
  await expect(postgres(wrong.href)).rejects.toMatchObject({
    code: "BACKEND",
    message: expect.stringMatching(/"nowhere" does not exist/),
  });
});

// A server of the user's own may trust whoever connects.
const trusting = process.env.THREADMARK_TEST_POSTGRES !== undefined;
test.skipIf(trusting)("a wrong password is refused at once and not repeated in the message", async () => {
  const wrong = new URL(database.url);
  wrong.password = "not-the-password";
  const error = await postgres(wrong.href).then(
    () => undefined,
    (reason: Error) => reason,
  );
  expect(error).toMatchObject({ code: "BACKEND", message: expect.stringContaining("the password was refused") });
  expect(error?.message).not.toContain("not-the-password");
});

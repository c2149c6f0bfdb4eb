import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backend, Batch } from "../../../src/backend.ts";
import { postgres } from "../../../src/backends/postgres/index.ts";
import { refuseTooLarge } from "../../../src/backends/postgres/writing/message-size.ts";
import type { TestDatabase } from "../../support/postgres/database.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { recordText } from "../../support/texts.ts";
import { CountingPool } from "./support/counting.ts";
import { at, creation, metaOf, step, tailOf } from "./support/records.ts";

let database: TestDatabase;
let pool: CountingPool;
let backend: Backend;

beforeAll(async () => {
  database = await createDatabase();
  pool = new CountingPool({ connectionString: database.url });
  backend = await postgres({ pool });
  await backend.commit([creation(1), creation(2), creation(3), creation(4)]);
});
afterAll(async () => {
  await backend.close();
  await pool.end();
  await database.drop();
});

const refusal = { code: "TOO_LARGE", committed: false, message: expect.stringContaining("in one message") };

test("batches that are large together go in several statements, and each is told for itself", async () => {
  const value = recordText("x".repeat(20 << 20));
  const steps = [4, 3, 2, 1].map((tape) => step(tape, 1, value));
  const statements = await pool.during(async () => {
    expect(await backend.commit(steps)).toEqual([true, true, true, true]);
  });
  // A connection that is new is asked for its settings first.
  expect(statements.filter((statement) => statement.includes("insert into"))).toHaveLength(2);
  const next = [4, 3, 2, 1].map((tape) => step(tape, 2, value, recordText(tape === 3 ? "another" : "meta")));
  expect(await backend.commit(next)).toEqual([true, false, true, true]);
  for (const tape of [1, 2, 3, 4]) expect(await tailOf(backend, tape)).toHaveLength(tape === 3 ? 1 : 2);
});

// Memory that is never written to costs nothing.
const huge = new Uint8Array(2 ** 30);
const put: Batch = { puts: [{ key: at("mark", 1, 1), value: huge }] };
test.each<[string, readonly Batch[]]>([
  ["a step", [step(1, 9, huge)]],
  ["another change", [put]],
  ["a step among others", [step(2, 9, recordText(9)), step(1, 9, huge)]],
  ["a change among steps", [step(2, 9, recordText(9)), put]],
])("%s that no message can hold fails before anything is sent", async (_, batches) => {
  const statements = await pool.during(() => expect(backend.commit(batches)).rejects.toMatchObject(refusal));
  expect(statements).toEqual([]);
});

test("commits after a refused message are committed", async () => {
  expect(await backend.commit([step(1, 10, recordText(10))])).toEqual([true]);
  expect(await backend.read([{ get: metaOf(1) }])).toEqual([recordText("meta")]);
});

test("a message is as large as its values together, characters counted in bytes", () => {
  expect(() => refuseTooLarge([1, "é".repeat(20), null, Buffer.alloc(60)], 100)).not.toThrow();
  expect(() => refuseTooLarge([1, "é".repeat(21), null, Buffer.alloc(60)], 100)).toThrow("102 bytes");
});

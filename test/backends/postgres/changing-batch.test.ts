import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backend, Batch, IndexEntry, LogPage, Value } from "../../../src/backend.ts";
import { postgres } from "../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../../support/postgres/database.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { recordText } from "../../support/texts.ts";
import { CountingPool } from "./support/counting.ts";
import { at, creation, metaOf, tailOf } from "./support/records.ts";

let database: TestDatabase;
let pool: CountingPool;
let backend: Backend;

beforeAll(async () => {
  database = await createDatabase();
  pool = new CountingPool({ connectionString: database.url, max: 8 });
  backend = await postgres({ pool });
});
afterAll(async () => {
  await backend.close();
  await pool.end();
  await database.drop();
});

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(recordText(value));

/** Returns a put on tape `tape` that moves it from one entry to another, and tells watchers of it. */
function change(tape: number, seq: number, before: Value, after: Value, line?: string): Batch {
  const entry = (text: unknown): IndexEntry => ({ text: `s${JSON.stringify(text)}`, lineage: tape, tape });
  const value = typeof before === "string" ? recordText(seq) : bytes(seq);
  return {
    checks: [{ key: metaOf(tape), value: before }],
    inserts: [{ key: at("tail", tape, seq), value }],
    puts: [{ key: metaOf(tape), value: after }],
    entries: { remove: [entry(before)], add: [entry(after), entry([after, 2])] },
    ...(line !== undefined && { log: { lineage: tape, lines: [{ at: seq, text: line }] } }),
  };
}

/** Returns what there is of a tape: its meta record, the seqs of its rows, its entries. */
async function contents(tape: number): Promise<readonly unknown[]> {
  const [meta, entries] = await backend.read([{ get: metaOf(tape) }, { find: { from: "s", to: "t", limit: 1000 } }]);
  const own = (entries as readonly IndexEntry[])
    .filter((entry) => entry.tape === tape)
    .map(({ text }) => text.slice(1));
  const value = typeof meta === "string" ? meta : Uint8Array.from(meta as Uint8Array);
  return [value, (await tailOf(backend, tape)).map(({ item }) => item), own];
}

/** Lines have no place in the log while an older transaction of any test on this server is open. */
const PATIENT = { timeout: 30_000 };

async function lines(): Promise<readonly string[]> {
  const [page] = (await backend.read([{ log: { after: "", limit: 1000 } }])) as readonly [LogPage];
  return page.lines.map(({ text }) => text);
}

test.each([
  ["text", 1, recordText],
  ["bytes", 2, bytes],
] as const)("a put that changes its thread's entries is one plain statement (%s)", async (_, tape, make) => {
  await backend.commit([creation(tape, make("a"))]);
  const texts = await pool.during(() => backend.commit([change(tape, 1, make("a"), make("b"))]));
  expect(texts).toEqual([expect.stringMatching(/^with m as \(/)]);
  const entries = [[make("b"), 2], make("b")].map((text) => JSON.stringify(text)).sort();
  expect(await contents(tape)).toEqual([make("b"), [1], entries]);
});

test("it is refused as a whole where the record has changed, or the place is taken", async () => {
  const [a, b, c] = ["a", "b", "c"].map(recordText) as [string, string, string];
  await backend.commit([creation(3, a)]);
  expect(await backend.commit([change(3, 1, a, b, "first")])).toEqual([true]);
  const before = await contents(3);
  expect(await backend.commit([change(3, 2, a, c, "stale")])).toEqual([false]);
  expect(await backend.commit([change(3, 1, b, c, "taken")])).toEqual([false]);
  expect(await contents(3)).toEqual(before);
  await expect.poll(lines, PATIENT).toEqual(["first"]);
});

test("of several at once on one record, one is applied", async () => {
  const a = recordText("a");
  await backend.commit([creation(4, a)]);
  const others = await Promise.all(Array.from({ length: 4 }, () => postgres(database.url)));
  const racing = others.map((other, index) => other.commit([change(4, 1, a, recordText(`b${index}`))]));
  const applied = (await Promise.all(racing)).flat();
  expect(applied.filter(Boolean)).toHaveLength(1);
  const winner = recordText(`b${applied.indexOf(true)}`);
  const entries = [[winner, 2], winner].map((text) => JSON.stringify(text)).sort();
  expect(await contents(4)).toEqual([winner, [1], entries]);
  await Promise.all(others.map((other) => other.close()));
});

test("lines of such puts are in the log, in the order of their commits", async () => {
  await backend.commit([creation(5, recordText(0))]);
  for (let seq = 1; seq <= 5; seq += 1) {
    await backend.commit([change(5, seq, recordText(seq - 1), recordText(seq), `line ${seq}`)]);
  }
  const expected = [1, 2, 3, 4, 5].map((seq) => `line ${seq}`);
  await expect.poll(async () => (await lines()).filter((line) => line.startsWith("line")), PATIENT).toEqual(expected);
});

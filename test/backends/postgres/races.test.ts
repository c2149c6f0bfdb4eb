import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Backend, Batch, Key } from "../../../src/backend.ts";
import { postgres } from "../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../../support/postgres/database.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { recordText } from "../../support/texts.ts";
import { at, creation, metaOf, sealing, step, tailOf } from "./support/records.ts";

let database: TestDatabase;
let one: Backend;
let two: Backend;
let tape = 0;

beforeAll(async () => {
  database = await createDatabase();
  [one, two] = await Promise.all([postgres(database.url), postgres(database.url)]);
});
afterAll(async () => {
  await Promise.all([one.close(), two.close()]);
  await database.drop();
});
beforeEach(async () => {
  tape++;
  expect(await one.commit([creation(tape)])).toEqual([true]);
});

/** Commits that were refused by one statement are run again by others: let each path be the one that meets the race. */
function spread(batch: (writer: number) => Batch): Promise<readonly boolean[]>[] {
  return Array.from({ length: 16 }, (_, writer) => {
    const backend = writer % 2 === 0 ? one : two;
    const company = writer % 4 < 2 ? [] : [creation(1_000_000 + tape * 100 + writer)];
    return backend.commit([...company, batch(writer)]).then((applied) => applied.slice(-1));
  });
}

async function winners(batch: (writer: number) => Batch): Promise<readonly number[]> {
  const outcomes = await Promise.all(spread(batch));
  return outcomes.flatMap(([applied], writer) => (applied ? [writer] : []));
}

test("of many writers that take the next place of a tape, exactly one does", async () => {
  for (let seq = 1; seq <= 20; seq++) {
    const won = await winners((writer) => step(tape, seq, recordText({ seq, writer })));
    expect(won).toHaveLength(1);
    expect((await tailOf(one, tape)).at(-1)).toEqual({
      item: seq,
      part: 0,
      value: recordText({ seq, writer: won[0] }),
    });
  }
});

test("of many writers that change a checked record, exactly one does", async () => {
  for (let round = 0; round < 20; round++) {
    const before = recordText(round === 0 ? "meta" : { round: round - 1 });
    const won = await winners(() => ({
      checks: [{ key: metaOf(tape), value: before }],
      puts: [{ key: metaOf(tape), value: recordText({ round }) }],
    }));
    expect(won).toHaveLength(1);
  }
});

test("of writers that insert several records each, one has all of them and the others none", async () => {
  for (let round = 0; round < 10; round++) {
    const keys: Key[] = [at("rows", tape, round), at("net", tape, round), at("write", tape, round, 7)];
    const won = await winners((writer) => {
      // In different orders, so that they meet in the middle.
      const inserts = (writer % 2 === 0 ? keys : keys.toReversed()).map((key) => ({ key, value: recordText(writer) }));
      return { inserts };
    });
    expect(won).toHaveLength(1);
    const found = await one.read(keys.map((get) => ({ get })));
    expect(found).toEqual(keys.map(() => recordText(won[0])));
  }
});

test("of two batches that each insert the key that the other needs absent, only one is applied", async () => {
  for (let round = 0; round < 30; round++) {
    const [a, b] = [at("mark", tape, 2 * round), at("mark", tape, 2 * round + 1)];
    const skew = (mine: Key, theirs: Key): Batch => ({
      checks: [{ key: theirs, value: undefined }],
      inserts: [{ key: mine, value: recordText(round) }],
    });
    const outcomes = await Promise.all([one.commit([skew(a, b)]), two.commit([skew(b, a)])]);
    expect(outcomes.flat().filter(Boolean).length).toBeLessThanOrEqual(1);
    const [foundA, foundB] = await one.read([{ get: a }, { get: b }]);
    expect([foundA !== undefined, foundB !== undefined]).toEqual(outcomes.flat());
  }
});

test("a check for absence leaves nothing behind, applied or refused", async () => {
  const absent = at("id", tape, 5, 6);
  const taken = at("id", tape, 7, 8);
  await one.commit([{ puts: [{ key: taken, value: recordText("here") }] }]);
  const checks = (keys: readonly Key[]): Batch => ({ checks: keys.map((key) => ({ key, value: undefined })) });
  expect(await one.commit([checks([absent])])).toEqual([true]);
  expect(await one.commit([checks([absent, taken])])).toEqual([false]);
  expect(await one.read([{ get: absent }, { get: taken }])).toEqual([undefined, recordText("here")]);
});

test("a range that is deleted takes along what came in while the delete waited", async () => {
  // A transaction of the test's own stands for a step that is not yet committed.
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await one.commit([step(tape, 1, recordText(1))]);
    await client.query("begin");
    await client.query(`select from threadmark.meta where lineage = ${tape} for no key update`);
    await client.query(`insert into threadmark.tail values (${tape}, ${tape}, 2, '${recordText(2)}')`);
    const sealed = two.commit([sealing(tape, 9, recordText("meta"), recordText("sealed"))]);
    await database.waitForLocks(1);
    await client.query("commit");
    expect(await sealed).toEqual([true]);
    expect(await tailOf(one, tape)).toEqual([]);
  } finally {
    await client.end();
  }
});

test("a step that waited for a change of its checked record is refused", async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query("begin");
    await client.query(`update threadmark.meta set text = '${recordText("changed")}' where lineage = ${tape}`);
    const single = two.commit([step(tape, 1, recordText(1))]);
    await database.waitForLocks(1);
    await client.query("commit");
    expect(await single).toEqual([false]);
    expect(await tailOf(one, tape)).toEqual([]);
  } finally {
    await client.end();
  }
});

test("steps of one tape and its sealing never lose a step", async () => {
  let meta = recordText("meta");
  let applied = 0;
  let sealed = 0;
  const put = async (backend: Backend): Promise<void> => {
    for (let tries = 0; tries < 60; tries++) {
      const seen = meta;
      const seq = ((await tailOf(backend, tape)).at(-1)?.item ?? sealed) + 1;
      const [done] = await backend.commit([step(tape, seq, recordText(seq), seen)]);
      if (done) applied++;
    }
  };
  const seal = async (): Promise<void> => {
    for (let round = 1; round <= 10; round++) {
      await sleep(5);
      const tail = await tailOf(one, tape);
      const last = tail.at(-1)?.item;
      if (last === undefined) continue;
      const after = recordText({ round });
      const [done] = await one.commit([sealing(tape, last, meta, after)]);
      expect(done).toBe(true);
      sealed = last;
      meta = after;
    }
  };
  await Promise.all([put(one), put(two), seal()]);
  // Each step took the place after the one before: so the last place counts them.
  const last = (await tailOf(one, tape)).at(-1)?.item ?? sealed;
  expect(last).toBe(applied);
});

afterEach(async () => {
  const placeholders = await database.query(
    "select * from threadmark.mark where text is not null and bytes is not null",
  );
  expect(placeholders).toEqual([]);
});

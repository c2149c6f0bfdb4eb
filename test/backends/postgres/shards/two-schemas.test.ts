import { afterAll, beforeAll, expect, test } from "vitest";
import { open } from "../../../../src/api/open.ts";
import type { Backend, Batch } from "../../../../src/backend.ts";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { Placement } from "../../../../src/backends/postgres/shards/placement.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres/database.ts";
import { Proxy } from "../../../support/postgres/proxy.ts";
import { recordText } from "../../../support/texts.ts";
import { CountingPool } from "../support/counting.ts";
import { metaOf } from "../support/records.ts";

const shards = 3;
const placement = new Placement(shards);
let database: TestDatabase;
let backend: Backend;

beforeAll(async () => {
  database = await createDatabase();
  backend = await postgres({ url: database.url, connections: 4, shards });
});
afterAll(async () => {
  await backend.close();
  await database.drop();
});

/** Returns an id whose directory entry is in the shard. */
function idIn(shard: number, name = "thread"): string {
  for (let count = 0; ; count++) {
    const id = `${name} ${count}`;
    if (placement.shardOfThread(id) === shard) return id;
  }
}

/** Makes a tape, and enters it into the directory under an id that nobody has. */
function entering(tape: number, id: string): Batch {
  const key = { table: "directory", id } as const;
  return {
    checks: [{ key, value: undefined }],
    inserts: [{ key: metaOf(tape), value: recordText(tape) }],
    puts: [{ key, value: recordText(id) }],
    log: { lineage: tape, lines: [{ at: 1, text: id }] },
  };
}

async function found(tape: number, id: string): Promise<readonly unknown[]> {
  return backend.read([{ get: metaOf(tape) }, { get: { table: "directory", id } }]);
}

test.each([
  ["the directory entry", 3, 1],
  ["the lineage", 5, 0],
])("a batch over two schemas that is refused by %s leaves nothing in either", async (_, tape, shard) => {
  const [id, other] = [idIn(shard, "refused"), idIn(shard, "other")];
  expect(tape % shards).not.toBe(shard);
  expect(await backend.commit([entering(tape, id)])).toEqual([true]);
  expect(await backend.commit([entering(tape + shards, id)])).toEqual([false]);
  expect(await backend.commit([entering(tape, other)])).toEqual([false]);
  expect(await found(tape + shards, id)).toEqual([undefined, recordText(id)]);
  expect(await found(tape, other)).toEqual([recordText(tape), undefined]);
});

test.each(["begin", "commit"])(
  "a batch over two schemas is applied once if the answer to its %s is lost",
  async (command) => {
    const proxy = await Proxy.before(database.url);
    const far = await postgres({ url: proxy.url, connections: 2 });
    const tape = command === "begin" ? 31 : 34;
    const id = idIn(2, `lost ${command}`);
    proxy.loseAnswerTo(command);
    expect(await far.commit([entering(tape, id)])).toEqual([true]);
    expect(proxy.lost).toBe(1);
    expect(await found(tape, id)).toEqual([recordText(tape), recordText(id)]);
    const lines = await database.query(`select text from threadmark_${tape % shards}.log where text = $1`, [id]);
    expect(lines).toEqual([{ text: id }]);
    await far.close();
    await proxy.close();
  },
);

test("batches that make the same directory entry from two schemas never both succeed, and never wait for ever", async () => {
  for (let round = 0; round < 10; round++) {
    const id = idIn(round % shards, `contended ${round}`);
    const outcomes = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((number) => backend.commit([entering(1000 + 6 * round + number, id)])),
    );
    expect(outcomes.flat().filter(Boolean)).toHaveLength(1);
  }
});

test("a new thread is made in one schema by one statement, wherever its lineage is to live", async () => {
  const pool = new CountingPool({ connectionString: database.url, max: 4 });
  const store = await open<{ n: number }>(await postgres({ pool, shards, schema: "made" }));
  await store.thread("warm").put({ state: { n: 0 } });
  for (let count = 0; count < 8; count++) {
    const thread = store.thread(`new ${count}`);
    await thread.latest();
    const statements = await pool.during(() => thread.put({ state: { n: 1 } }));
    const commits = statements.filter((text) => /apply|insert|begin/.test(text));
    expect(commits).toHaveLength(1);
    const schema = `"made_${placement.shardOfThread(thread.id)}"`;
    expect(commits[0]).toContain(`select ${schema}.apply(`);
  }
  await store.close();
  await pool.end();
});

test("a lineage's number leads to the shard of its thread, and different numbers stay different", () => {
  for (const count of [1, 3, 64, 256]) {
    const many = new Placement(count);
    const numbers = new Set<number>();
    for (let number = 1; number <= 200; number++) {
      const given = many.numberFor("some thread", number);
      expect(given).toBeGreaterThan(0);
      expect(given % count).toBe(many.shardOfThread("some thread"));
      numbers.add(given);
    }
    expect(numbers.size).toBe(200);
    for (const number of [2 ** 31, 2 ** 39, 2 ** 40 - 1]) expect(many.numberFor("x", number)).toBeLessThan(2 ** 40);
  }
});

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backend } from "../../../../src/backend.ts";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres/database.ts";
import { Proxy } from "../../../support/postgres/proxy.ts";
import { recordText } from "../../../support/texts.ts";
import { CountingPool } from "../support/counting.ts";
import { creation, step, tailOf } from "../support/records.ts";

const shards = 8;
/** Two tapes in each shard but the last, which has one. */
const tapes = Array.from({ length: 2 * shards - 1 }, (_, number) => number + shards);
let database: TestDatabase;
let backend: Backend;

beforeAll(async () => {
  database = await createDatabase();
  backend = await postgres({ url: database.url, connections: 4, shards });
  await backend.commit(tapes.map((tape) => creation(tape)));
});
afterAll(async () => {
  await backend.close();
  await database.drop();
});

const valueOf = (tape: number, seq: number, by = ""): string => recordText(`${tape} ${seq} ${by}`);

async function lastOf(tape: number): Promise<readonly unknown[]> {
  return (await tailOf(backend, tape)).map(({ item, value }) => [item, value]);
}

test("steps of eight shards are committed by two transactions", async () => {
  const pool = new CountingPool({ connectionString: database.url, max: 4 });
  const own = await postgres({ pool, shards });
  const statements = await pool.during(async () => {
    expect(await own.commit(tapes.map((tape) => step(tape, 1, valueOf(tape, 1))))).toEqual(tapes.map(() => true));
  });
  expect(statements.filter((text) => text === "commit")).toHaveLength(2);
  expect(statements.filter((text) => text.includes("insert into"))).toHaveLength(shards);
  for (const tape of tapes) expect(await lastOf(tape)).toEqual([[1, valueOf(tape, 1)]]);
  await own.close();
  await pool.end();
});

test("a refused step keeps no other from being applied, whether it is alone in its shard or not", async () => {
  const alone = tapes.find((tape) => tapes.every((other) => other === tape || other % shards !== tape % shards));
  expect(alone).toBeDefined();
  for (const [number, refused] of [alone as number, tapes[0] as number, tapes[9] as number].entries()) {
    const seq = 10 + 2 * number;
    const taken = tapes.map((tape) => step(tape, tape === refused ? 1 : seq, valueOf(tape, seq)));
    expect(await backend.commit(taken)).toEqual(tapes.map((tape) => tape !== refused));
    const meta = recordText("another");
    const checked = tapes.map((tape) => step(tape, seq + 1, valueOf(tape, seq), ...(tape === refused ? [meta] : [])));
    expect(await backend.commit(checked)).toEqual(tapes.map((tape) => tape !== refused));
  }
});

test.each([
  ["begin", 30],
  ["commit", 40],
])("steps of several shards are applied once if the answer to %s is lost", async (command, seq) => {
  const proxy = await Proxy.before(database.url);
  const far = await postgres({ url: proxy.url, connections: 4 });
  proxy.loseAnswerTo(command);
  const steps = tapes.map((tape) => step(tape, seq, valueOf(tape, seq)));
  expect(await far.commit(steps)).toEqual(tapes.map(() => true));
  expect(proxy.lost).toBe(1);
  for (const tape of tapes) expect((await lastOf(tape)).at(-1)).toEqual([seq, valueOf(tape, seq)]);
  // Others have the places by now.
  expect(await far.commit(tapes.map((tape) => step(tape, seq, valueOf(tape, seq, "other"))))).toEqual(
    tapes.map(() => false),
  );
  await far.close();
  await proxy.close();
});

test("of two commits of the same steps, in opposite orders and in several forms, one wins each, and none waits for ever", async () => {
  const other = await postgres({ url: database.url, connections: 4 });
  for (let seq = 100; seq < 120; seq += 1) {
    const by = (name: string, isOwn: (tape: number) => boolean) =>
      tapes.map((tape) => {
        const whole = step(tape, seq, valueOf(tape, seq, name));
        return isOwn(tape) ? whole : { ...whole, checks: [] };
      });
    const [ours, theirs] = await Promise.all([
      backend.commit(by("ours", (tape) => tape % 3 === 0)),
      other.commit(by("theirs", (tape) => tape % 3 !== 0).reverse()),
    ]);
    for (const [index, tape] of tapes.entries()) {
      const isTheirs = theirs[tapes.length - 1 - index];
      expect(ours[index]).not.toBe(isTheirs);
      expect((await lastOf(tape)).at(-1)).toEqual([seq, valueOf(tape, seq, isTheirs ? "theirs" : "ours")]);
    }
  }
  await other.close();
});

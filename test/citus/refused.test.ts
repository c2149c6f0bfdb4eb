import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { postgres } from "../../src/backends/postgres/index.ts";
import { query } from "./support/coordinator.ts";
import { makeDistributed, makeTables } from "./support/places.ts";

/*
 * Citus answers some statements wrongly and says nothing: an insert that it makes on the coordinator counts rows that were there already.
 * Stores that are placed so that this would happen are refused.
 */

test("a store without shards whose schema was distributed is refused", async () => {
  const { url, options } = await makeTables();
  const schema = `${options.databaseSchema}_whole`;
  onTestFinished(async () => {
    await query(`drop schema if exists ${schema} cascade`);
  });
  const whole = await postgres({ url, schema });
  await whole.commit([
    { inserts: [{ key: { table: "meta", lineage: 1, group: 1, item: 1, part: 0 }, value: "made" }] },
  ]);
  await whole.close();
  await query("select citus_schema_distribute($1::text::regnamespace)", [schema]);
  await expect(postgres({ url, schema })).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: expect.stringContaining("use a store with `shards`"),
  });
});

test("shards whose tables were distributed by rows are refused", async () => {
  const { url, options } = await makeTables();
  await query(`select create_distributed_table('${options.databaseSchema}_1.tail', 'lineage')`);
  await expect(postgres({ url, schema: options.databaseSchema })).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: expect.stringContaining("citus_schema_distribute"),
  });
});

test("workers that acknowledge commits before they sync them are refused", async () => {
  const { url, options } = await makeDistributed();
  const [worker] = await query(
    "select nodename, nodeport from citus_get_active_worker_nodes() as node(nodename, nodeport)",
  );
  const set = async (text: string): Promise<void> => {
    const address = new URL(url);
    address.host = `${worker?.nodename}:${worker?.nodeport}`;
    const client = new pg.Client({ connectionString: address.href });
    await client.connect();
    await client.query(text);
    await client.query("select pg_reload_conf()");
    await client.end();
  };
  onTestFinished(() => set("alter system reset synchronous_commit"));
  await set("alter system set synchronous_commit to off");
  await expect(postgres({ url, schema: options.databaseSchema })).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: expect.stringContaining("synchronous_commit"),
  });
});

test("a distributed store opens without saying how many shards it has", async () => {
  const { url, options } = await makeDistributed();
  const backend = await postgres({ url, schema: options.databaseSchema });
  expect(backend.capabilities.tapes).toBe(2 ** 40);
  expect((await backend.size()).total).toBeGreaterThan(0);
  await backend.close();
});
